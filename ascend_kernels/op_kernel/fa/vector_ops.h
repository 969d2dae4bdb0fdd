// Vector instructions in the few shapes attention needs: dense runs, and rows against one value
// per row. fp32 unless said otherwise.
#ifndef ASCENDFA_FA_VECTOR_OPS_H
#define ASCENDFA_FA_VECTOR_OPS_H

#include "../arch/capacities.h"
#include "kernel_operator.h"
#include "seqlen.h"

namespace ascendfa {

using FloatTensor = AscendC::LocalTensor<float>;

// A dense matrix in UB: rows of `width` floats, width a multiple of 16.
struct Rows {
  uint32_t count;
  uint32_t width;

  __aicore__ inline uint32_t Blocks() const { return CeilDiv(width, kRepeatFloats); }
  __aicore__ inline uint32_t Lanes(uint32_t block) const {
    return Smaller(kRepeatFloats, width - block * kRepeatFloats);
  }
  __aicore__ inline uint8_t Stride() const { return static_cast<uint8_t>(width / kBlockFloats); }
};

// Repeats of a matrix whose width is a multiple of 64, seen as one run.
__aicore__ inline uint8_t DenseRepeats(const Rows& rows) {
  return static_cast<uint8_t>(rows.count * (rows.width / kRepeatFloats));
}

__aicore__ inline AscendC::UnaryRepeatParams DenseUnary() {
  return AscendC::UnaryRepeatParams(1, 1, kRepeatFloats / kBlockFloats,
                                    kRepeatFloats / kBlockFloats);
}

// One value per row, as vector instructions on up to 64 lanes.
__aicore__ inline AscendC::BinaryRepeatParams LanesBinary() {
  return AscendC::BinaryRepeatParams(1, 1, 1, 8, 8, 8);
}
__aicore__ inline AscendC::UnaryRepeatParams LanesUnary() {
  return AscendC::UnaryRepeatParams(1, 1, 8, 8);
}

// One value per row spread to one 32-byte block per row, the form RowBroadcast reads. Reads and
// writes whole groups of eight rows.
__aicore__ inline void SpreadRows(const FloatTensor& dst, const FloatTensor& src, uint32_t rows) {
  AscendC::BrcbRepeatParams params;
  params.dstBlkStride = 1;
  params.dstRepStride = kBlockFloats;
  AscendC::Brcb(dst, src, static_cast<uint8_t>(CeilDiv(rows, kBlockFloats)), params);
}

// Both operands and result rows of one matrix; the second operand a spread row value.
__aicore__ inline AscendC::BinaryRepeatParams RowBroadcast(const Rows& rows) {
  return AscendC::BinaryRepeatParams(1, 1, 0, rows.Stride(), rows.Stride(), 1);
}
__aicore__ inline AscendC::BinaryRepeatParams RowByRow(const Rows& rows) {
  return AscendC::BinaryRepeatParams(1, 1, 1, rows.Stride(), rows.Stride(), rows.Stride());
}

}  // namespace ascendfa

#endif  // ASCENDFA_FA_VECTOR_OPS_H
