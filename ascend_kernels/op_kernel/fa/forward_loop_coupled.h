// The forward pass where cube and vector unit are one core. Per strip of 64 keys, five stages, each
// on another strip: scores (cube), fetch, scale, exponentiate, narrow (vector unit), and the
// product with the values (cube), summed over the whole task in L0C.
#ifndef ASCENDFA_FA_FORWARD_LOOP_COUPLED_H
#define ASCENDFA_FA_FORWARD_LOOP_COUPLED_H

#include "../arch/capacities.h"
#include "../arch/cube_vector_bridge.h"
#include "coupled_cube.h"
#include "forward_loop.h"
#include "kernel_operator.h"
#include "softmax_reference.h"
#include "strip_output.h"
#include "strip_softmax.h"
#include "strip_terms.h"
#include "task_cursor.h"

namespace ascendfa {

class ForwardLoopCoupled : private CoupledCube {
 public:
  __aicore__ inline ForwardLoopCoupled(AscendC::TPipe& pipe, const FlashAttentionTiling& tiling)
      : CoupledCube(pipe, tiling), output_(tiling) {}

  __aicore__ inline void Init(GM_ADDR q, GM_ADDR k, GM_ADDR v, const ScoreInputs& inputs,
                              GM_ADDR out, GM_ADDR lse, uint32_t group) {
    group_ = group;
    opening_ = OpeningOf(tiling_);
    tasks_ = ForwardTasks(tiling_, group);
    if (StripOutput::SharesLines(tiling_, out, lse)) {
      FlashAttentionTiling alone = tiling_;
      alone.groups = 1;
      tasks_ = ForwardTasks(alone, group);
      tasks_.Select(Rounds{0, group == 0 ? ~0u : 0});
    }
    const uint32_t m = tiling_.block_m;
    const uint32_t output_elements = kStripKeys * value_dim_;

    arena_.Init(pipe_, tiling_.vector_bytes);
    scores_ = arena_.Take<float>(Larger(kStages * strip_elements_, output_elements));
    staging_.Init(pipe_, arena_, Larger(strip_elements_, output_elements));
    mask_.Init(arena_);
    const AscendC::LocalTensor<float> scratch = arena_.Take<float>(m * kFractalRows);
    const AscendC::LocalTensor<half> narrow_scratch = arena_.Take<half>(m * kFractalRows);
    terms_.Init(tiling_, inputs, arena_);
    exact_ = terms_.Any();
    reference_.Init(arena_, m, tiling_.scale, exact_, scratch, narrow_scratch);
    output_.Init(out, lse, arena_, narrow_scratch);

    InitCube(q, k, v, arena_);
  }

  __aicore__ inline void Run() {
    OpenRings();
    terms_.Open(pipe_);
    output_.Open(pipe_);
    WriteConstants();
    TaskCursor cursor(tasks_, group_, opening_);
    while (cursor.Valid()) {
      const TaskCursor begin = cursor;
      const uint32_t end = begin.Round() + kChecks;
      loader_.Start(begin, end);
      Tasks(cursor, begin.Round(), end, true);
      Repair(begin, end);
    }
    terms_.Close(pipe_);
    output_.Close(pipe_);
    CloseRings();
  }

 private:
  __aicore__ inline static uint32_t Larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

  // Tasks whose reference, taken from one strip, turned out too low, or beyond what an fp16 number
  // tells apart: again, with the maximum of all their scores, subtracted by the vector unit.
  __aicore__ inline void Repair(const TaskCursor& begin, uint32_t end) {
    Sync<AscendC::HardEvent::V_S>();
    TaskCursor cursor = begin;
    while (cursor.Valid() && cursor.Round() < end) {
      const uint32_t round = cursor.Round();
      if (!output_.Failed(round - begin.Round(), exact_)) {
        cursor.SkipTask();
        continue;
      }
      exact_ = true;
      TaskCursor first_pass = cursor;
      loader_.Start(cursor, round + 1);
      FoldTask(first_pass);
      loader_.Start(cursor, round + 1);
      Tasks(cursor, begin.Round(), round + 1, false);
      exact_ = terms_.Any();
    }
    // The next tasks' checks take the place of those just read.
    Sync<AscendC::HardEvent::S_V>();
  }

  // The next tile's slot, where nothing holds one back.
  __aicore__ inline uint32_t NextTile() {
    loader_.Prepare();
    return loader_.AwaitTile();
  }

  // From products to scores, of which `factor` is all but the terms. The caller owes a barrier.
  __aicore__ inline void Finish(const AscendC::LocalTensor<float>& slice, const Strip& strip,
                                float factor) {
    if (terms_.Any()) {
      terms_.Apply(slice, strip, tasks_.Lengths());
    } else if (factor != 1.0f) {
      ScaleStrip(slice, strip, factor);
    }
    if (StripMask::Needed(strip)) {
      AscendC::PipeBarrier<PIPE_V>();
      mask_.Apply(slice, strip, tasks_.Lengths());
    }
  }

  // Takes a strip's scores into the reference; `only`: of which it is all.
  __aicore__ inline void FoldStrip(const Strip& strip, const AscendC::LocalTensor<float>& slice,
                                   bool only) {
    if (only && exact_) {
      reference_.Reset(strip.rows);
    }
    FetchScores(slice, strip);
    AscendC::PipeBarrier<PIPE_V>();
    Finish(slice, strip, exact_ ? tiling_.scale : 1.0f / reference_.Unit());
    AscendC::PipeBarrier<PIPE_V>();
    if (only && !exact_) {
      reference_.FoldOnly(slice, strip);
    } else {
      reference_.Fold(slice, strip);
    }
  }

  // Hands the reference to whoever subtracts it.
  __aicore__ inline void CloseReference(uint32_t rows, const Step& step) {
    if (exact_) {
      reference_.CloseExact(rows);
      output_.NoteReference(step, reference_.Values(), 1.0f);
      return;
    }
    const AscendC::LocalTensor<half> staged = staging_.Acquire();
    reference_.Close(staged, rows);
    staging_.Publish();
    output_.NoteReference(step, reference_.Values(), tiling_.scale * reference_.Unit());
    HandOver(rows, kFractalRows);
    LoadHandedOver(row_reference_, rows / kFractalRows);
  }

  // The maximum of all the task's scores; leaves the reference open.
  __aicore__ inline void FoldTask(TaskCursor& cursor) {
    const uint32_t round = cursor.Round();
    reference_.Reset(AlignUp(cursor.Current().rows, kFractalRows));
    for (; cursor.Valid() && cursor.Round() == round; cursor.Next()) {
      const Step& step = cursor.Current();
      const uint32_t slot = NextTile();
      if (step.first) {
        LoadQueries(step, slot);
      }
      for (uint32_t index = 0; index * kStripKeys < step.keys; ++index) {
        const Strip strip = Describe(step, slot, index);
        terms_.Load(strip);
        Scores(strip, false);
        FoldStrip(strip, scores_, false);
      }
      loader_.AwaitValues(step.keys);
      loader_.ReleaseKeys();
      loader_.ReleaseValues();
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

  // The reference of an opened task, where there is nothing to do meanwhile.
  __aicore__ inline void FoldFirst(const Opened& task) {
    const Strip strip = DescribeShared(task.step, task.slot, tasks_.Lengths(), opening_);
    terms_.Load(strip);
    Scores(strip, false);
    FoldStrip(strip, scores_, true);
  }

  // All tasks from the cursor's to the one before `end`. The next task's first scores, and from
  // them its reference, come into being while the last strips of a task are still on their way;
  // the output of a task is written when the first strips of the next are.
  // `fresh`: the reference is the maximum of a task's first strip; otherwise of what was folded.
  __aicore__ inline void Tasks(TaskCursor& cursor, uint32_t begin, uint32_t end, bool fresh) {
    Opened opened{};
    Finished finished{};
    loader_.Prepare();
    OpenTask(cursor.Current(), opened);
    if (fresh) {
      FoldFirst(opened);
    }
    CloseReference(AlignUp(opened.step.rows, kFractalRows), opened.step);
    output_.KeepReference();
    while (cursor.Valid() && cursor.Round() < end) {
      const Step task = cursor.Current();
      const uint32_t check = fresh ? cursor.Round() - begin : StripOutput::kUnchecked;
      Turns(cursor, end, opened, finished);
      finished = Finished{task, check, true};
      if (opened.ready) {
        opened.ready = false;
        CloseReference(AlignUp(opened.step.rows, kFractalRows), opened.step);
      } else if (cursor.Valid() && cursor.Round() < end) {
        // The next task's first tile had to wait for this one's last.
        loader_.Prepare();
        OpenTask(cursor.Current(), opened);
        FoldFirst(opened);
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
    totals_ready_.Await();
    output_.Write(finished.step, totals_, scores_, staging_, finished.check);
    finished.waiting = false;
  }

  // One task; leaves the cursor at the next, which it opens if it can.
  __aicore__ inline void Turns(TaskCursor& cursor, uint32_t end, Opened& opened,
                               Finished& finished) {
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
        strip.blind = exact_ ? 0 : StripMask::BlindRows(strip, tasks_.Lengths());
        Scores(strip, !exact_);
        if (strip.ends_tile) {
          loader_.ReleaseKeys();
        }
        ++index;
        if (strip.ends_tile) {
          index = 0;
          entered = false;
          cursor.Next();
        }
      }
      drained += strip.last || drained != 0 ? 1 : 0;
      if (turn == kWriteTurn) {
        WriteFinished(finished);
      }
      VectorStages(strips, turn);
      if (strip.columns != 0) {
        terms_.Load(strip);
      }
      if (drained == kOpenTurn && cursor.Valid() && cursor.Round() < end && loader_.Prepare()) {
        opened.ready = true;
        OpenTask(cursor.Current(), opened);
        first_of_next = DescribeShared(opened.step, opened.slot, tasks_.Lengths(), opening_);
        terms_.Load(first_of_next);
        Scores(first_of_next, false);
      }
      if (drained == kOpenTurn + 1 && opened.ready) {
        // No strip is fetched any more: the slice of this turn is free.
        FoldStrip(first_of_next, Slice(turn + kHistory - 1), true);
      }
      const Strip& weighted = strips[(turn + kHistory - (kLag - 1)) % kHistory];
      if (weighted.columns != 0) {
        Values(weighted);
      }
      // The last turns are short.
      LoadAhead(drained == 0 ? kLoadsPerTurn : kLoadsPerTurn - 1);
    }
    totals_ready_.Publish();
  }

  // One stage of each of four strips; they depend on nothing but the turn before.
  __aicore__ inline void VectorStages(const Strip* strips, uint32_t turn) {
    const uint32_t now = turn + kHistory;
    const Strip& fetched = strips[(now - 1) % kHistory];
    if (fetched.columns != 0) {
      FetchScores(Slice(now - 1), fetched);
      if (fetched.last) {
        ReleaseQueries();
      }
    }
    const Strip& exponentiated = strips[(now - 3) % kHistory];
    if (exponentiated.columns != 0) {
      ExponentiateStrip(Slice(now - 3), exponentiated.Seeing());
    }
    const Strip& narrowed = strips[(now - 4) % kHistory];
    if (narrowed.columns != 0) {
      NarrowStrip(staging_.Acquire(), Slice(now - 4), narrowed);
      staging_.Publish();
    }
    const Strip scaled = strips[(now - 2) % kHistory].Seeing();
    if (scaled.columns != 0) {
      Finish(Slice(now - 2), scaled, tiling_.scale);
      if (exact_) {
        AscendC::PipeBarrier<PIPE_V>();
        reference_.Subtract(Slice(now - 2), scaled);
      }
    }
    AscendC::PipeBarrier<PIPE_V>();
  }

  __aicore__ inline AscendC::LocalTensor<float> Slice(uint32_t turn) const {
    return scores_[turn % kStages * strip_elements_];
  }

  // What no data changes: the constants of the products, and the results of tasks in which no row
  // sees a key. It leaves by way of the scores' place, before there are any: those multiplied first
  // come after all that has been stored here, as their keys do.
  __aicore__ inline void WriteConstants() {
    const AscendC::LocalTensor<half> zeros = scores_.template ReinterpretCast<half>();
    const AscendC::LocalTensor<half> factors = zeros[kStripKeys * value_dim_];
    Step step{};
    BlockRange range;
    bool blind = false;
    for (uint32_t round = 0; tasks_.Get(round, step, range); ++round) {
      blind = blind || range.Tiles() == 0;
    }
    // A barrier lies within, between what Init wrote and its first use.
    reference_.Constants(factors, kStripKeys);
    if (blind) {
      output_.FillWithoutKeys(zeros);
    }
    Sync<AscendC::HardEvent::V_MTE3>();
    LoadConstants(factors);
    for (uint32_t round = 0; blind && tasks_.Get(round, step, range); ++round) {
      if (range.Tiles() == 0) {
        output_.WriteWithoutKeys(step, zeros);
      }
    }
  }

  static constexpr uint32_t kLag = 6;  // turns from a strip's scores to its values, both counted
  static constexpr uint32_t kHistory = 8;  // strips remembered, at least the lag
  static constexpr uint32_t kLoadsPerTurn = 2;
  static constexpr uint32_t kWriteTurn = 1;  // the task before is written in
  static constexpr uint32_t kOpenTurn = 2;   // of those drained, the next task is opened in

  uint32_t group_ = 0;
  Opening opening_ = Opening::kAny;
  ForwardTasks tasks_;
  UbArena arena_;
  StripMask mask_;
  StripTerms terms_;
  SoftmaxReference reference_;
  StripOutput output_;
  AscendC::LocalTensor<float> scores_;  // strips at their stages
  bool exact_ = false;                  // the vector unit subtracts the reference, not the cube
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_FORWARD_LOOP_COUPLED_H
