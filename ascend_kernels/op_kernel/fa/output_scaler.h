// The end of a softmax: outputs divided by the sums of their weights, and log-sum-exps.
#ifndef ASCENDFA_FA_OUTPUT_SCALER_H
#define ASCENDFA_FA_OUTPUT_SCALER_H

#include "ub_arena.h"
#include "vector_ops.h"

namespace ascendfa {

// Keeps a row without keys from dividing zero by zero.
constexpr float kTinySum = 1.0e-30f;

class OutputScaler {
 public:
  __aicore__ inline void Init(UbArena& arena) {
    ones_ = arena.Take<float>(kVectorRows);
    inverse_ = arena.Take<float>(kVectorRows);
    spread_ = arena.Take<float>(kVectorRows * kBlockFloats);
    AscendC::Duplicate(ones_, 1.0f, kRepeatFloats, 1, 1, 8);
    AscendC::Duplicate(inverse_, 0.0f, kRepeatFloats, 1, 1, 8);
  }

  // One block per row; between Close and Finish the inverse sums.
  __aicore__ inline const FloatTensor& Spread() const { return spread_; }

  // The log-sum-exp of every row, and for Finish what its output is multiplied by. `maximum` is the
  // negative of it; `divisor` is the sum, or what rounding has made of it. Ends with a barrier.
  __aicore__ inline void Close(const FloatTensor& maximum, const FloatTensor& sum,
                               const FloatTensor& divisor, const FloatTensor& lse, uint32_t rows) {
    AscendC::Maxs(inverse_, divisor, kTinySum, rows, 1, LanesUnary());
    AscendC::Ln(lse, sum, rows, 1, LanesUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(inverse_, ones_, inverse_, rows, 1, LanesBinary());
    AscendC::Sub(lse, lse, maximum, rows, 1, LanesBinary());
    AscendC::PipeBarrier<PIPE_V>();
    SpreadRows(spread_, inverse_, rows);
    AscendC::PipeBarrier<PIPE_V>();
  }

  // Rows that begin at row `offset`, divided in place and narrowed to the element type.
  template <typename Element>
  __aicore__ inline void Finish(const AscendC::LocalTensor<Element>& dst, const FloatTensor& output,
                                const Rows& rows, uint32_t offset) const {
    const uint8_t repeats = static_cast<uint8_t>(rows.count);
    for (uint32_t block = 0; block < rows.Blocks(); ++block) {
      const FloatTensor strip = output[block * kRepeatFloats];
      AscendC::Mul(strip, strip, spread_[offset * kBlockFloats], rows.Lanes(block), repeats,
                   RowBroadcast(rows));
    }
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t block = 0; block < rows.Blocks(); ++block) {
      Narrow(dst[block * kRepeatFloats], output[block * kRepeatFloats], rows.Lanes(block), repeats,
             rows.Stride());
    }
  }

 private:
  FloatTensor ones_;
  FloatTensor inverse_;
  FloatTensor spread_;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_OUTPUT_SCALER_H
