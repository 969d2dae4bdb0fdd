// Which core group computes which block of query rows. Arithmetic only: no counters in memory, so
// every core of a group arrives at the same answer on its own.
#ifndef ASCENDFA_FA_TILE_SCHEDULER_H
#define ASCENDFA_FA_TILE_SCHEDULER_H

#include "seqlen.h"

namespace ascendfa {

struct Task {
  uint32_t batch_head;
  uint32_t block;
};

// Under a causal mask later blocks see more keys. Tasks are therefore listed heaviest first, all
// heads of the last block, then all heads of the one before, and dealt out in snake order: groups
// 0..n-1 take one each, then n-1..0, and so on, so that early takers of one round are late takers
// of the next. A group works on short and long ones in turn: short tasks, which are little but
// their beginnings and ends, then fall between long ones, and the pipeline fills with the shortest
// steps. Where the L2 is too small for all heads' keys, tasks are listed head by head instead, so
// that the groups read the same keys at the same time; the snake still evens out their lengths.
class TileScheduler {
 public:
  __aicore__ inline TileScheduler() {}
  __aicore__ inline TileScheduler(uint32_t batch_heads, uint32_t blocks, uint32_t group,
                                  uint32_t groups, bool head_by_head = false, uint32_t run = 1)
      : batch_heads_(batch_heads),
        blocks_(blocks),
        group_(group),
        groups_(groups),
        head_by_head_(head_by_head),
        run_(run) {}

  // The group's round-th task. False when it has no more.
  __aicore__ inline bool Get(uint32_t round, Task& task) const {
    if (!head_by_head_) {
      return GetInTurn(round, task);
    }
    // Groups change places between pairs of rounds: what a pair costs depends on where it begins.
    const uint32_t turn = round / run_;
    const uint32_t place = (group_ + turn / 2 * kPlaces) % groups_;
    const uint32_t seat = (turn % 2 == 0) ? place : groups_ - 1 - place;
    const uint64_t index = (static_cast<uint64_t>(turn) * groups_ + seat) * run_ + round % run_;
    if (index >= static_cast<uint64_t>(batch_heads_) * blocks_) {
      return false;
    }
    task.batch_head = static_cast<uint32_t>(index / blocks_);
    task.block = blocks_ - 1 - static_cast<uint32_t>(index % blocks_);
    return true;
  }

 private:
  // The list's last, first, last but one, second, ... of the group's.
  __aicore__ inline bool GetInTurn(uint32_t round, Task& task) const {
    const uint64_t tasks = static_cast<uint64_t>(batch_heads_) * blocks_;
    const uint64_t full = tasks / groups_;
    const uint64_t rounds = full + (Seat(full) < tasks % groups_ ? 1 : 0);
    if (round >= rounds) {
      return false;
    }
    const uint64_t turn = round % 2 != 0 ? round / 2 : rounds - 1 - round / 2;
    const uint64_t index = turn * groups_ + Seat(turn);
    task.batch_head = static_cast<uint32_t>(index % batch_heads_);
    task.block = blocks_ - 1 - static_cast<uint32_t>(index / batch_heads_);
    return true;
  }
  __aicore__ inline uint32_t Seat(uint64_t turn) const {
    return turn % 2 == 0 ? group_ : groups_ - 1 - group_;
  }

  static constexpr uint32_t kPlaces = 5;

  uint32_t batch_heads_ = 0;
  uint32_t blocks_ = 0;
  uint32_t group_ = 0;
  uint32_t groups_ = 1;
  bool head_by_head_ = false;
  uint32_t run_ = 1;  // tasks of the list that a group takes at a time
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_TILE_SCHEDULER_H
