// The unnormalised output of one task, kept in UB while its partial products arrive:
// O = alpha O + partial per step, O / l at the end.
#ifndef ASCENDFA_FA_OUTPUT_ACCUMULATOR_H
#define ASCENDFA_FA_OUTPUT_ACCUMULATOR_H

#include "online_softmax.h"

namespace ascendfa {

class OutputAccumulator {
 public:
  __aicore__ inline void Init(UbArena& arena, uint32_t rows, uint32_t width) {
    width_ = width;
    output_ = arena.Take<float>(rows * width);
    ones_ = arena.Take<float>(kVectorRows);
    inverse_ = arena.Take<float>(kVectorRows);
    spread_ = arena.Take<float>(kVectorRows * kBlockFloats);
    AscendC::Duplicate(ones_, 1.0f, kRepeatFloats, 1, 1, 8);
    AscendC::Duplicate(inverse_, 0.0f, kRepeatFloats, 1, 1, 8);
  }

  // The step's alpha, for Accumulate. `alpha` is not needed for the first step of a task.
  __aicore__ inline void Begin(const FloatTensor& alpha, uint32_t rows, bool first_of_task) {
    first_ = first_of_task;
    if (!first_) {
      SpreadRows(spread_, alpha, rows);
      AscendC::PipeBarrier<PIPE_V>();
    }
  }

  // Adds the partial product of `count` rows from row `offset` on.
  __aicore__ inline void Accumulate(const FloatTensor& partial, uint32_t offset, uint32_t count) {
    const Rows rows{count, width_};
    const FloatTensor output = output_[offset * width_];
    const uint8_t repeats = static_cast<uint8_t>(count);
    for (uint32_t block = 0; block < rows.Blocks(); ++block) {
      const FloatTensor strip = output[block * kRepeatFloats];
      const FloatTensor added = partial[block * kRepeatFloats];
      if (first_) {
        AscendC::Adds(strip, added, 0.0f, rows.Lanes(block), repeats,
                      AscendC::UnaryRepeatParams(1, 1, rows.Stride(), rows.Stride()));
      } else {
        AscendC::Mul(strip, strip, spread_[offset * kBlockFloats], rows.Lanes(block), repeats,
                     RowBroadcast(rows));
      }
    }
    if (first_) {
      return;
    }
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t block = 0; block < rows.Blocks(); ++block) {
      const FloatTensor strip = output[block * kRepeatFloats];
      AscendC::Add(strip, strip, partial[block * kRepeatFloats], rows.Lanes(block), repeats,
                   RowByRow(rows));
    }
  }

  // After the task's last Accumulate: 1 / l, for Finish, and the log-sum-exp of every row.
  __aicore__ inline void Close(const FloatTensor& maximum, const FloatTensor& sum,
                               const FloatTensor& lse, uint32_t rows) {
    AscendC::Maxs(inverse_, sum, kTinySum, rows, 1, LanesUnary());
    AscendC::Ln(lse, sum, rows, 1, LanesUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(inverse_, ones_, inverse_, rows, 1, LanesBinary());
    AscendC::Add(lse, lse, maximum, rows, 1, LanesBinary());
    AscendC::PipeBarrier<PIPE_V>();
    SpreadRows(spread_, inverse_, rows);
    AscendC::PipeBarrier<PIPE_V>();
  }

  // `count` finished rows from row `offset` on, in the element type.
  template <typename Element>
  __aicore__ inline void Finish(const AscendC::LocalTensor<Element>& dst, uint32_t offset,
                                uint32_t count) {
    const Rows rows{count, width_};
    const FloatTensor output = output_[offset * width_];
    const uint8_t repeats = static_cast<uint8_t>(count);
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
  FloatTensor output_;
  FloatTensor ones_;
  FloatTensor inverse_;
  FloatTensor spread_;
  uint32_t width_ = 0;
  bool first_ = true;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_OUTPUT_ACCUMULATOR_H
