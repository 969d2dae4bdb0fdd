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
template <typename T>  // fp32; not every chip has the instruction
__aicore__ inline void SpreadRows(const AscendC::LocalTensor<T>& dst,
                                  const AscendC::LocalTensor<T>& src, uint32_t rows) {
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

// fp32 rows to the type of the results, rounded to nearest even. `stride` blocks lie between the
// rows of src, as many elements between those of dst.
template <typename Element>
__aicore__ inline void Narrow(const AscendC::LocalTensor<Element>& dst, const FloatTensor& src,
                              uint32_t lanes, uint8_t rows, uint8_t stride) {
  constexpr uint32_t kRatio = sizeof(float) / sizeof(Element);
  const AscendC::UnaryRepeatParams params(1, 1, static_cast<uint8_t>(stride / kRatio), stride);
  if constexpr (kRatio == 1) {
    AscendC::Muls(dst, src, 1.0f, lanes, rows, params);
  } else {
    AscendC::Cast(dst, src, AscendC::RoundMode::CAST_RINT, lanes, rows, params);
  }
}

// A strip is 64 columns of a slice of rows, dense.
constexpr uint8_t kStripStride = kRepeatFloats / kBlockFloats;

// Adds the first `lanes` columns of a strip to the matrix columns that start at `dst`. With
// `repeated`, the strip is one row for all.
__aicore__ inline void AddStrip(const FloatTensor& dst, const Rows& rows, const FloatTensor& strip,
                                uint32_t lanes, bool repeated = false) {
  const uint8_t step = repeated ? 0 : kStripStride;
  AscendC::Add(dst, dst, strip, lanes, static_cast<uint8_t>(rows.count),
               AscendC::BinaryRepeatParams(1, 1, 1, rows.Stride(), rows.Stride(), step));
}

}  // namespace ascendfa

#endif  // ASCENDFA_FA_VECTOR_OPS_H
