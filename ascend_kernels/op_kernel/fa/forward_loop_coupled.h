// The forward pass where cube and vector unit are one core. Per strip of 64 keys, five stages, each
// on another strip: scores (cube), fetch, scale, exponentiate, narrow (vector unit), and the
// product with the values (cube), summed over the whole task in L0C.
#ifndef ASCENDFA_FA_FORWARD_LOOP_COUPLED_H
#define ASCENDFA_FA_FORWARD_LOOP_COUPLED_H

#include "../arch/capacities.h"
#include "../arch/cube_vector_bridge.h"
#include "../arch/tile_copy.h"
#include "forward_loop.h"
#include "kernel_operator.h"
#include "slot_ring.h"
#include "softmax_reference.h"
#include "strip_output.h"
#include "strip_softmax.h"
#include "tile_loader.h"

namespace ascendfa {

class ForwardLoopCoupled {
 public:
  __aicore__ inline ForwardLoopCoupled(AscendC::TPipe& pipe, const FlashAttentionTiling& tiling)
      : pipe_(pipe), tiling_(tiling), loader_(pipe, tiling), output_(tiling) {}

  __aicore__ inline void Init(GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR out, GM_ADDR lse,
                              uint32_t group) {
    tasks_ = ForwardTasks(tiling_, group);
    dim_ = tiling_.head_dim_padded;
    value_dim_ = tiling_.value_dim_padded;
    const uint32_t m = tiling_.block_m;
    const uint32_t output_elements = kStripKeys * value_dim_;
    const uint32_t weight_elements = m * kStripKeys;
    strip_elements_ = weight_elements;

    arena_.Init(pipe_, tiling_.vector_bytes);
    scores_ = arena_.Take<float>(Larger(kStages * strip_elements_, output_elements));
    staging_.Init(pipe_, arena_, Larger(weight_elements, output_elements));
    mask_.Init(arena_);
    const AscendC::LocalTensor<float> scratch = arena_.Take<float>(m * kFractalRows);
    const AscendC::LocalTensor<half> narrow_scratch = arena_.Take<half>(m * kFractalRows);
    reference_.Init(arena_, m, tiling_.scale < 0.0f, scratch, narrow_scratch);
    output_.Init(out, lse, arena_, scratch, narrow_scratch);

    pipe_.InitBuffer(l1_buffer_, tiling_.cube_bytes);
    pipe_.InitBuffer(l0a_buffer_, kL0aBytes);
    pipe_.InitBuffer(l0b_buffer_, kL0bBytes);
    pipe_.InitBuffer(l0c_buffer_, kL0cBytes);
    operand_ = l1_buffer_.Get<half>();
    loader_.Init(q, k, v, arena_, operand_[weight_elements]);
    queries_ = l0a_buffer_.Get<half>();
    row_reference_ = queries_[kQueryElements];
    weights_ = row_reference_[m * kFractalRows];
    right_ = l0b_buffer_.Get<half>();
    ones_ = right_[kRightSlots * kRightElements];
    constants_ = ones_[kStripKeys * kFractalRows];
    products_ = l0c_buffer_.Get<float>();
    outputs_ = products_[kScoreSlots * strip_elements_];
    output_elements_ = m * (value_dim_ + kFractalRows);
    AscendC::PipeBarrier<PIPE_V>();
  }

  __aicore__ inline void Run() {
    OpenRings();
    LoadConstants();
    WriteTasksWithoutKeys();
    StepCursor cursor(tiling_, tasks_);
    while (cursor.Valid()) {
      const StepCursor begin = cursor;
      const uint32_t end = begin.Round() + StripOutput::kChecks;
      loader_.Start(begin, end);
      Tasks(cursor, begin.Round(), end, true);
      Repair(begin, end);
    }
    CloseRings();
  }

 private:
  __aicore__ inline static uint32_t Larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

  // Tasks whose reference, taken from their first strip, turned out too low: again, with the
  // maximum of all their scores.
  __aicore__ inline void Repair(const StepCursor& begin, uint32_t end) {
    AscendC::PipeBarrier<PIPE_ALL>();
    StepCursor cursor = begin;
    while (cursor.Valid() && cursor.Round() < end) {
      const uint32_t round = cursor.Round();
      if (!output_.Failed(round - begin.Round())) {
        cursor.SkipTask();
        continue;
      }
      StepCursor first_pass = cursor;
      loader_.Start(cursor, round + 1);
      FoldTask(first_pass);
      loader_.Start(cursor, round + 1);
      Tasks(cursor, begin.Round(), round + 1, false);
      AscendC::PipeBarrier<PIPE_ALL>();
    }
  }

  // Queries to L0A. What multiplied the ones before has ended with a release of the left ring.
  __aicore__ inline void LoadQueries(const Step& step, uint32_t slot) {
    const uint32_t m = AlignUp(step.rows, kFractalRows);
    left_ring_.Acquire();
    for (uint32_t col = 0; col < dim_; col += kCubeEdge) {
      LoadLeft(queries_[col * m], loader_.Queries(slot), m, col, Smaller(kCubeEdge, dim_ - col));
    }
    PassLeft();
  }
  __aicore__ inline void ReleaseQueries() {
    left_ring_.Acquire();
    PassLeft();
  }
  __aicore__ inline void PassLeft() {
    left_ring_.Publish();
    left_ring_.Await();
    left_ring_.Release();
  }

  __aicore__ inline Strip Describe(const Step& step, uint32_t slot, uint32_t index) const {
    Strip strip{};
    strip.rows = AlignUp(step.rows, kFractalRows);
    strip.keys = Smaller(kStripKeys, step.keys - index * kStripKeys);
    strip.columns = AlignUp(strip.keys, kFractalRows);
    strip.key = step.key + index * kStripKeys;
    strip.row = step.row;
    strip.ends_early = step.ends_early;
    strip.starts_late = step.starts_late;
    strip.tile_slot = slot;
    strip.index = index;
    strip.tile_rows = AlignUp(step.keys, kFractalRows);
    strip.first = step.first && index == 0;
    strip.ends_tile = (index + 1) * kStripKeys >= step.keys;
    strip.last = step.last && strip.ends_tile;
    return strip;
  }

  // The next tile's slot, where nothing holds one back.
  __aicore__ inline uint32_t NextTile() {
    loader_.Prepare();
    return loader_.AwaitTile();
  }

  // S strip = Q block x K strip^T, minus the reference once there is one.
  __aicore__ inline void Scores(const Strip& strip, bool referred) {
    const AscendC::LocalTensor<float> product = products_[score_ring_.Acquire() * strip_elements_];
    const AscendC::LocalTensor<half> keys = loader_.Keys(strip.tile_slot, strip.index);
    for (uint32_t col = 0; col < dim_; col += kCubeEdge) {
      const uint32_t dims = Smaller(kCubeEdge, dim_ - col);
      LoadRightTransposed(right_[right_ring_.Acquire() * kRightElements], keys, strip.columns, col,
                          dims);
      right_ring_.Publish();
      Multiply(product, queries_[col * strip.rows], right_[right_ring_.Await() * kRightElements],
               strip.rows, strip.columns, dims, col != 0);
      right_ring_.Release();
    }
    if (referred) {
      Multiply(product, row_reference_, constants_, strip.rows, strip.columns, kFractalRows, true);
    }
    score_ring_.Publish();
  }

  __aicore__ inline void FetchScores(const AscendC::LocalTensor<float>& dst, const Strip& strip) {
    FetchProduct(dst, products_[score_ring_.Await() * strip_elements_], 0, strip.rows, strip.rows,
                 strip.columns);
    score_ring_.Release();
  }

  // Takes a strip's scores into the reference.
  __aicore__ inline void FoldStrip(const Strip& strip, const AscendC::LocalTensor<float>& slice) {
    FetchScores(slice, strip);
    AscendC::PipeBarrier<PIPE_V>();
    reference_.Fold(slice, strip, mask_, tasks_.Lengths());
  }

  // Hands the reference to the cube.
  __aicore__ inline void CloseReference(uint32_t rows, const Step& step) {
    const AscendC::LocalTensor<half> staged = staging_.Acquire();
    reference_.Close(staged, rows);
    staging_.Publish();
    output_.NoteReference(step, reference_.Values());
    HandOver(rows, kFractalRows);
    LoadStraight(row_reference_, LoadHandedOver(), rows / kFractalRows);
    PublishLeft();
    left_ring_.Release();
  }

  // MTE3: a staged left operand to L1.
  __aicore__ inline void HandOver(uint32_t rows, uint32_t columns) {
    operand_ring_.Acquire();
    HandOverLeft(operand_, staging_.Await(), rows, columns);
    staging_.Release();
    operand_ring_.Publish();
  }

  // MTE1, around the load of that operand to L0A.
  __aicore__ inline AscendC::LocalTensor<half> LoadHandedOver() {
    operand_ring_.Await();
    left_ring_.Acquire();
    return operand_;
  }
  __aicore__ inline void PublishLeft() {
    operand_ring_.Release();
    left_ring_.Publish();
    left_ring_.Await();
  }

  // The maximum of all the task's scores; leaves the reference open.
  __aicore__ inline void FoldTask(StepCursor& cursor) {
    const uint32_t round = cursor.Round();
    reference_.Reset(AlignUp(cursor.Current().rows, kFractalRows));
    AscendC::PipeBarrier<PIPE_V>();
    for (; cursor.Valid() && cursor.Round() == round; cursor.Next()) {
      const Step& step = cursor.Current();
      const uint32_t slot = NextTile();
      if (step.first) {
        LoadQueries(step, slot);
      }
      for (uint32_t index = 0; index * kStripKeys < step.keys; ++index) {
        const Strip strip = Describe(step, slot, index);
        Scores(strip, false);
        FoldStrip(strip, scores_);
      }
      loader_.AwaitValues();
      loader_.ReleaseTile();
    }
    ReleaseQueries();
  }

  // A task's first tile has been awaited, its queries loaded, its reference closed.
  struct Opened {
    Step step;
    uint32_t slot;
    bool ready;
  };
  // A task whose output is complete in L0C, or soon will be.
  struct Finished {
    Step step;
    uint32_t check;
    bool waiting;
  };

  __aicore__ inline void OpenTask(const Step& step, Opened& task) {
    task.step = step;
    task.slot = loader_.AwaitTile();
    LoadQueries(step, task.slot);
  }

  // All tasks from the cursor's to the one before `end`. The next task's first scores, and from
  // them its reference, come into being while the last strips of a task are still on their way;
  // the output of a task is written when the first strips of the next are.
  // `fresh`: the reference is the maximum of a task's first strip; otherwise of what was folded.
  __aicore__ inline void Tasks(StepCursor& cursor, uint32_t begin, uint32_t end, bool fresh) {
    Opened opened{};
    Finished finished{};
    loader_.Prepare();
    OpenTask(cursor.Current(), opened);
    if (fresh) {
      reference_.Reset(AlignUp(opened.step.rows, kFractalRows));
      AscendC::PipeBarrier<PIPE_V>();
      const Strip strip = Describe(opened.step, opened.slot, 0);
      Scores(strip, false);
      FoldStrip(strip, scores_);
    }
    CloseReference(AlignUp(opened.step.rows, kFractalRows), opened.step);
    output_.KeepReference();
    while (cursor.Valid() && cursor.Round() < end) {
      const Step task = cursor.Current();
      const uint32_t check = cursor.Round() - begin;
      Turns(cursor, end, opened, finished);
      finished = Finished{task, check, true};
      if (opened.ready) {
        opened.ready = false;
        CloseReference(AlignUp(opened.step.rows, kFractalRows), opened.step);
      } else if (cursor.Valid() && cursor.Round() < end) {
        // The next task's first tile had to wait for this one's last.
        loader_.Prepare();
        OpenTask(cursor.Current(), opened);
        reference_.Reset(AlignUp(opened.step.rows, kFractalRows));
        AscendC::PipeBarrier<PIPE_V>();
        const Strip strip = Describe(opened.step, opened.slot, 0);
        Scores(strip, false);
        FoldStrip(strip, scores_);
        CloseReference(AlignUp(opened.step.rows, kFractalRows), opened.step);
      }
    }
    WriteFinished(finished);
  }

  __aicore__ inline void LoadAhead(uint32_t pieces) {
    for (uint32_t i = 0; i < pieces; ++i) {
      loader_.Advance();
    }
  }

  __aicore__ inline void WriteFinished(Finished& finished) {
    if (!finished.waiting) {
      return;
    }
    const AscendC::LocalTensor<float> product = outputs_[output_ring_.Await() * output_elements_];
    output_.Write(finished.step, product, scores_, staging_, finished.check);
    output_ring_.Release();
    finished.waiting = false;
  }

  // One task; leaves the cursor at the next, which it opens if it can.
  __aicore__ inline void Turns(StepCursor& cursor, uint32_t end, Opened& opened,
                               Finished& finished) {
    const AscendC::LocalTensor<float> product = outputs_[output_ring_.Acquire() * output_elements_];
    Strip strips[kHistory];  // by turn
    for (uint32_t i = 0; i < kHistory; ++i) {
      strips[i] = Strip{};
    }
    Strip first_of_next{};
    uint32_t slot = opened.slot;
    uint32_t index = 0;
    bool entered = true;   // the cursor's tile
    uint32_t drained = 0;  // turns since the last strip's first
    for (uint32_t turn = 0; drained < kLag; ++turn) {
      Strip& strip = strips[turn % kHistory];
      strip = Strip{};
      entered = entered || (drained == 0 && loader_.Prepare());
      if (drained == 0 && entered) {
        slot = index == 0 && turn != 0 ? loader_.AwaitTile() : slot;
        strip = Describe(cursor.Current(), slot, index);
        Scores(strip, true);
        ++index;
        if (strip.ends_tile) {
          index = 0;
          entered = false;
          cursor.Next();
        }
      }
      if (strip.last) {
        ReleaseQueries();
      }
      drained += strip.last || drained != 0 ? 1 : 0;
      if (turn == kWriteTurn) {
        WriteFinished(finished);
      }
      VectorStages(strips, turn);
      if (drained == kOpenTurn && cursor.Valid() && cursor.Round() < end && loader_.Prepare()) {
        opened.ready = true;
        OpenTask(cursor.Current(), opened);
        first_of_next = Describe(opened.step, opened.slot, 0);
        Scores(first_of_next, false);
        reference_.Reset(first_of_next.rows);
      }
      if (drained == kOpenTurn + 1 && opened.ready) {
        // No strip is fetched any more: the slice of this turn is free.
        FoldStrip(first_of_next, Slice(turn + kHistory - 1));
      }
      const Strip& weighted = strips[(turn + kHistory - (kLag - 1)) % kHistory];
      if (weighted.columns != 0) {
        Values(weighted, product);
      }
      // The last turns are short.
      LoadAhead(drained == 0 ? kLoadsPerTurn : kLoadsPerTurn - 1);
    }
    WriteFinished(finished);
    output_ring_.Publish();
  }

  // One stage of each of four strips; they depend on nothing but the turn before.
  __aicore__ inline void VectorStages(const Strip* strips, uint32_t turn) {
    const uint32_t now = turn + kHistory;
    const Strip& fetched = strips[(now - 1) % kHistory];
    if (fetched.columns != 0) {
      FetchScores(Slice(now - 1), fetched);
    }
    const Strip& exponentiated = strips[(now - 3) % kHistory];
    if (exponentiated.columns != 0) {
      ExponentiateStrip(Slice(now - 3), exponentiated);
    }
    const Strip& narrowed = strips[(now - 4) % kHistory];
    if (narrowed.columns != 0) {
      NarrowStrip(staging_.Acquire(), Slice(now - 4), narrowed);
      staging_.Publish();
    }
    const Strip& scaled = strips[(now - 2) % kHistory];
    if (scaled.columns != 0) {
      ScaleStrip(Slice(now - 2), scaled, tiling_.scale);
      if (StripMask::Needed(scaled)) {
        AscendC::PipeBarrier<PIPE_V>();
        mask_.Apply(Slice(now - 2), scaled, tasks_.Lengths());
      }
    }
    AscendC::PipeBarrier<PIPE_V>();
  }

  // O += P strip x V strip, and the sums of the weights' rows beside it.
  __aicore__ inline void Values(const Strip& strip, const AscendC::LocalTensor<float>& product) {
    HandOver(strip.rows, strip.columns);
    if (strip.index == 0) {
      loader_.AwaitValues();
    }
    const AscendC::LocalTensor<half> values = loader_.Values(strip.tile_slot);
    // The values first: the weights have to wait until those before them are used up.
    for (uint32_t col = 0; col < value_dim_; col += kCubeEdge) {
      const uint32_t dims = Smaller(kCubeEdge, value_dim_ - col);
      LoadRight(right_[right_ring_.Acquire() * kRightElements], values, strip.tile_rows,
                strip.index * kStripKeys, strip.columns, col, dims);
      right_ring_.Publish();
    }
    LoadStraight(weights_, LoadHandedOver(),
                 strip.rows / kFractalRows * (strip.columns / kFractalRows));
    PublishLeft();
    for (uint32_t col = 0; col < value_dim_; col += kCubeEdge) {
      const uint32_t dims = Smaller(kCubeEdge, value_dim_ - col);
      Multiply(product[col * strip.rows], weights_, right_[right_ring_.Await() * kRightElements],
               strip.rows, dims, strip.columns, !strip.first);
      right_ring_.Release();
    }
    Multiply(product[value_dim_ * strip.rows], weights_, ones_, strip.rows, kFractalRows,
             strip.columns, !strip.first);
    left_ring_.Release();
    if (strip.ends_tile) {
      loader_.ReleaseTile();
    }
  }

  __aicore__ inline AscendC::LocalTensor<float> Slice(uint32_t turn) const {
    return scores_[turn % kStages * strip_elements_];
  }

  // Right operands that never change: ones to sum by, and the reference's factors.
  __aicore__ inline void LoadConstants() {
    AscendC::PipeBarrier<PIPE_V>();
    reference_.Constants(staging_.Acquire(), kStripKeys);
    staging_.Publish();
    operand_ring_.Acquire();
    AscendC::DataCopy(operand_, staging_.Await(), kStripKeys * kFractalRows);
    staging_.Release();
    operand_ring_.Publish();
    LoadStraight(constants_, LoadHandedOver(), kStripKeys / kFractalRows);
    const AscendC::InitConstValueParams<half> one(kStripKeys / kFractalRows,
                                                  static_cast<half>(1.0f));
    AscendC::Fill(ones_, one);
    PublishLeft();
    left_ring_.Release();
  }

  __aicore__ inline void WriteTasksWithoutKeys() {
    Step step{};
    BlockRange range;
    for (uint32_t round = 0; tasks_.Get(round, step, range); ++round) {
      if (range.Tiles() == 0) {
        output_.WriteWithoutKeys(step, staging_);
      }
    }
  }

  __aicore__ inline void OpenRings() {
    left_ring_.Open(pipe_, 1);
    right_ring_.Open(pipe_, kRightSlots);
    operand_ring_.Open(pipe_, 1);
    score_ring_.Open(pipe_, kScoreSlots);
    output_ring_.Open(pipe_, kOutputSlots);
  }

  __aicore__ inline void CloseRings() {
    left_ring_.Close(pipe_);
    right_ring_.Close(pipe_);
    operand_ring_.Close(pipe_);
    score_ring_.Close(pipe_);
    output_ring_.Close(pipe_);
    staging_.Close(pipe_);
    loader_.Close();
  }

  static constexpr uint32_t kLag = 6;  // turns from a strip's scores to its values, both counted
  static constexpr uint32_t kHistory = 8;  // strips remembered, at least the lag
  static constexpr uint32_t kLoadsPerTurn = 2;
  static constexpr uint32_t kWriteTurn = 1;  // the task before is written in
  static constexpr uint32_t kOpenTurn = 2;   // of those drained, the next task is opened in
  static constexpr uint32_t kRightElements = kStripKeys * kCubeEdge;

  AscendC::TPipe& pipe_;
  const FlashAttentionTiling& tiling_;
  ForwardTasks tasks_;
  UbArena arena_;
  TileLoader loader_;
  StagingRing staging_;
  StripMask mask_;
  SoftmaxReference reference_;
  StripOutput output_;

  AscendC::TBuf<AscendC::TPosition::A1> l1_buffer_;
  AscendC::TBuf<AscendC::TPosition::A2> l0a_buffer_;
  AscendC::TBuf<AscendC::TPosition::B2> l0b_buffer_;
  AscendC::TBuf<AscendC::TPosition::CO1> l0c_buffer_;
  AscendC::LocalTensor<float> scores_;  // strips at their stages
  AscendC::LocalTensor<half> operand_;  // a left operand on its way from UB
  AscendC::LocalTensor<half> queries_;  // L0A, with the next two
  AscendC::LocalTensor<half> row_reference_;
  AscendC::LocalTensor<half> weights_;
  AscendC::LocalTensor<half> right_;  // L0B, with the next two
  AscendC::LocalTensor<half> ones_;
  AscendC::LocalTensor<half> constants_;
  AscendC::LocalTensor<float> products_;  // L0C, with the next
  AscendC::LocalTensor<float> outputs_;

  SlotRing<AscendC::HardEvent::MTE1_M, AscendC::HardEvent::M_MTE1> left_ring_;
  SlotRing<AscendC::HardEvent::MTE1_M, AscendC::HardEvent::M_MTE1> right_ring_;
  SlotRing<AscendC::HardEvent::MTE3_MTE1, AscendC::HardEvent::MTE1_MTE3> operand_ring_;
  SlotRing<AscendC::HardEvent::M_V, AscendC::HardEvent::V_M> score_ring_;
  SlotRing<AscendC::HardEvent::M_V, AscendC::HardEvent::V_M> output_ring_;

  uint32_t dim_ = 0;
  uint32_t value_dim_ = 0;
  uint32_t strip_elements_ = 0;
  uint32_t output_elements_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_FORWARD_LOOP_COUPLED_H
