// The unnormalised output of the bands of one task, kept in UB while its partial products arrive:
// O = alpha O + partial per step, in one pass, O / l at the end.
#ifndef ASCENDFA_FA_OUTPUT_ACCUMULATOR_H
#define ASCENDFA_FA_OUTPUT_ACCUMULATOR_H

#include "output_scaler.h"

namespace ascendfa {

class OutputAccumulator {
 public:
  // `rows` of a band on this core.
  __aicore__ inline void Init(UbArena& arena, uint32_t bands, uint32_t rows, uint32_t width) {
    width_ = width;
    band_elements_ = rows * width;
    output_ = arena.Take<float>(bands * band_elements_);
    scaler_.Init(arena);
  }

  // The step's alpha, for Accumulate, unless it is its band's first. A vector barrier has to lie
  // between.
  __aicore__ inline void Prepare(const FloatTensor& alpha, uint32_t rows) {
    SpreadRows(scaler_.Spread(), alpha, rows);
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
        AscendC::FusedMulAdd(strip, scaler_.Spread()[offset * kBlockFloats], added,
                             rows.Lanes(block), repeats,
                             AscendC::BinaryRepeatParams(1, 0, 1, rows.Stride(), 1, rows.Stride()));
      }
    }
  }

  // After the band's last Accumulate, for Finish; the log-sum-exp of every row. `maximum` is the
  // negative of it.
  __aicore__ inline void Close(const FloatTensor& maximum, const FloatTensor& sum,
                               const FloatTensor& lse, uint32_t rows) {
    scaler_.Close(maximum, sum, sum, lse, rows);
  }

  // `count` finished rows from row `offset` on, in the element type.
  template <typename Element>
  __aicore__ inline void Finish(const AscendC::LocalTensor<Element>& dst, uint32_t offset,
                                uint32_t count) {
    scaler_.Finish(dst, current_[offset * width_], Rows{count, width_}, offset);
  }

 private:
  FloatTensor output_;   // of all bands
  FloatTensor current_;  // of the current one
  OutputScaler scaler_;
  uint32_t width_ = 0;
  uint32_t band_elements_ = 0;
  bool first_ = true;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_OUTPUT_ACCUMULATOR_H
