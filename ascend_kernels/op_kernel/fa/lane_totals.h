// The end of a band: its gathered sums and maxima, 64 rows each, become one row each, a level of
// the fold per beat of the softmax. The largest distance between a row's maximum and its reference
// goes into the verdicts.
#ifndef ASCENDFA_FA_LANE_TOTALS_H
#define ASCENDFA_FA_LANE_TOTALS_H

#include "../arch/dav_2201/reference_bridge.h"
#include "lane_softmax.h"

namespace ascendfa {

class LaneTotals {
 public:
  __aicore__ inline void Init(UbArena& arena, const LaneSoftmax& softmax, float scale) {
    softmax_ = softmax;
    scale_ = scale;
    totals_ = arena.Take<float>(kOutputSlots * kLanes);
    distance_ = arena.Take<float>(kLanes);
    verdicts_ = arena.Take<float>(kVerdicts * kBlockFloats);
    AscendC::Duplicate(verdicts_, 0.0f, kLanes, kVerdicts * kBlockFloats / kLanes, 1, 8);
  }

  // The sums of a finished band.
  __aicore__ inline FloatTensor Get(uint32_t serial) const {
    return totals_[serial % kOutputSlots * kLanes];
  }
  __aicore__ inline const FloatTensor& Verdicts() const { return verdicts_; }

  // After a band's last slice. A vector barrier lies between it and the first Advance.
  __aicore__ inline void Start(uint32_t serial) {
    Flush();
    serial_ = serial;
    rows_ = kSliceKeys;
    level_ = kFirst;
  }

  // The next level, if there is one. A vector barrier lies before and after it.
  __aicore__ inline void Advance() {
    if (level_ == kIdle) {
      return;
    }
    const FloatTensor sums = softmax_.Sums(serial_);
    const HalfTensor peaks = softmax_.Peaks(serial_);
    if (rows_ > 1) {
      const uint32_t kept = KeptRows(rows_);
      AddRows(sums, sums, sums[kept * kLanes], rows_ - kept);
      MaxRows(peaks, peaks, peaks[kept * kLanes], rows_ - kept);
      rows_ = kept;
      return;
    }
    Close(sums, peaks);
  }

  // All levels that are left. Barriers lie around it.
  __aicore__ inline void Flush() {
    while (level_ != kIdle) {
      Advance();
      AscendC::PipeBarrier<PIPE_V>();
    }
  }
  // The same of one band.
  __aicore__ inline void Flush(uint32_t serial) {
    if (level_ != kIdle && serial_ == serial) {
      Flush();
    }
  }

 private:
  static constexpr uint32_t kIdle = 0;
  static constexpr uint32_t kFirst = 1;

  __aicore__ inline void Close(const FloatTensor& sums, const HalfTensor& peaks) {
    switch (level_++) {
      case kFirst:
        AscendC::Adds(Get(serial_), sums, 0.0f, kLanes, 1, LanesUnary());
        AscendC::Cast(distance_, peaks, AscendC::RoundMode::CAST_NONE, kLanes, 1,
                      AscendC::UnaryRepeatParams(1, 1, 8, 4));
        return;
      case kFirst + 1:
        AscendC::Abs(distance_, distance_, kLanes, 1, LanesUnary());
        return;
      case kFirst + 2:
        AscendC::Muls(distance_, distance_, scale_, kLanes, 1, LanesUnary());
        return;
      default:
        AscendC::WholeReduceMax(verdicts_[serial_ * kBlockFloats], distance_,
                                static_cast<int32_t>(kLanes), 1, 1, 1, 8,
                                AscendC::ReduceOrder::ORDER_ONLY_VALUE);
        level_ = kIdle;
        return;
    }
  }

  LaneSoftmax softmax_;
  FloatTensor totals_;  // by band
  FloatTensor distance_;
  FloatTensor verdicts_;  // a block per band
  float scale_ = 1.0f;
  uint32_t serial_ = 0;
  uint32_t rows_ = 0;
  uint32_t level_ = kIdle;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_LANE_TOTALS_H
