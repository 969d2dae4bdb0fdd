// References: per query the maximum over a sample of its scores, and a little more, so that a row's
// maximum is as likely to lie above as below.
#ifndef ASCENDFA_FA_LANE_REFERENCE_H
#define ASCENDFA_FA_LANE_REFERENCE_H

#include "../arch/dav_2201/reference_bridge.h"
#include "lane_mask.h"
#include "lane_ops.h"
#include "slot_ring.h"
#include "ub_arena.h"

namespace ascendfa {

class LaneReference {
 public:
  // `keys` of a sample; `margin`: in unscaled scores.
  __aicore__ inline void Init(UbArena& arena, uint32_t keys, float margin) {
    keys_ = keys;
    margin_ = margin;
    sample_ = arena.Take<half>(kMaxSampleKeys * kLanes);
    values_ = arena.Take<float>(kAlive * kLanes);
    negative_ = arena.Take<float>(kStagingSlots * kLanes);
  }

  __aicore__ inline void Open(AscendC::TPipe& pipe) {
    sample_ring_.Open(pipe, 1);
    staging_ring_.Open(pipe, kStagingSlots);
  }
  __aicore__ inline void Close(AscendC::TPipe& pipe) {
    sample_ring_.Close(pipe);
    staging_ring_.Close(pipe);
  }

  // What was subtracted from the band's scores.
  __aicore__ inline FloatTensor Get(uint32_t serial) const {
    return values_[serial % kAlive * kLanes];
  }

  // MTE2: a band's sample. The caller has awaited it.
  template <typename Bridge>
  __aicore__ inline void Load(const Bridge& bridge, const Step& step, uint32_t member) {
    sample_ring_.Acquire();
    AscendC::DataCopy(sample_, bridge.Sample(step.serial, member), Keys(step) * kLanes);
    sample_ring_.Publish();
  }

  // V, MTE3: from the sample to references.
  template <typename Bridge>
  __aicore__ inline void Take(Bridge& bridge, const Step& step, uint32_t member,
                              const SeqLen& seqlen, LaneMask& mask) {
    const uint32_t keys = Keys(step);
    sample_ring_.Await();
    const uint32_t row = step.row + member * kLanes;
    if (LaneMask::Needed(seqlen, row, step.key, keys)) {
      mask.Apply(sample_, seqlen, row, step.key, keys);
    }
    for (uint32_t rows = keys; rows > 1; rows = KeptRows(rows)) {
      const uint32_t kept = KeptRows(rows);
      MaxRows(sample_, sample_, sample_[kept * kLanes], rows - kept);
      AscendC::PipeBarrier<PIPE_V>();
    }
    const FloatTensor values = Get(step.serial);
    AscendC::Cast(values, sample_, AscendC::RoundMode::CAST_NONE, kLanes, 1,
                  AscendC::UnaryRepeatParams(1, 1, 8, 4));
    sample_ring_.Release();
    AscendC::PipeBarrier<PIPE_V>();
    // Finite, whatever the sample: no difference of infinities.
    AscendC::Mins(values, values, -kLowestHalf, kLanes, 1, LanesUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(values, values, margin_, kLanes, 1, LanesUnary());
    AscendC::PipeBarrier<PIPE_V>();
    const FloatTensor negative = negative_[staging_ring_.Acquire() * kLanes];
    AscendC::Muls(negative, values, -1.0f, kLanes, 1, LanesUnary());
    staging_ring_.Publish();
    staging_ring_.Await();
    AscendC::DataCopy(bridge.References(step.serial, member), negative, kLanes);
    staging_ring_.Release();
  }

 private:
  static constexpr uint32_t kAlive = 16;  // bands, from their samples to their outputs
  static constexpr uint32_t kStagingSlots = 2;

  __aicore__ inline uint32_t Keys(const Step& step) const { return Smaller(keys_, step.keys); }

  HalfTensor sample_;
  FloatTensor values_;    // by band
  FloatTensor negative_;  // on its way out
  SlotRing<AscendC::HardEvent::MTE2_V, AscendC::HardEvent::V_MTE2> sample_ring_;
  SlotRing<AscendC::HardEvent::V_MTE3, AscendC::HardEvent::MTE3_V> staging_ring_;
  uint32_t keys_ = 0;
  float margin_ = 0.0f;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_LANE_REFERENCE_H
