// A vector core's half of the forward pass: softmax of the step at the head of the pipeline, then
// the output update of the step `lag` behind it. The two vector cores of a group share each task's
// rows; everything a row needs stays on one of them.
#ifndef ASCENDFA_FA_FORWARD_LOOP_VECTOR_H
#define ASCENDFA_FA_FORWARD_LOOP_VECTOR_H

#include "../arch/capacities.h"
#include "../arch/cube_vector_bridge.h"
#include "forward_loop.h"
#include "kernel_operator.h"
#include "online_softmax.h"
#include "output_accumulator.h"
#include "result_tensors.h"
#include "score_terms.h"
#include "slot_ring.h"
#include "ub_arena.h"

namespace ascendfa {

template <typename Element>
class ForwardLoopVector {
 public:
  __aicore__ inline ForwardLoopVector(AscendC::TPipe& pipe, const FlashAttentionTiling& tiling)
      : pipe_(pipe), tiling_(tiling), results_(tiling) {}

  __aicore__ inline void Init(const ScoreInputs& inputs, GM_ADDR out, GM_ADDR lse,
                              GM_ADDR workspace, uint32_t group, uint32_t member) {
    results_.Init(out, lse);
    bridge_.Init(tiling_, workspace, group);
    tasks_ = ForwardTasks(tiling_, group);
    member_ = member;

    const uint32_t width = tiling_.value_dim_padded;
    const uint32_t columns = AlignUp(tiling_.block_n, kRepeatFloats);
    score_elements_ = tiling_.softmax_rows * columns;
    partial_elements_ = tiling_.output_rows * width;
    staging_elements_ = score_elements_ > partial_elements_ ? score_elements_ : partial_elements_;
    result_rows_ = Smaller(staging_elements_ / width, kVectorRows);
    arena_.Init(pipe_, tiling_.vector_bytes);
    scores_ = arena_.Take<float>(kScoreSlots * score_elements_);
    partials_ = arena_.Take<float>(kPartialSlots * partial_elements_);
    staging_ = arena_.Take<Element>(tiling_.weight_slots * staging_elements_);
    const FloatTensor scratch = arena_.Take<float>(tiling_.softmax_rows * kRepeatFloats);
    terms_.Init(tiling_, inputs, arena_, scratch, kScoreSlots, score_elements_);
    softmax_.Init(arena_, tiling_.depth, tiling_.softmax_rows, scratch);
    softmax_.SetFactor(terms_.Remaining());
    output_.Init(arena_, CeilDiv(tiling_.block_m, kCubeEdge),
                 Smaller(tiling_.block_m, kCubeEdge) / kVectorCores, width);
    AscendC::PipeBarrier<PIPE_V>();
  }

  __aicore__ inline void Run(const Rounds& rounds = Rounds()) {
    tasks_.Select(rounds);
    OpenRings();
    WriteRowsWithoutKeys();
    StepCursor head(tiling_, tasks_);
    StepCursor tail = head;
    if (head.Valid()) {
      LoadScores(head.Current(), 0);
    }
    for (uint32_t step = 0; tail.Valid(); ++step) {
      if (head.Valid()) {
        const Step current = head.Current();
        head.Next();
        if (step >= tiling_.lag) {
          PrepareUpdate(tail.Current());
        }
        Softmax(current, head);
      } else {
        softmax_.Flush();
        PrepareUpdate(tail.Current());
        AscendC::PipeBarrier<PIPE_V>();
      }
      if (step >= tiling_.lag) {
        UpdateOutput(tail.Current());
        tail.Next();
      }
    }
    CloseRings();
  }

 private:
  // This core's rows of a task: [first, first + count) of the task's.
  struct Share {
    uint32_t first;
    uint32_t count;
  };

  __aicore__ inline Share ShareOf(const Step& step) const {
    const uint32_t upper =
        Smaller(step.rows, AlignUp(CeilDiv(step.rows, kVectorCores), kBlockFloats));
    return (member_ == 0) ? Share{0, upper} : Share{upper, step.rows - upper};
  }

  // Columns of a tile as they lie in UB: whole repeats.
  __aicore__ inline static uint32_t Width(const Step& step) {
    return AlignUp(step.keys, kRepeatFloats);
  }

  template <typename T>
  __aicore__ inline static uint16_t Blocks(uint32_t elements) {
    return static_cast<uint16_t>(elements * sizeof(T) / kBlockBytes);
  }

  // MTE2: the slice of this core's score rows that starts at `row`. The tile's first load waits for
  // the tile, also on a core that has no rows in it.
  __aicore__ inline void LoadScores(const Step& step, uint32_t row) {
    if (row == 0) {
      bridge_.AwaitScores();
    }
    const Share share = ShareOf(step);
    if (share.count == 0) {
      return;
    }
    const uint32_t rows = Smaller(tiling_.softmax_rows, share.count - row);
    const uint32_t slot = score_ring_.Acquire();
    const AscendC::GlobalTensor<float> tile =
        bridge_.Scores(step.slot)[(share.first + row) * kCubeEdge];
    for (uint32_t column = 0; column < step.keys; column += kCubeEdge) {
      const uint32_t columns = AlignUp(Smaller(kCubeEdge, step.keys - column), kFractalRows);
      const AscendC::DataCopyParams params(static_cast<uint16_t>(rows), Blocks<float>(columns),
                                           Blocks<float>(kCubeEdge - columns),
                                           Blocks<float>(Width(step) - columns));
      AscendC::DataCopy(scores_[slot * score_elements_ + column], tile[bridge_.PanelOffset(column)],
                        params);
    }
    terms_.Load(step, step.row + share.first + row, rows, Width(step), slot);
    score_ring_.Publish();
  }

  // One tile of scores to one tile of weights.
  __aicore__ inline void Softmax(const Step& step, const StepCursor& following) {
    const Share share = ShareOf(step);
    softmax_.Begin(step.slot, step.band, step.first);
    if (share.count != 0) {
      terms_.Prepare(tasks_.Lengths(), step, step.row + share.first, share.count, Width(step));
    } else {
      LoadFollowing(step, share, 0, following);
    }
    for (uint32_t row = 0; row < share.count; row += tiling_.softmax_rows) {
      SoftmaxSlice(step, share, row, following);
    }
    if (share.count != 0) {
      softmax_.End(share.count);
    } else {
      // The last slice's statistics, which the next slice would finish: their output may come
      // first. The rest of the pipeline relies on the barriers in between.
      softmax_.Flush();
    }
    bridge_.WeightsReady();
  }

  __aicore__ inline void SoftmaxSlice(const Step& step, const Share& share, uint32_t row,
                                      const StepCursor& following) {
    const Rows rows{Smaller(tiling_.softmax_rows, share.count - row), Width(step)};
    const uint32_t slot = score_ring_.Await();
    const FloatTensor scores = scores_[slot * score_elements_];
    ClearTail(scores, rows, step.keys);
    terms_.Apply(scores, rows, row, step.keys, slot);
    LoadFollowing(step, share, row + tiling_.softmax_rows, following);
    softmax_.Normalise(scores, rows, row);

    const AscendC::LocalTensor<Element> weights =
        staging_[staging_ring_.Acquire() * staging_elements_];
    Narrow(weights, scores, kRepeatFloats, DenseRepeats(rows), kRepeatFloats / kBlockFloats);
    staging_ring_.Publish();
    softmax_.Sum(scores, rows, row);
    score_ring_.Release();
    StoreWeights(step, share.first + row, rows);
  }

  // MTE2: the slice from `row` on, or the following step's first, while the current is worked on.
  __aicore__ inline void LoadFollowing(const Step& step, const Share& share, uint32_t row,
                                       const StepCursor& following) {
    if (row < share.count) {
      LoadScores(step, row);
    } else if (following.Valid()) {
      LoadScores(following.Current(), 0);
    }
  }

  // Columns no load has written, up to the next whole repeat, become zero scores; the mask then
  // takes them away with those beyond the last key.
  __aicore__ inline void ClearTail(const FloatTensor& scores, const Rows& rows, uint32_t keys) {
    const uint32_t loaded = AlignUp(keys, kFractalRows);
    if (loaded == rows.width) {
      return;
    }
    uint64_t lanes[2] = {~0ULL << (loaded % kRepeatFloats), 0};
    AscendC::Duplicate(scores[rows.width - kRepeatFloats], 0.0f, lanes,
                       static_cast<uint8_t>(rows.count), 1, rows.Stride());
    if (terms_.StartsAtOnce()) {
      AscendC::PipeBarrier<PIPE_V>();
    }
  }

  // MTE3: weights of `rows` to the hand-over slot, columns up to the next multiple of 16.
  __aicore__ inline void StoreWeights(const Step& step, uint32_t row, const Rows& rows) {
    const AscendC::LocalTensor<Element> weights =
        staging_[staging_ring_.Await() * staging_elements_];
    const AscendC::GlobalTensor<Element> tile = bridge_.Weights(step.slot)[row * kCubeEdge];
    for (uint32_t column = 0; column < step.keys; column += kCubeEdge) {
      const uint32_t columns = AlignUp(Smaller(kCubeEdge, step.keys - column), kFractalRows);
      const AscendC::DataCopyParams params(
          static_cast<uint16_t>(rows.count), Blocks<Element>(columns),
          Blocks<Element>(rows.width - columns), Blocks<Element>(kCubeEdge - columns));
      AscendC::DataCopy(tile[bridge_.PanelOffset(column)], weights[column], params);
    }
    staging_ring_.Release();
  }

  // What UpdateOutput needs of the step's statistics. A vector barrier lies between the two.
  __aicore__ inline void PrepareUpdate(const Step& step) {
    const Share share = ShareOf(step);
    if (share.count != 0 && !step.first) {
      output_.Prepare(softmax_.Alpha(step.slot), share.count);
    }
  }

  // Takes in the step's partial product; after a task's last one, writes the task's results.
  __aicore__ inline void UpdateOutput(const Step& step) {
    const Share share = ShareOf(step);
    bridge_.AwaitPartials();
    if (share.count == 0) {
      return;
    }
    output_.Begin(step.band, step.first);
    LoadPartials(step, share, 0);
    for (uint32_t row = 0; row < share.count; row += tiling_.output_rows) {
      if (row + tiling_.output_rows < share.count) {
        LoadPartials(step, share, row + tiling_.output_rows);
      }
      const uint32_t rows = Smaller(tiling_.output_rows, share.count - row);
      output_.Accumulate(partials_[partial_ring_.Await() * partial_elements_], row, rows);
      partial_ring_.Release();
    }
    if (step.last) {
      WriteResults(step, share);
    }
  }

  // MTE2: a slice of this core's rows of the step's partial product.
  __aicore__ inline void LoadPartials(const Step& step, const Share& share, uint32_t row) {
    const uint32_t width = tiling_.value_dim_padded;
    const uint32_t rows = Smaller(tiling_.output_rows, share.count - row);
    const uint32_t slot = partial_ring_.Acquire();
    AscendC::DataCopy(partials_[slot * partial_elements_],
                      bridge_.Partials(step.slot)[static_cast<uint64_t>(share.first + row) * width],
                      rows * width);
    partial_ring_.Publish();
  }

  __aicore__ inline void WriteResults(const Step& step, const Share& share) {
    const FloatTensor lse =
        staging_[staging_ring_.Acquire() * staging_elements_].template ReinterpretCast<float>();
    output_.Close(softmax_.Offset(step.slot), softmax_.Sum(step.slot), lse, share.count);
    staging_ring_.Publish();
    StoreLse(step, share);
    for (uint32_t row = 0; row < share.count; row += result_rows_) {
      const uint32_t rows = Smaller(result_rows_, share.count - row);
      output_.Finish(staging_[staging_ring_.Acquire() * staging_elements_], row, rows);
      staging_ring_.Publish();
      StoreOutput(step, share.first + row, rows);
    }
  }

  // MTE3: staged log-sum-exps of this core's share.
  __aicore__ inline void StoreLse(const Step& step, const Share& share) {
    results_.StoreLse(
        step, share.first, share.count,
        staging_[staging_ring_.Await() * staging_elements_].template ReinterpretCast<float>());
    staging_ring_.Release();
  }

  // MTE3: staged output rows, `row` counted from the band's first.
  __aicore__ inline void StoreOutput(const Step& step, uint32_t row, uint32_t rows) {
    results_.StoreOutput(step, row, rows, staging_[staging_ring_.Await() * staging_elements_]);
    staging_ring_.Release();
  }

  // Tasks in which no row sees a key have no steps: zeros, and a log-sum-exp of minus infinity.
  __aicore__ inline void WriteRowsWithoutKeys() {
    Step step{};
    for (uint32_t round = 0; tasks_.Get(round, step); ++round) {
      for (uint32_t band = 0; band < tasks_.Bands(); ++band) {
        tasks_.Band(band, step);
        const Share share = ShareOf(step);
        if (tasks_.Range(band).Tiles() == 0 && share.count != 0) {
          WriteNothingSeen(step, share);
        }
      }
    }
  }

  __aicore__ inline void WriteNothingSeen(const Step& step, const Share& share) {
    constexpr uint32_t kMinusInfinity = 0xFF800000u;
    const AscendC::LocalTensor<uint32_t> lse =
        staging_[staging_ring_.Acquire() * staging_elements_].template ReinterpretCast<uint32_t>();
    AscendC::Duplicate(lse, kMinusInfinity, kRepeatFloats, 1, 1, 8);
    staging_ring_.Publish();
    StoreLse(step, share);
    for (uint32_t row = 0; row < share.count; row += result_rows_) {
      const uint32_t rows = Smaller(result_rows_, share.count - row);
      // Zero has the same bits in every type.
      AscendC::Duplicate(staging_[staging_ring_.Acquire() * staging_elements_]
                             .template ReinterpretCast<uint16_t>(),
                         static_cast<uint16_t>(0),
                         static_cast<int32_t>(rows * tiling_.value_dim_padded *
                                              (sizeof(Element) / sizeof(uint16_t))));
      staging_ring_.Publish();
      StoreOutput(step, share.first + row, rows);
    }
  }

  __aicore__ inline void OpenRings() {
    score_ring_.Open(pipe_, kScoreSlots);
    partial_ring_.Open(pipe_, kPartialSlots);
    staging_ring_.Open(pipe_, tiling_.weight_slots);
  }

  __aicore__ inline void CloseRings() {
    score_ring_.Close(pipe_);
    partial_ring_.Close(pipe_);
    staging_ring_.Close(pipe_);
  }

  static constexpr uint32_t kScoreSlots = 2;
  static constexpr uint32_t kPartialSlots = 2;

  AscendC::TPipe& pipe_;
  const FlashAttentionTiling& tiling_;
  ForwardTasks tasks_;
  CubeVectorBridge<Element> bridge_;
  ResultTensors<Element> results_;

  UbArena arena_;
  FloatTensor scores_;
  FloatTensor partials_;
  AscendC::LocalTensor<Element> staging_;  // weights, outputs and log-sum-exps on their way out
  ScoreTerms<Element> terms_;
  SoftmaxState softmax_;
  OutputAccumulator output_;

  SlotRing<AscendC::HardEvent::MTE2_V, AscendC::HardEvent::V_MTE2> score_ring_;
  SlotRing<AscendC::HardEvent::MTE2_V, AscendC::HardEvent::V_MTE2> partial_ring_;
  SlotRing<AscendC::HardEvent::V_MTE3, AscendC::HardEvent::MTE3_V> staging_ring_;

  uint32_t member_ = 0;
  uint32_t score_elements_ = 0;
  uint32_t partial_elements_ = 0;
  uint32_t staging_elements_ = 0;
  uint32_t result_rows_ = 0;  // of the output, written at a time
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_FORWARD_LOOP_VECTOR_H
