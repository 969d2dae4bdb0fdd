// References: per query the maximum over a sample of its scores, and a little more, in which a
// row's maximum may lie. Where scores hardly differ it is less: the nearer they are to the
// reference, the finer fp16 rounds them.
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
  // `keys` of a sample; `margin`: the most that references lie higher, scaled.
  __aicore__ inline void Init(UbArena& arena, uint32_t keys, float margin, float scale) {
    keys_ = keys;
    step_ = kStep / scale;
    least_ = (margin - kMostSteps * kStep) / scale;
    share_ = kShareOfSpread * scale / kStep;
    fall_ = -kPush * scale / kLeastSpread;
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
    const FloatTensor values = Get(step.serial);
    const FloatTensor negative = negative_[staging_ring_.Acquire() * kLanes];
    const AscendC::UnaryRepeatParams widened(1, 1, 8, 4);
    sample_ring_.Await();
    // Of hidden keys too: they tell how much scores differ as well as others.
    FoldMinimum(mask.Scratch(), Smaller(LaneMask::kRows, keys));
    AscendC::Cast(negative, mask.Scratch(), AscendC::RoundMode::CAST_NONE, kLanes, 1, widened);
    const uint32_t row = step.row + member * kLanes;
    const bool masked = LaneMask::Needed(seqlen, row, step.key, keys);
    if (masked) {
      mask.Apply(sample_, seqlen, row, step.key, keys);
    }
    for (uint32_t rows = keys; rows > 1; rows = KeptRows(rows)) {
      const uint32_t kept = KeptRows(rows);
      MaxRows(sample_, sample_, sample_[kept * kLanes], rows - kept);
      AscendC::PipeBarrier<PIPE_V>();
    }
    AscendC::Cast(values, sample_, AscendC::RoundMode::CAST_NONE, kLanes, 1, widened);
    sample_ring_.Release();
    AscendC::PipeBarrier<PIPE_V>();
    // Finite, whatever the sample: no difference of infinities.
    AscendC::Mins(values, values, -kLowestHalf, kLanes, 1, LanesUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sub(negative, values, negative, kLanes, 1, LanesBinary());
    AscendC::PipeBarrier<PIPE_V>();
    const FloatTensor push = mask.Scratch().template ReinterpretCast<float>();
    const FloatTensor size = push[kLanes];
    AscendC::Muls(push, negative, fall_, kLanes, 1, LanesUnary());
    AscendC::Abs(size, values, kLanes, 1, LanesUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(negative, negative, share_, kLanes, 1, LanesUnary());
    AscendC::Maxs(push, push, -kPush, kLanes, 1, LanesUnary());
    AscendC::Mins(size, size, 1.0f, kLanes, 1, LanesUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mins(negative, negative, kMostSteps, kLanes, 1, LanesUnary());
    AscendC::Adds(push, push, kPush, kLanes, 1, LanesUnary());
    AscendC::PipeBarrier<PIPE_V>();
    const AscendC::LocalTensor<int32_t> steps = negative.template ReinterpretCast<int32_t>();
    AscendC::Cast(steps, negative, AscendC::RoundMode::CAST_FLOOR, kLanes, 1, LanesUnary());
    AscendC::Mul(push, push, size, kLanes, 1, LanesBinary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Cast(negative, steps, AscendC::RoundMode::CAST_NONE, kLanes, 1, LanesUnary());
    if (!masked) {
      AscendC::Add(values, values, push, kLanes, 1, LanesBinary());
    }
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(negative, negative, step_, kLanes, 1, LanesUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(negative, negative, least_, kLanes, 1, LanesUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(values, values, negative, kLanes, 1, LanesBinary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(negative, values, -1.0f, kLanes, 1, LanesUnary());
    staging_ring_.Publish();
    staging_ring_.Await();
    AscendC::DataCopy(bridge.References(step.serial, member), negative, kLanes);
    staging_ring_.Release();
  }

 private:
  static constexpr uint32_t kAlive = 16;  // bands, from their samples to their outputs
  static constexpr uint32_t kStagingSlots = 2;

  // Margins are a little more than a multiple of ln 2: where one key has all the weight, or all
  // have the same, that weight is a little less than a power of two, which fp16 rounds half as
  // coarsely as a little more. As many steps as go into a share of the sample's spread, which is
  // about 4.7 deviations if normally distributed.
  static constexpr float kStep = 0.693147181f;
  static constexpr float kMostSteps = 2.0f;
  static constexpr float kShareOfSpread = 0.45f;

  // Weights that are all alike are rounded alike, and nothing cancels. Where scores spread less
  // than this, scaled, references are pushed beyond every tolerance, so that the task is repeated.
  // Scores next to zero, whose weights are those the margins aim at, are not pushed as far; rows
  // that do not even see the sample are not pushed, since the maximum of a few keys may be any of
  // them.
  static constexpr float kLeastSpread = 1.0f / 32;
  static constexpr float kPush = 4096.0f;

  // The minimum of the sample's first rows, in `lowest`. Ends with a barrier.
  __aicore__ inline void FoldMinimum(const HalfTensor& lowest, uint32_t rows) const {
    uint32_t kept = KeptRows(rows);
    MinRows(lowest, sample_, sample_[(rows - kept) * kLanes], kept);
    AscendC::PipeBarrier<PIPE_V>();
    for (rows = kept; rows > 1; rows = kept) {
      kept = KeptRows(rows);
      MinRows(lowest, lowest, lowest[kept * kLanes], rows - kept);
      AscendC::PipeBarrier<PIPE_V>();
    }
  }

  __aicore__ inline uint32_t Keys(const Step& step) const { return Smaller(keys_, step.keys); }

  HalfTensor sample_;
  FloatTensor values_;    // by band
  FloatTensor negative_;  // on its way out
  SlotRing<AscendC::HardEvent::MTE2_V, AscendC::HardEvent::V_MTE2> sample_ring_;
  SlotRing<AscendC::HardEvent::V_MTE3, AscendC::HardEvent::MTE3_V> staging_ring_;
  uint32_t keys_ = 0;
  float step_ = 0.0f;   // in unscaled scores
  float least_ = 0.0f;  // the same
  float share_ = 0.0f;  // of the spread of unscaled scores, in steps
  float fall_ = 0.0f;   // of the push, with that spread
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_LANE_REFERENCE_H
