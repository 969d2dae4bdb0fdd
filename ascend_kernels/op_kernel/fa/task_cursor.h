// Walks the steps of one core in order, where tasks have one band. Where nothing speaks against it
// each task begins with another of its tiles, so that cores that work on the same head do not all
// ask for the same keys, which have yet to come to the L2.
#ifndef ASCENDFA_FA_TASK_CURSOR_H
#define ASCENDFA_FA_TASK_CURSOR_H

#include "forward_loop.h"

namespace ascendfa {

// The tile a task begins with, and the strip of it that says most of the scores to come.
enum class Opening : uint8_t {
  kAny,    // all tiles say the same
  kFirst,  // later ones may be hidden by a mask
  kOwn,    // scores fall with the distance from a row's own key
};

__aicore__ inline Opening OpeningOf(const FlashAttentionTiling& tiling) {
  return tiling.has_alibi != 0                          ? Opening::kOwn
         : tiling.has_mask != 0 || tiling.has_bias != 0 ? Opening::kFirst
                                                        : Opening::kAny;
}

// The key that is closest to all rows of a block, of those that all of them see.
__aicore__ inline int64_t OwnKeyOfBlock(const SeqLen& seqlen, const Step& step) {
  return seqlen.OwnKey(step.row + (seqlen.right < 0 ? step.rows / 2 : 0));
}

class TaskCursor {
 public:
  __aicore__ inline TaskCursor() {}
  __aicore__ inline TaskCursor(const ForwardTasks& tasks, uint32_t group, Opening opening)
      : tasks_(tasks), group_(group), opening_(opening) {
    SkipTask();
  }

  __aicore__ inline bool Valid() const { return valid_; }
  __aicore__ inline const Step& Current() const { return step_; }
  // The core's how many-th task it is at. Tasks without a visible key have no step.
  __aicore__ inline uint32_t Round() const { return round_ - 1; }

  __aicore__ inline void SkipTask() {
    do {
      valid_ = tasks_.Get(round_, step_, range_);
      if (!valid_) {
        return;
      }
      ++round_;
    } while (range_.Tiles() == 0);
    visited_ = 0;
    start_ = Start();
    Describe();
  }

  __aicore__ inline void Next() {
    if (++visited_ == range_.Tiles()) {
      SkipTask();
    } else {
      Describe();
    }
  }

 private:
  // All rows take their reference of the tile's scores, so it had best be one that all of them see.
  __aicore__ inline uint32_t Start() const {
    if (opening_ == Opening::kOwn) {
      const int64_t own = OwnKeyOfBlock(tasks_.Lengths(), step_) - range_.Origin();
      const uint32_t tile = own < 0 ? 0 : static_cast<uint32_t>(own / range_.KeysIn(0));
      return Smaller(tile, range_.Tiles() - 1);
    }
    uint32_t begin = 0;
    uint32_t end = range_.Tiles();
    while (begin != end && range_.StartsLate(begin)) {
      ++begin;
    }
    while (begin != end && range_.EndsEarly(end - 1)) {
      --end;
    }
    if (begin == end) {
      return 0;
    }
    return opening_ == Opening::kFirst ? begin : begin + group_ % (end - begin);
  }

  __aicore__ inline void Describe() {
    const uint32_t tile = (start_ + visited_) % range_.Tiles();
    step_.key = range_.KeyOf(tile);
    step_.keys = range_.KeysIn(tile);
    step_.ends_early = range_.EndsEarly(tile);
    step_.starts_late = range_.StartsLate(tile);
    step_.first = visited_ == 0;
    step_.last = visited_ + 1 == range_.Tiles();
  }

  ForwardTasks tasks_;
  BlockRange range_;
  Step step_{};
  uint32_t group_ = 0;
  Opening opening_ = Opening::kAny;
  uint32_t round_ = 0;
  uint32_t start_ = 0;    // the tile a task begins with
  uint32_t visited_ = 0;  // tiles before this one
  bool valid_ = false;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_TASK_CURSOR_H
