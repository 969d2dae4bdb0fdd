// Walks the steps of one core in order, where tasks have one band. Each task begins with another of
// its tiles, so that cores that work on the same head do not all ask for the same keys, which have
// yet to come to the L2.
#ifndef ASCENDFA_FA_TASK_CURSOR_H
#define ASCENDFA_FA_TASK_CURSOR_H

#include "forward_loop.h"

namespace ascendfa {

class TaskCursor {
 public:
  __aicore__ inline TaskCursor() {}
  __aicore__ inline TaskCursor(const ForwardTasks& tasks, uint32_t group)
      : tasks_(tasks), group_(group) {
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
  // One of the tiles that all rows see; of its scores, all rows take their reference.
  __aicore__ inline uint32_t Start() const {
    uint32_t begin = 0;
    uint32_t end = range_.Tiles();
    while (begin != end && range_.StartsLate(begin)) {
      ++begin;
    }
    while (begin != end && range_.EndsEarly(end - 1)) {
      --end;
    }
    return begin == end ? 0 : begin + group_ % (end - begin);
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
  uint32_t round_ = 0;
  uint32_t start_ = 0;    // the tile a task begins with
  uint32_t visited_ = 0;  // tiles before this one
  bool valid_ = false;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_TASK_CURSOR_H
