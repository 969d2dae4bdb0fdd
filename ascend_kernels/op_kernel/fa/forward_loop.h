// The forward pass as one flat sequence of steps, the same on the cube core and its vector cores.
// A step is one key tile of one task; tasks follow each other without a seam, so that the pipeline
// between the cores never drains before the group's last task.
#ifndef ASCENDFA_FA_FORWARD_LOOP_H
#define ASCENDFA_FA_FORWARD_LOOP_H

#include "../flash_attention_tiling.h"
#include "block_range.h"
#include "tile_scheduler.h"

namespace ascendfa {

struct Step {
  uint32_t batch;
  uint32_t q_head;
  uint32_t kv_head;
  uint32_t row;      // first query row of the task
  uint32_t rows;     // query rows of the task
  uint32_t key;      // first key of the tile
  uint32_t keys;     // keys of the tile that some row sees
  uint32_t slot;     // hand-over slot
  bool ends_early;   // some row does not see the last of those keys
  bool starts_late;  // some row does not see the first of them
  bool first;        // of its task
  bool last;         // of its task
};

// What a task means in terms of tensors.
class ForwardTasks {
 public:
  __aicore__ inline ForwardTasks() {}
  __aicore__ inline ForwardTasks(const FlashAttentionTiling& tiling, uint32_t group)
      : seqlen_{tiling.seq_q, tiling.seq_k, tiling.window_left, tiling.window_right},
        scheduler_(tiling.batch * tiling.q_heads, CeilDiv(tiling.seq_q, tiling.block_m), group,
                   tiling.groups, tiling.head_by_head != 0),
        q_heads_(tiling.q_heads),
        heads_per_kv_(tiling.q_heads / tiling.kv_heads),
        block_m_(tiling.block_m),
        block_n_(tiling.block_n),
        borrowed_(Borrowed(tiling)) {}

  __aicore__ inline const SeqLen& Lengths() const { return seqlen_; }

  // The group's round-th task: where it is, and its tiles. False when there is none.
  __aicore__ inline bool Get(uint32_t round, Step& step, BlockRange& range) const {
    Task task;
    if (!scheduler_.Get(round, task)) {
      return false;
    }
    step.batch = task.batch_head / q_heads_;
    step.q_head = task.batch_head % q_heads_;
    step.kv_head = step.q_head / heads_per_kv_;
    step.row = task.block * block_m_;
    uint32_t end = Smaller(step.row + block_m_, seqlen_.queries);
    if (borrowed_ != 0) {
      const bool last = end == seqlen_.queries;
      step.row -= last ? borrowed_ : 0;
      end -= !last && seqlen_.queries - end < block_m_ ? borrowed_ : 0;
    }
    step.rows = end - step.row;
    range = BlockRange(seqlen_, step.row, step.rows, block_n_);
    return true;
  }

 private:
  // Rows the last task of a head takes from the one before.
  __aicore__ inline static uint32_t Borrowed(const FlashAttentionTiling& tiling) {
    const uint32_t rest = tiling.seq_q % tiling.block_m;
    const bool too_few = rest != 0 && rest < tiling.fewest_rows && rest != tiling.seq_q;
    return too_few ? tiling.fewest_rows : 0;
  }

  SeqLen seqlen_{};
  TileScheduler scheduler_;
  uint32_t q_heads_ = 1;
  uint32_t heads_per_kv_ = 1;
  uint32_t block_m_ = 1;
  uint32_t block_n_ = 1;
  uint32_t borrowed_ = 0;
};

// Walks the steps of one group in order. Tasks without a visible key have no step.
class StepCursor {
 public:
  __aicore__ inline StepCursor() {}
  __aicore__ inline StepCursor(const FlashAttentionTiling& tiling, const ForwardTasks& tasks)
      : tasks_(tasks), depth_(tiling.depth) {
    NextTask();
  }

  __aicore__ inline bool Valid() const { return valid_; }
  __aicore__ inline const Step& Current() const { return step_; }
  // The group's how many-th task it is at.
  __aicore__ inline uint32_t Round() const { return round_ - 1; }
  __aicore__ inline void SkipTask() { NextTask(); }

  __aicore__ inline void Next() {
    slot_ = (slot_ + 1 == depth_) ? 0 : slot_ + 1;
    ++tile_;
    if (tile_ == tiles_) {
      NextTask();
    } else {
      Describe();
    }
  }

 private:
  __aicore__ inline void NextTask() {
    tile_ = 0;
    do {
      valid_ = tasks_.Get(round_, step_, range_);
      ++round_;
      tiles_ = valid_ ? range_.Tiles() : 0;
    } while (valid_ && tiles_ == 0);
    if (valid_) {
      Describe();
    }
  }

  __aicore__ inline void Describe() {
    step_.key = range_.KeyOf(tile_);
    step_.keys = range_.KeysIn(tile_);
    step_.ends_early = range_.EndsEarly(tile_);
    step_.starts_late = range_.StartsLate(tile_);
    step_.first = tile_ == 0;
    step_.last = tile_ + 1 == tiles_;
    step_.slot = slot_;
  }

  ForwardTasks tasks_;
  BlockRange range_;
  Step step_{};
  uint32_t depth_ = 1;
  uint32_t round_ = 0;
  uint32_t tile_ = 0;
  uint32_t tiles_ = 0;
  uint32_t slot_ = 0;
  bool valid_ = false;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_FORWARD_LOOP_H
