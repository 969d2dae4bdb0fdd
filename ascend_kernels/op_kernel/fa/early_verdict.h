// A look at the first task's verdict while the tasks behind it are under way: where references do
// not suit the data, the loop need not go on to the end of its batch. A first task with fewer keys
// than the second says too little, and is judged together with it. Vector cores give the verdict
// and all cores ask for it, each between the same steps.
#ifndef ASCENDFA_FA_EARLY_VERDICT_H
#define ASCENDFA_FA_EARLY_VERDICT_H

#include "forward_loop.h"

namespace ascendfa {

class EarlyVerdict {
 public:
  __aicore__ inline EarlyVerdict(const StepCursor& steps, uint32_t lag) {
    StepCursor ahead = steps;
    uint32_t position = Pass(ahead, bands_);
    StepCursor behind_second = ahead;
    uint32_t bands = 0;
    const uint32_t second = Pass(behind_second, bands);
    if (second > position) {
      ahead = behind_second;
      position += second;
      bands_ += bands;
    }
    given_ = position - 1 + lag;
    asked_ = given_ + kPatience;
    for (; ahead.Valid() && position <= asked_; ahead.Next()) {
      ++position;
    }
    used_ = position > asked_;
  }

  // After the position-th step's turn: what is judged is complete.
  __aicore__ inline bool Given(uint32_t position) const { return used_ && position == given_; }
  // Before it.
  __aicore__ inline bool Asked(uint32_t position) const { return used_ && position == asked_; }

  // That are judged.
  __aicore__ inline uint32_t Bands() const { return bands_; }

  // Takes out of `rounds` what no core has come to, unless the verdict is good. `head` is at the
  // position-th step.
  template <typename Bridge>
  __aicore__ inline void Ask(Bridge& bridge, const StepCursor& head, Rounds& rounds) const {
    bridge.AwaitVerdicts();
    bridge.RefreshVerdicts();
    const uint32_t end = head.Round() + kReach;
    if (!bridge.Hold(true, 0, bands_) && end < rounds.end) {
      rounds.end = end;
    }
  }

 private:
  // Leaves a task behind: its steps, and bands.
  __aicore__ inline static uint32_t Pass(StepCursor& steps, uint32_t& bands) {
    uint32_t count = 0;
    const uint32_t round = steps.Round();
    for (; steps.Valid() && steps.Round() == round; steps.Next()) {
      bands = steps.Current().band + 1 > bands ? steps.Current().band + 1 : bands;
      ++count;
    }
    return count;
  }

  // Steps by which vector cores may be behind the cube core without it having to wait.
  static constexpr uint32_t kPatience = 6;
  // Queries are fetched for the task after the next; a vector core may already look for samples
  // before the first step of the next.
  static constexpr uint32_t kReach = 3;

  uint32_t bands_ = 0;
  uint32_t given_ = 0;
  uint32_t asked_ = 0;
  bool used_ = false;  // there are so many steps
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_EARLY_VERDICT_H
