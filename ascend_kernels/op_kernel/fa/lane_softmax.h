// exp(scale s) of referenced scores, slice by slice of 64 keys. A slice passes through four stages
// (widened, scaled, exponentiated, narrowed); each beat moves four slices on by one, so that one
// vector barrier serves them all. Sums and maxima gather in 64 rows per band, to be folded at its
// end.
#ifndef ASCENDFA_FA_LANE_SOFTMAX_H
#define ASCENDFA_FA_LANE_SOFTMAX_H

#include "lane_mask.h"
#include "lane_ops.h"
#include "ub_arena.h"

namespace ascendfa {

constexpr uint32_t kSliceKeys = 64;
constexpr uint32_t kSliceElements = kSliceKeys * kLanes;

// Of a step's scores. Without keys: none.
struct LaneSlice {
  uint32_t keys;
  uint32_t first_key;  // within the step's tile
  uint32_t row;        // the first lane's query
  uint32_t key;        // the first row's key
  uint32_t slot;       // hand-over slot
  uint32_t serial;     // of the band
  bool masked;         // some query does not see some key
  bool opens;          // the band
  bool closes;         // the band
  bool ends_step;
};

class LaneSoftmax {
 public:
  static constexpr uint32_t kStages = 4;

  __aicore__ inline void Init(UbArena& arena, float scale) {
    scale_ = scale;
    work_ = arena.Take<float>(kStages * kSliceElements);
    // In other banks than the slices they take in, which begin at multiples of 512 bytes.
    sums_ = arena.Take<float>(kSides * kSliceElements + kBankOffset / sizeof(float));
    sums_ = sums_[kBankOffset / sizeof(float)];
    peaks_ = arena.Take<half>(kSides * kSliceElements);
  }

  // First stage: fp16 to fp32; the maxima. A slice that opens a band is whole: the band's last
  // query is the 128th at least, or the last of all, which sees 1024 keys at least.
  __aicore__ inline void Widen(const HalfTensor& scores, const LaneSlice& slice, uint32_t turn) {
    AscendC::Cast(Work(turn), scores, AscendC::RoundMode::CAST_NONE, kLanes, Repeats(slice),
                  AscendC::UnaryRepeatParams(1, 1, kFloatRow, kHalfRow));
    const HalfTensor peaks = Peaks(slice.serial);
    if (slice.opens) {
      AscendC::Adds(peaks, scores, static_cast<half>(0.0f), 2 * kLanes, kSliceKeys / 2,
                    AscendC::UnaryRepeatParams(1, 1, 2 * kHalfRow, 2 * kHalfRow));
    } else {
      MaxRows(peaks, peaks, scores, slice.keys);
    }
  }

  __aicore__ inline void Scale(const LaneSlice& slice, uint32_t turn) {
    AscendC::Muls(Work(turn), Work(turn), scale_, kLanes, Repeats(slice), DenseUnary());
  }

  __aicore__ inline void Exponentiate(const LaneSlice& slice, uint32_t turn) {
    AscendC::Exp(Work(turn), Work(turn), kLanes, Repeats(slice), DenseUnary());
  }

  // Last stage: the weights; the sums.
  template <typename Element>
  __aicore__ inline void Finish(const AscendC::LocalTensor<Element>& weights,
                                const LaneSlice& slice, uint32_t turn) {
    Narrow(weights, Work(turn), kLanes, Repeats(slice), kFloatRow);
    const FloatTensor sums = Sums(slice.serial);
    if (slice.opens) {
      AscendC::Adds(sums, Work(turn), 0.0f, kLanes, kSliceKeys, DenseUnary());
    } else {
      AddRows(sums, sums, Work(turn), slice.keys);
    }
  }

  // 64 rows each, of the band and of the one after next, and so on.
  __aicore__ inline FloatTensor Sums(uint32_t serial) const {
    return sums_[serial % kSides * kSliceElements];
  }
  __aicore__ inline HalfTensor Peaks(uint32_t serial) const {
    return peaks_[serial % kSides * kSliceElements];
  }

  static constexpr uint32_t kSides = 2;

 private:
  static constexpr uint8_t kFloatRow = kLanes * sizeof(float) / kBlockBytes;
  static constexpr uint8_t kHalfRow = kLanes * sizeof(half) / kBlockBytes;
  static constexpr uint32_t kBankOffset = 256;

  __aicore__ inline static uint8_t Repeats(const LaneSlice& slice) {
    return static_cast<uint8_t>(slice.keys);
  }
  __aicore__ inline FloatTensor Work(uint32_t turn) const {
    return work_[turn % kStages * kSliceElements];
  }

  FloatTensor work_;
  FloatTensor sums_;
  HalfTensor peaks_;
  float scale_ = 1.0f;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_LANE_SOFTMAX_H
