// The forward pass as one flat sequence of steps, the same on the cube core and its vector cores.
// A task is a block of query rows; it is worked on in bands, all of them against one key tile
// before the next, so that the tile is fetched once. A step is one key tile of one band; tasks
// follow each other without a seam, so that the pipeline between the cores never drains before the
// group's last task.
#ifndef ASCENDFA_FA_FORWARD_LOOP_H
#define ASCENDFA_FA_FORWARD_LOOP_H

#include "../arch/capacities.h"
#include "../flash_attention_tiling.h"
#include "block_range.h"
#include "tile_scheduler.h"

namespace ascendfa {

struct Step {
  uint32_t batch;
  uint32_t q_head;
  uint32_t kv_head;
  uint32_t band;     // of the task
  uint32_t serial;   // of the band among all that the loop works on
  uint32_t row;      // first query row of the band
  uint32_t rows;     // query rows of the band
  uint32_t key;      // first key of the tile
  uint32_t keys;     // keys of the tile that some row of the band sees
  uint32_t fetched;  // keys of the tile that some row of the task sees
  uint32_t slot;     // hand-over slot
  bool ends_early;   // some row does not see the last of the band's keys
  bool starts_late;  // some row does not see the first of them
  bool first;        // of its band
  bool last;         // of its band
  bool opens;        // the task's first step with this tile
  bool closes;       // the task's last step with this tile
  bool ends;         // the task
};

// Where row `row` of a head of a tensor begins.
__aicore__ inline int64_t TensorOffset(const FlashAttentionStrides& strides, const Step& step,
                                       uint32_t head, uint32_t row) {
  return strides.batch * step.batch + strides.head * head + strides.row * row;
}

// Some of a group's tasks: rounds [begin, end) without those whose bit, counted from `begin`, is
// set in `skipped`.
struct Rounds {
  uint32_t begin = 0;
  uint32_t end = ~0u;
  uint32_t skipped = 0;

  __aicore__ inline bool Skips(uint32_t round) const {
    return round - begin < 32 && ((skipped >> (round - begin)) & 1u) != 0;
  }
};

// What a task means in terms of tensors.
class ForwardTasks {
 public:
  __aicore__ inline ForwardTasks() {}
  __aicore__ inline ForwardTasks(const FlashAttentionTiling& tiling, uint32_t group)
      : seqlen_{tiling.seq_q, tiling.seq_k, tiling.window_left, tiling.window_right},
        scheduler_(tiling.batch * tiling.q_heads, CeilDiv(tiling.seq_q, tiling.block_m), group,
                   tiling.groups, tiling.head_by_head != 0, Run(tiling)),
        q_heads_(tiling.q_heads),
        heads_per_kv_(tiling.q_heads / tiling.kv_heads),
        block_m_(tiling.block_m),
        block_n_(tiling.block_n),
        borrowed_(Borrowed(tiling)) {}

  __aicore__ inline const SeqLen& Lengths() const { return seqlen_; }

  // Narrows the work down to some of the group's tasks. `rounds` stays in use, also by what is
  // copied from here; tasks that nobody has come to may be taken out of it later.
  __aicore__ inline void Select(const Rounds& rounds) { selected_ = &rounds; }
  // The first round, or the next one from `round` on that is not skipped.
  __aicore__ inline uint32_t FirstRound() const {
    return selected_ == nullptr ? 0 : selected_->begin;
  }
  __aicore__ inline uint32_t UnskippedRound(uint32_t round) const {
    while (selected_ != nullptr && selected_->Skips(round)) {
      ++round;
    }
    return round;
  }

  // The group's round-th task. False when there is none.
  __aicore__ inline bool Get(uint32_t round, Step& step) {
    Task task;
    if ((selected_ != nullptr && round >= selected_->end) || !scheduler_.Get(round, task)) {
      return false;
    }
    step.batch = task.batch_head / q_heads_;
    step.q_head = task.batch_head % q_heads_;
    step.kv_head = step.q_head / heads_per_kv_;
    row_ = task.block * block_m_;
    uint32_t end = Smaller(row_ + block_m_, seqlen_.queries);
    if (borrowed_ != 0) {
      const bool last = end == seqlen_.queries;
      row_ -= last ? borrowed_ : 0;
      end -= !last && seqlen_.queries - end < block_m_ ? borrowed_ : 0;
    }
    rows_ = end - row_;
    return true;
  }
  // The same where tasks have one band.
  __aicore__ inline bool Get(uint32_t round, Step& step, BlockRange& range) {
    if (!Get(round, step)) {
      return false;
    }
    Band(0, step);
    range = Range(0);
    return true;
  }

  // Bands of the task last got; one of them: where it is, and its tiles. All bands of a task
  // divide the keys alike.
  __aicore__ inline uint32_t Bands() const { return CeilDiv(rows_, kBandRows); }
  __aicore__ inline void Band(uint32_t band, Step& step) const {
    step.band = band;
    step.row = row_ + band * kBandRows;
    step.rows = Smaller(kBandRows, rows_ - band * kBandRows);
  }
  __aicore__ inline BlockRange Range(uint32_t band) const {
    const uint32_t row = band * kBandRows;
    return BlockRange(seqlen_, row_ + row, Smaller(kBandRows, rows_ - row), block_n_,
                      static_cast<uint32_t>(seqlen_.FirstKey(row_)));
  }

 private:
  // Log-sum-exps of heads with so few rows share lines of the data cache they are written through.
  // So many heads fill whole lines.
  static constexpr uint32_t kHeadsPerLine = 16;
  __aicore__ inline static uint32_t Run(const FlashAttentionTiling& tiling) {
    return tiling.seq_q < tiling.fewest_rows ? kHeadsPerLine : 1;
  }

  // Rows the last task of a head takes from the one before.
  __aicore__ inline static uint32_t Borrowed(const FlashAttentionTiling& tiling) {
    const uint32_t rest = tiling.seq_q % tiling.block_m;
    const bool too_few = rest != 0 && rest < tiling.fewest_rows && rest != tiling.seq_q;
    return too_few ? tiling.fewest_rows : 0;
  }

  SeqLen seqlen_{};
  TileScheduler scheduler_;
  const Rounds* selected_ = nullptr;  // all
  uint32_t q_heads_ = 1;
  uint32_t heads_per_kv_ = 1;
  uint32_t block_m_ = 1;
  uint32_t block_n_ = 1;
  uint32_t borrowed_ = 0;
  uint32_t row_ = 0;
  uint32_t rows_ = 0;
};

// How bands take turns: each tile in the same order, or every other one in reverse, so that a band
// works on two tiles in a row.
enum class BandOrder { kSame, kSnake };

// Walks the steps of one group in order. Bands without a visible key have no step.
class StepCursor {
 public:
  __aicore__ inline StepCursor() {}
  __aicore__ inline StepCursor(const FlashAttentionTiling& tiling, const ForwardTasks& tasks)
      : StepCursor(tasks, tiling.depth, BandOrder::kSame) {}
  // `depth` hand-over slots.
  __aicore__ inline StepCursor(const ForwardTasks& tasks, uint32_t depth, BandOrder order)
      : tasks_(tasks), order_(order), depth_(depth), round_(tasks.FirstRound()) {
    NextTask();
  }

  __aicore__ inline bool Valid() const { return valid_; }
  __aicore__ inline const Step& Current() const { return step_; }
  // The group's how many-th task it is at.
  __aicore__ inline uint32_t Round() const { return round_ - 1; }
  __aicore__ inline void SkipTask() { NextTask(); }

  __aicore__ inline void Next() {
    slot_ = (slot_ + 1 == depth_) ? 0 : slot_ + 1;
    ++turn_;
    if (FindStep()) {
      Describe();
    } else {
      NextTask();
    }
  }

 private:
  __aicore__ inline void NextTask() {
    do {
      round_ = tasks_.UnskippedRound(round_);
      valid_ = tasks_.Get(round_, step_);
      if (!valid_) {
        return;
      }
      ++round_;
      serial_ += bands_;
      bands_ = tasks_.Bands();
      tiles_ = 0;
      for (uint32_t band = 0; band < bands_; ++band) {
        ranges_[band] = tasks_.Range(band);
        // Later bands see no less far.
        tiles_ = ranges_[band].Tiles();
      }
      tile_ = 0;
      turn_ = 0;
    } while (!FindStep());
    Describe();
  }

  // Moves on to a band that visits the tile, or one of the next tiles. False at the task's end.
  __aicore__ inline bool FindStep() {
    for (; tile_ < tiles_; ++tile_) {
      for (; turn_ < bands_; ++turn_) {
        if (ranges_[BandAt(turn_)].Visits(tile_)) {
          return true;
        }
      }
      turn_ = 0;
    }
    return false;
  }

  __aicore__ inline uint32_t BandAt(uint32_t turn) const {
    return order_ == BandOrder::kSnake && tile_ % 2 != 0 ? bands_ - 1 - turn : turn;
  }

  __aicore__ inline void Describe() {
    const uint32_t current = BandAt(turn_);
    const BlockRange& range = ranges_[current];
    tasks_.Band(current, step_);
    step_.serial = serial_ + current;
    step_.key = range.KeyOf(tile_);
    step_.keys = range.KeysIn(tile_);
    step_.ends_early = range.EndsEarly(tile_);
    step_.starts_late = range.StartsLate(tile_);
    step_.first = tile_ == range.FirstTile();
    step_.last = tile_ + 1 == range.Tiles();
    step_.opens = true;
    for (uint32_t turn = 0; turn < turn_; ++turn) {
      step_.opens = step_.opens && !ranges_[BandAt(turn)].Visits(tile_);
    }
    step_.closes = true;
    step_.fetched = step_.keys;
    for (uint32_t turn = turn_ + 1; turn < bands_; ++turn) {
      const BlockRange& later = ranges_[BandAt(turn)];
      if (later.Visits(tile_)) {
        step_.closes = false;
        step_.fetched = step_.fetched > later.KeysIn(tile_) ? step_.fetched : later.KeysIn(tile_);
      }
    }
    step_.ends = step_.closes && tile_ + 1 == tiles_;
    step_.slot = slot_;
  }

  ForwardTasks tasks_;
  BandOrder order_ = BandOrder::kSame;
  BlockRange ranges_[kMaxBands];
  Step step_{};
  uint32_t depth_ = 1;
  uint32_t round_ = 0;
  uint32_t serial_ = 0;
  uint32_t bands_ = 0;
  uint32_t turn_ = 0;  // among the bands
  uint32_t tile_ = 0;
  uint32_t tiles_ = 0;
  uint32_t slot_ = 0;
  bool valid_ = false;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_FORWARD_LOOP_H
