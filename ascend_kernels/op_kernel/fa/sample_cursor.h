// When references are sampled: between two steps, some steps before a band's first one, but not
// before the task in front of its own has begun. Fixpipe then stores samples; it should not have
// outputs to store as well, which it does when a band's turn ends. The same on the cube core and
// its vector cores.
#ifndef ASCENDFA_FA_SAMPLE_CURSOR_H
#define ASCENDFA_FA_SAMPLE_CURSOR_H

#include "forward_loop.h"

namespace ascendfa {

class SampleCursor {
 public:
  __aicore__ inline SampleCursor() {}
  // `lag` is the steps between the first product and the second.
  __aicore__ inline SampleCursor(const StepCursor& steps, const FlashAttentionReferenced& plan)
      : ahead_(steps), behind_(steps), plan_(plan) {}

  // Before the step `head`, the position-th. Positions come one after the other.
  __aicore__ inline void Reach(const StepCursor& head, uint32_t position) {
    position_ = position;
    round_ = head.Round();
    calm_ = true;
    // The second product is mostly one step less than the lag behind.
    if (position >= plan_.lag) {
      const uint32_t stored = behind_.Current().serial;
      behind_.Next();
      calm_ = behind_.Valid() && behind_.Current().serial == stored;
    }
  }

  // Whether another band is due here; which. The second band of a task follows the first.
  __aicore__ inline bool Next(Step& band) {
    const uint32_t lead = calm_ ? plan_.longest_lead : plan_.shortest_lead;
    while (second_ || reached_ <= position_ + lead) {
      if (taken_ && ahead_.Current().ends && ahead_.Round() > round_) {
        // Whether there is a task behind this one may change before it is due (EarlyVerdict).
        return false;
      }
      if (taken_) {
        ahead_.Next();
        taken_ = false;
      }
      if (!ahead_.Valid() || ahead_.Round() > round_ + 1) {
        return false;
      }
      band = ahead_.Current();
      taken_ = true;
      ++reached_;
      if (band.first) {
        second_ = !second_ && !band.closes;
        return true;
      }
    }
    return false;
  }

 private:
  StepCursor ahead_;
  StepCursor behind_;  // the second product's step
  FlashAttentionReferenced plan_{};
  uint32_t position_ = 0;
  uint32_t round_ = 0;
  uint32_t reached_ = 0;  // steps looked at
  bool taken_ = false;    // ahead_'s step is one of them
  bool second_ = false;   // a task's second band is next
  bool calm_ = true;      // no outputs are stored just before
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_SAMPLE_CURSOR_H
