// When references are sampled: a band's, `lead` steps before its first one, but not before the task
// in front of its own has begun. The same on the cube core and its vector cores.
#ifndef ASCENDFA_FA_SAMPLE_CURSOR_H
#define ASCENDFA_FA_SAMPLE_CURSOR_H

#include "forward_loop.h"

namespace ascendfa {

class SampleCursor {
 public:
  __aicore__ inline SampleCursor() {}
  __aicore__ inline SampleCursor(const StepCursor& steps, uint32_t lead)
      : ahead_(steps), lead_(lead) {}

  // Whether a band is due before `head`, the position-th step; which.
  __aicore__ inline bool Next(const StepCursor& head, uint32_t position, Step& band) {
    while (ahead_.Valid() && reached_ <= position + lead_ && ahead_.Round() <= head.Round() + 1) {
      const bool first = ahead_.Current().first;
      band = ahead_.Current();
      ahead_.Next();
      ++reached_;
      if (first) {
        return true;
      }
    }
    return false;
  }

 private:
  StepCursor ahead_;
  uint32_t lead_ = 0;
  uint32_t reached_ = 0;  // steps looked at
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_SAMPLE_CURSOR_H
