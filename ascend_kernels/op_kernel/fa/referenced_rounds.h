// Which tasks a group works on with referenced scores, and which it has to repeat with scores in
// full: those with a row whose maximum lay too far from its reference. Every core of a group reads
// the same verdicts and comes to the same answer.
#ifndef ASCENDFA_FA_REFERENCED_ROUNDS_H
#define ASCENDFA_FA_REFERENCED_ROUNDS_H

#include "../arch/dav_2201/reference_bridge.h"
#include "forward_loop.h"
#include "kernel_operator.h"

namespace ascendfa {

template <typename Element>
class ReferencedRounds {
 public:
  __aicore__ inline ReferencedRounds(const FlashAttentionTiling& tiling, GM_ADDR workspace,
                                     uint32_t group)
      : tasks_(tiling, group) {
    bridge_.Init(tiling, workspace, group);
  }

  // Whether tasks are left; then Current says which, and Referenced how. Between two calls those
  // have to be worked on, or the first of them, which Current then has to say.
  __aicore__ inline bool Next() {
    if (referenced_) {
      const uint32_t failed = Failed();
      const bool most = failed_ * 2 > judged_;
      if (failed != 0) {
        rounds_.skipped = ~failed;
        referenced_ = false;
        hopeless_ = hopeless_ || most;
        return true;
      }
    }
    return Following();
  }
  __aicore__ inline Rounds& Current() { return rounds_; }
  __aicore__ inline bool Referenced() const { return referenced_; }

 private:
  __aicore__ inline bool Following() {
    Step step;
    const bool first = rounds_.end == ~0u;
    rounds_.begin = first ? 0 : rounds_.end;
    if (!tasks_.Get(rounds_.begin, step)) {
      return false;
    }
    referenced_ = !hopeless_;
    rounds_.skipped = 0;
    rounds_.end = rounds_.begin + kMaxRounds;
    if (hopeless_) {
      rounds_.end = ~0u - 1;
    }
    return true;
  }

  // A bit for every round that has to be repeated.
  __aicore__ inline uint32_t Failed() {
    bridge_.AwaitVerdicts();
    bridge_.RefreshVerdicts();
    uint32_t failed = 0;
    uint32_t band = 0;
    failed_ = 0;
    judged_ = 0;
    Step step;
    for (uint32_t round = rounds_.begin; round < rounds_.end && tasks_.Get(round, step); ++round) {
      const uint32_t end = band + tasks_.Bands();
      const uint32_t tiles = tasks_.Range(tasks_.Bands() - 1).Tiles();
      if (!bridge_.Hold(false, band, end)) {
        failed |= 1u << (round - rounds_.begin);
        failed_ += tiles;
      }
      band = end;
      judged_ += tiles;
    }
    // The next batch's verdicts take the place of these.
    AscendC::PipeBarrier<PIPE_ALL>();
    return failed;
  }

  ForwardTasks tasks_;
  ReferenceBridge<Element> bridge_;
  Rounds rounds_;
  uint32_t judged_ = 0;  // tiles of the last verdict, and those of tasks that failed
  uint32_t failed_ = 0;
  bool referenced_ = false;
  bool hopeless_ = false;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_REFERENCED_ROUNDS_H
