// The end of a band: its gathered sums and maxima, 64 rows each, become one row each, a level of
// the fold per beat of the softmax. The largest distance between a row's maximum and its reference
// goes into the verdicts.
//
// Values are multiplied by rounded weights, so what they are divided by should be the sum of those.
// Roundings cancel in it, but for the largest weight's where that has most of the sum: it is put
// right, so that a key with all the weight leaves its values as they are.
#ifndef ASCENDFA_FA_LANE_TOTALS_H
#define ASCENDFA_FA_LANE_TOTALS_H

#include "../arch/dav_2201/reference_bridge.h"
#include "lane_softmax.h"

namespace ascendfa {

template <typename Element>
class LaneTotals {
 public:
  __aicore__ inline void Init(UbArena& arena, const LaneSoftmax& softmax, float scale) {
    softmax_ = softmax;
    scale_ = scale;
    totals_ = arena.Take<float>(kOutputSlots * kLanes);
    divisors_ = arena.Take<float>(kOutputSlots * kLanes);
    verdicts_ = arena.Take<float>(kVerdictFloats);
    AscendC::Duplicate(verdicts_, 0.0f, static_cast<int32_t>(kVerdictFloats));
  }

  // The sums of a finished band.
  __aicore__ inline FloatTensor Get(uint32_t serial) const {
    return totals_[serial % kOutputSlots * kLanes];
  }
  // What its outputs are divided by.
  __aicore__ inline FloatTensor Divisors(uint32_t serial) const {
    return divisors_[serial % kOutputSlots * kLanes];
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
  static constexpr uint8_t kFloatRow = kLanes * sizeof(float) / kBlockBytes;

  __aicore__ inline static AscendC::UnaryRepeatParams Widening() {
    return AscendC::UnaryRepeatParams(1, 1, kFloatRow, kFloatRow / 2);
  }

  __aicore__ inline void Close(const FloatTensor& sums, const HalfTensor& peaks) {
    // Rows of the gathered sums that are folded.
    const FloatTensor peak = sums[kLanes];
    const FloatTensor weight = sums[2 * kLanes];  // of the largest score
    const FloatTensor distance = sums[3 * kLanes];
    const AscendC::LocalTensor<Element> rounded = peak.template ReinterpretCast<Element>();
    switch (level_++) {
      case kFirst:
        AscendC::Adds(Get(serial_), sums, 0.0f, kLanes, 1, LanesUnary());
        AscendC::Cast(peak, peaks, AscendC::RoundMode::CAST_NONE, kLanes, 1, Widening());
        return;
      case kFirst + 1:
        AscendC::Abs(distance, peak, kLanes, 1, LanesUnary());
        AscendC::Muls(weight, peak, scale_, kLanes, 1, LanesUnary());
        return;
      case kFirst + 2:
        AscendC::Muls(distance, distance, scale_, kLanes, 1, LanesUnary());
        AscendC::Exp(weight, weight, kLanes, 1, LanesUnary());
        return;
      case kFirst + 3:
        AscendC::WholeReduceMax(verdicts_[ReferenceBridge<Element>::VerdictPlace(serial_)],
                                distance, static_cast<int32_t>(kLanes), 1, 1, 1, 8,
                                AscendC::ReduceOrder::ORDER_ONLY_VALUE);
        Narrow(rounded, weight, kLanes, 1, kFloatRow);
        return;
      case kFirst + 4:
        AscendC::Cast(distance, rounded, AscendC::RoundMode::CAST_NONE, kLanes, 1, Widening());
        return;
      case kFirst + 5:
        AscendC::Sub(distance, distance, weight, kLanes, 1, LanesBinary());
        return;
      default:
        AscendC::Add(Divisors(serial_), Get(serial_), distance, kLanes, 1, LanesBinary());
        level_ = kIdle;
        return;
    }
  }

  LaneSoftmax softmax_;
  FloatTensor totals_;    // by band
  FloatTensor divisors_;  // by band
  FloatTensor verdicts_;  // by band
  float scale_ = 1.0f;
  uint32_t serial_ = 0;
  uint32_t rows_ = 0;
  uint32_t level_ = kIdle;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_LANE_TOTALS_H
