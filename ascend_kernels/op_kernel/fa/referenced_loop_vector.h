// A vector core's half of the forward pass with referenced scores: references from samples, weights
// from scores, and at the end of a band its outputs. Each of the two vector cores of a group has 64
// of a band's 128 queries, a query per lane.
#ifndef ASCENDFA_FA_REFERENCED_LOOP_VECTOR_H
#define ASCENDFA_FA_REFERENCED_LOOP_VECTOR_H

#include "early_verdict.h"
#include "lane_reference.h"
#include "lane_softmax.h"
#include "lane_totals.h"
#include "output_scaler.h"
#include "result_tensors.h"
#include "sample_cursor.h"

namespace ascendfa {

template <typename Element>
class ReferencedLoopVector {
 public:
  __aicore__ inline ReferencedLoopVector(AscendC::TPipe& pipe, const FlashAttentionTiling& tiling)
      : pipe_(pipe), tiling_(tiling), results_(tiling) {}

  __aicore__ inline void Init(GM_ADDR out, GM_ADDR lse, GM_ADDR workspace, uint32_t group,
                              uint32_t member) {
    results_.Init(out, lse);
    bridge_.Init(tiling_, workspace, group);
    tasks_ = ForwardTasks(tiling_, group);
    member_ = member;
    output_rows_ = Smaller(kOutputElements / tiling_.value_dim_padded, kLanes);
    arena_.Init(pipe_, kReferencedUbBytes);
    scores_ = arena_.Take<half>(kScoreSlots * kSliceElements);
    staging_ = arena_.Take<Element>(kStagingSlots * kSliceElements);
    outputs_ = arena_.Take<float>(kOutputElements);
    softmax_.Init(arena_, tiling_.scale);
    totals_.Init(arena_, softmax_, tiling_.scale);
    reference_.Init(arena_, tiling_.referenced.sample_keys, tiling_.referenced.margin,
                    tiling_.scale);
    mask_.Init(arena_);
    scaler_.Init(arena_);
    offset_ = arena_.Take<float>(kLanes);
  }

  __aicore__ inline void Run(Rounds& rounds) {
    tasks_.Select(rounds);
    const FlashAttentionReferenced& plan = tiling_.referenced;
    StepCursor head(tasks_, plan.depth, BandOrder::kSnake);
    StepCursor tail = head;
    SampleCursor samples(head, plan);
    loading_ = head;
    loading_samples_ = samples;
    const EarlyVerdict early(head, plan.lag);
    OpenRings();
    for (uint32_t position = 0; tail.Valid(); ++position) {
      position_ = position;
      if (head.Valid()) {
        if (early.Asked(position)) {
          early.Ask(bridge_, head, rounds);
        }
        Step band;
        samples.Reach(head, position);
        while (samples.Next(band)) {
          TakeSample(band);
        }
        // Not before: the first scores need the first references.
        for (uint32_t slot = 1; position == 0 && slot < kScoreSlots; ++slot) {
          LoadNext();
        }
        Weights(head.Current());
        head.Next();
      } else {
        Drain();
      }
      if (position >= plan.lag) {
        if (tail.Current().last) {
          WriteResults(tail.Current());
        }
        tail.Next();
      }
      if (early.Given(position)) {
        StoreVerdicts(bridge_.EarlyVerdicts(member_), kBlockFloats);
        AwaitStores();
      }
    }
    StoreVerdicts(bridge_.Verdicts(member_), kVerdictFloats);
    CloseRings();
  }

 private:
  __aicore__ inline uint32_t Queries(const Step& step) const {
    const uint32_t first = member_ * kLanes;
    return step.rows <= first ? 0 : Smaller(kLanes, step.rows - first);
  }

  // MTE2: asks for one more slice of scores, and so for the samples that come before it. Of those
  // there is room for one: the next has to wait until it has been taken.
  __aicore__ inline void LoadNext() {
    ++wanted_;
    CatchUp();
  }
  __aicore__ inline void CatchUp() {
    while (wanted_ != 0 && loading_.Valid()) {
      if (!sample_due_ && loading_key_ == 0) {
        FindSample();
      }
      if (sample_due_ && sample_loaded_) {
        return;
      }
      if (sample_due_) {
        LoadSample();
        continue;
      }
      // Nothing to load, but the flag of a whole step: to wait for it early is to wait for scores
      // that may need references this core has yet to take.
      if (loading_position_ > position_ && Queries(loading_.Current()) == 0) {
        return;
      }
      LoadSlice(loading_.Current());
    }
  }

  // The next sample before the slice to load, if there is one.
  __aicore__ inline void FindSample() {
    if (!reached_) {
      loading_samples_.Reach(loading_, loading_position_);
      reached_ = true;
    }
    sample_due_ = sample_due_ || loading_samples_.Next(sampled_);
  }

  __aicore__ inline void LoadSample() {
    bridge_.AwaitScores();
    if (Queries(sampled_) != 0) {
      reference_.Load(bridge_, sampled_, member_);
    }
    sample_due_ = false;
    sample_loaded_ = true;
  }

  __aicore__ inline void LoadSlice(const Step& step) {
    if (loading_key_ == 0) {
      bridge_.AwaitScores();
    }
    if (Queries(step) != 0) {
      const uint32_t slot = score_ring_.Acquire();
      AscendC::DataCopy(scores_[slot * kSliceElements],
                        bridge_.Scores(step.slot, member_)[loading_key_ * kLanes],
                        Smaller(kSliceKeys, step.keys - loading_key_) * kLanes);
      score_ring_.Publish();
    }
    --wanted_;
    loading_key_ += kSliceKeys;
    if (loading_key_ >= step.keys || Queries(step) == 0) {
      loading_key_ = 0;
      loading_.Next();
      ++loading_position_;
      reached_ = false;
    }
  }

  __aicore__ inline void TakeSample(const Step& step) {
    if (!sample_loaded_) {
      FindSample();
      LoadSample();
    }
    if (Queries(step) != 0) {
      reference_.Take(bridge_, step, member_, tasks_.Lengths(), mask_);
    }
    bridge_.ReferencesReady();
    sample_loaded_ = false;
    CatchUp();
  }

  // One tile of scores to one tile of weights.
  __aicore__ inline void Weights(const Step& step) {
    if (Queries(step) == 0) {
      // Behind the weights of earlier steps, and at once: the cube core waits for both vector
      // cores.
      if (busy_) {
        Drain();
      }
      bridge_.WeightsReady();
      LoadNext();
      return;
    }
    for (uint32_t key = 0; key < step.keys; key += kSliceKeys) {
      LaneSlice slice{};
      slice.keys = Smaller(kSliceKeys, step.keys - key);
      slice.first_key = key;
      slice.row = step.row + member_ * kLanes;
      slice.key = step.key + key;
      slice.slot = step.slot;
      slice.serial = step.serial;
      slice.masked =
          step.ends_early && LaneMask::Needed(tasks_.Lengths(), slice.row, slice.key, slice.keys);
      slice.opens = step.first && key == 0;
      slice.ends_step = key + kSliceKeys >= step.keys;
      slice.closes = step.last && slice.ends_step;
      if (slice.opens) {
        Settle(step.serial - LaneSoftmax::kSides);
      }
      Beat(slice);
    }
  }

  // Every slice under way goes through its next stage, and a new one through its first.
  __aicore__ inline void Beat(const LaneSlice& slice) {
    slices_[turn_ % LaneSoftmax::kStages] = slice;
    if (slice.keys != 0) {
      const HalfTensor scores = scores_[score_ring_.Await() * kSliceElements];
      LoadNext();
      busy_ = true;
      if (slice.masked) {
        mask_.Apply(scores, tasks_.Lengths(), slice.row, slice.key, slice.keys);
      }
      softmax_.Widen(scores, slice, turn_);
    }
    const LaneSlice& widened = Earlier(1);
    if (widened.keys != 0) {
      softmax_.Scale(widened, turn_ - 1);
    }
    const LaneSlice& scaled = Earlier(2);
    if (scaled.keys != 0) {
      softmax_.Exponentiate(scaled, turn_ - 2);
    }
    const LaneSlice& finished = Earlier(3);
    if (finished.keys != 0) {
      softmax_.Finish(staging_[staging_ring_.Acquire() * kSliceElements], finished, turn_ - 3);
      staging_ring_.Publish();
    }
    totals_.Advance();
    AscendC::PipeBarrier<PIPE_V>();
    if (slice.keys != 0) {
      score_ring_.Release();
    }
    if (finished.keys != 0) {
      StoreWeights(finished);
    }
    if (finished.ends_step) {
      bridge_.WeightsReady();
    }
    if (finished.closes) {
      totals_.Start(finished.serial);
    }
    ++turn_;
  }

  // The slice that came `beats` before the current one.
  __aicore__ inline const LaneSlice& Earlier(uint32_t beats) const {
    return slices_[(turn_ - beats) % LaneSoftmax::kStages];
  }

  // MTE3.
  __aicore__ inline void StoreWeights(const LaneSlice& slice) {
    AscendC::DataCopy(bridge_.Weights(slice.slot, member_)[slice.first_key * kLanes],
                      staging_[staging_ring_.Await() * kSliceElements], slice.keys * kLanes);
    staging_ring_.Release();
  }

  // Nothing remains under way.
  __aicore__ inline void Drain() {
    for (uint32_t beat = 1; beat < LaneSoftmax::kStages; ++beat) {
      Beat(LaneSlice{});
    }
    totals_.Flush();
    busy_ = false;
  }

  // Nothing remains under way of the band `serial`.
  __aicore__ inline void Settle(uint32_t serial) {
    while (UnderWay(serial)) {
      Beat(LaneSlice{});
    }
    totals_.Flush(serial);
  }
  __aicore__ inline bool UnderWay(uint32_t serial) const {
    bool found = false;
    for (uint32_t beats = 1; beats < LaneSoftmax::kStages; ++beats) {
      found = found || (Earlier(beats).keys != 0 && Earlier(beats).serial == serial);
    }
    return found;
  }

  // After a band's last step.
  __aicore__ inline void WriteResults(const Step& step) {
    bridge_.AwaitOutputs();
    const uint32_t queries = Queries(step);
    if (queries == 0) {
      return;
    }
    Settle(step.serial);
    AscendC::Muls(offset_, reference_.Get(step.serial), -tiling_.scale, kLanes, 1, LanesUnary());
    const FloatTensor lse =
        staging_[staging_ring_.Acquire() * kSliceElements].template ReinterpretCast<float>();
    scaler_.Close(offset_, totals_.Get(step.serial), totals_.Divisors(step.serial), lse, queries);
    staging_ring_.Publish();
    results_.StoreLse(
        step, member_ * kLanes, queries,
        staging_[staging_ring_.Await() * kSliceElements].template ReinterpretCast<float>());
    staging_ring_.Release();
    for (uint32_t row = 0; row < queries; row += output_rows_) {
      WriteRows(step, row, Smaller(output_rows_, queries - row));
    }
  }

  __aicore__ inline void WriteRows(const Step& step, uint32_t row, uint32_t rows) {
    const uint32_t width = tiling_.value_dim_padded;
    output_ring_.Acquire();
    AscendC::DataCopy(outputs_, bridge_.Outputs(step.serial)[(member_ * kLanes + row) * width],
                      rows * width);
    output_ring_.Publish();
    output_ring_.Await();
    scaler_.Finish(staging_[staging_ring_.Acquire() * kSliceElements], outputs_, Rows{rows, width},
                   row);
    output_ring_.Release();
    staging_ring_.Publish();
    results_.StoreOutput(step, member_ * kLanes + row, rows,
                         staging_[staging_ring_.Await() * kSliceElements]);
    staging_ring_.Release();
  }

  // MTE3: the first `floats`.
  __aicore__ inline void StoreVerdicts(const AscendC::GlobalTensor<float>& dst, uint32_t floats) {
    const AscendC::TEventID written = pipe_.AllocEventID<AscendC::HardEvent::V_MTE3>();
    AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(written);
    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(written);
    pipe_.ReleaseEventID<AscendC::HardEvent::V_MTE3>(written);
    AscendC::DataCopy(dst, totals_.Verdicts(), floats);
    bridge_.VerdictsReady();
  }

  // The early verdicts' block may have room for later ones.
  __aicore__ inline void AwaitStores() {
    const AscendC::TEventID stored = pipe_.AllocEventID<AscendC::HardEvent::MTE3_V>();
    AscendC::SetFlag<AscendC::HardEvent::MTE3_V>(stored);
    AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(stored);
    pipe_.ReleaseEventID<AscendC::HardEvent::MTE3_V>(stored);
  }

  __aicore__ inline void OpenRings() {
    score_ring_.Open(pipe_, kScoreSlots);
    staging_ring_.Open(pipe_, kStagingSlots);
    output_ring_.Open(pipe_, 1);
    reference_.Open(pipe_);
  }
  __aicore__ inline void CloseRings() {
    score_ring_.Close(pipe_);
    staging_ring_.Close(pipe_);
    output_ring_.Close(pipe_);
    reference_.Close(pipe_);
  }

  static constexpr uint32_t kScoreSlots = 3;
  static constexpr uint32_t kStagingSlots = 2;
  static constexpr uint32_t kOutputElements = 1024;

  AscendC::TPipe& pipe_;
  const FlashAttentionTiling& tiling_;
  ForwardTasks tasks_;
  ReferenceBridge<Element> bridge_;
  ResultTensors<Element> results_;

  UbArena arena_;
  HalfTensor scores_;
  AscendC::LocalTensor<Element> staging_;  // weights, outputs and log-sum-exps on their way out
  FloatTensor outputs_;
  FloatTensor offset_;
  LaneSoftmax softmax_;
  LaneTotals<Element> totals_;
  LaneReference reference_;
  LaneMask mask_;
  OutputScaler scaler_;

  SlotRing<AscendC::HardEvent::MTE2_V, AscendC::HardEvent::V_MTE2> score_ring_;
  SlotRing<AscendC::HardEvent::V_MTE3, AscendC::HardEvent::MTE3_V> staging_ring_;
  SlotRing<AscendC::HardEvent::MTE2_V, AscendC::HardEvent::V_MTE2> output_ring_;

  LaneSlice slices_[LaneSoftmax::kStages] = {};  // by turn
  uint32_t turn_ = 0;
  uint32_t position_ = 0;  // of the step that weights are taken of
  StepCursor loading_;     // the next slice to load
  SampleCursor loading_samples_;
  uint32_t loading_position_ = 0;
  uint32_t loading_key_ = 0;
  uint32_t wanted_ = 0;   // slices
  Step sampled_{};        // band
  bool reached_ = false;  // loading_samples_ is at the slice to load
  bool sample_due_ = false;
  bool sample_loaded_ = false;
  bool busy_ = false;  // slices may be under way
  uint32_t member_ = 0;
  uint32_t output_rows_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_REFERENCED_LOOP_VECTOR_H
