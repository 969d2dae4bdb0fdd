// The unnormalised output of the bands of one task, kept in UB while its partial products arrive:
// O = alpha O + partial per step, in one pass, O / l at the end.
#ifndef ASCENDFA_FA_OUTPUT_ACCUMULATOR_H
#define ASCENDFA_FA_OUTPUT_ACCUMULATOR_H

#include "online_softmax.h"

namespace ascendfa {

class OutputAccumulator {
 public:
  // `rows` of a band on this core.
  __aicore__ inline void Init(UbArena& arena, uint32_t bands, uint32_t rows, uint32_t width) {
    width_ = width;
    band_elements_ = rows * width;
    output_ = arena.Take<float>(bands * band_elements_);
    ones_ = arena.Take<float>(kVectorRows);
    inverse_ = arena.Take<float>(kVectorRows);
    spread_ = arena.Take<float>(kVectorRows * kBlockFloats);
    AscendC::Duplicate(ones_, 1.0f, kRepeatFloats, 1, 1, 8);
    AscendC::Duplicate(inverse_, 0.0f, kRepeatFloats, 1, 1, 8);
  }

  // The step's alpha, for Accumulate, unless it is its band's first. A vector barrier has to lie
  // between.
  __aicore__ inline void Prepare(const FloatTensor& alpha, uint32_t rows) {
    SpreadRows(spread_, alpha, rows);
  }

  __aicore__ inline void Begin(uint32_t band, bool first_of_band) {
    current_ = output_[band * band_elements_];
    first_ = first_of_band;
  }

  // Adds the partial product of `count` rows from row `offset` on.
  __aicore__ inline void Accumulate(const FloatTensor& partial, uint32_t offset, uint32_t count) {
    const Rows rows{count, width_};
    const FloatTensor output = current_[offset * width_];
    const uint8_t repeats = static_cast<uint8_t>(count);
    for (uint32_t block = 0; block < rows.Blocks(); ++block) {
      const FloatTensor strip = output[block * kRepeatFloats];
      const FloatTensor added = partial[block * kRepeatFloats];
      if (first_) {
        AscendC::Adds(strip, added, 0.0f, rows.Lanes(block), repeats,
                      AscendC::UnaryRepeatParams(1, 1, rows.Stride(), rows.Stride()));
      } else {
        AscendC::FusedMulAdd(strip, spread_[offset * kBlockFloats], added, rows.Lanes(block),
                             repeats,
                             AscendC::BinaryRepeatParams(1, 0, 1, rows.Stride(), 1, rows.Stride()));
      }
    }
  }

  // After the band's last Accumulate: 1 / l, for Finish, and the log-sum-exp of every row.
  // `maximum` is the negative of it.
  __aicore__ inline void Close(const FloatTensor& maximum, const FloatTensor& sum,
                               const FloatTensor& lse, uint32_t rows) {
    AscendC::Maxs(inverse_, sum, kTinySum, rows, 1, LanesUnary());
    AscendC::Ln(lse, sum, rows, 1, LanesUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(inverse_, ones_, inverse_, rows, 1, LanesBinary());
    AscendC::Sub(lse, lse, maximum, rows, 1, LanesBinary());
    AscendC::PipeBarrier<PIPE_V>();
    SpreadRows(spread_, inverse_, rows);
    AscendC::PipeBarrier<PIPE_V>();
  }

  // `count` finished rows from row `offset` on, in the element type.
  template <typename Element>
  __aicore__ inline void Finish(const AscendC::LocalTensor<Element>& dst, uint32_t offset,
                                uint32_t count) {
    const Rows rows{count, width_};
    const FloatTensor output = current_[offset * width_];
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
  FloatTensor output_;   // of all bands
  FloatTensor current_;  // of the current one
  FloatTensor ones_;
  FloatTensor inverse_;
  FloatTensor spread_;
  uint32_t width_ = 0;
  uint32_t band_elements_ = 0;
  bool first_ = true;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_OUTPUT_ACCUMULATOR_H
