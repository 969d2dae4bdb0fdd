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
      : tasks_(tiling, group), tolerance_(tiling.referenced.tolerance) {
    bridge_.Init(tiling, workspace, group);
  }

  // Whether tasks are left; then Current says which, and Referenced how. Between two calls those
  // have to be worked on, and where Referenced, verdicts have to be in.
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
  __aicore__ inline const Rounds& Current() const { return rounds_; }
  __aicore__ inline bool Referenced() const { return referenced_; }

  __aicore__ inline ReferenceBridge<Element>& Bridge() { return bridge_; }

 private:
  static constexpr uint32_t kFirstRounds = 4;  // tell whether references suit the data

  __aicore__ inline bool Following() {
    Step step;
    const bool first = rounds_.end == ~0u;
    rounds_.begin = first ? 0 : rounds_.end;
    if (!tasks_.Get(rounds_.begin, step)) {
      return false;
    }
    referenced_ = !hopeless_;
    rounds_.skipped = 0;
    rounds_.end = rounds_.begin + (first ? kFirstRounds : kMaxRounds);
    if (hopeless_) {
      rounds_.end = ~0u - 1;
    }
    return true;
  }

  // A bit for every round that has to be repeated.
  __aicore__ inline uint32_t Failed() {
    const AscendC::GlobalTensor<float> verdicts[kVectorCores] = {bridge_.Verdicts(0),
                                                                 bridge_.Verdicts(1)};
    AscendC::DataCacheCleanAndInvalid<float, AscendC::CacheLine::ENTIRE_DATA_CACHE,
                                      AscendC::DcciDst::CACHELINE_OUT>(verdicts[0]);
    uint32_t failed = 0;
    uint32_t band = 0;
    failed_ = 0;
    judged_ = 0;
    Step step;
    for (uint32_t round = rounds_.begin; round < rounds_.end && tasks_.Get(round, step); ++round) {
      bool holds = true;
      for (const uint32_t end = band + tasks_.Bands(); band < end; ++band) {
        for (uint32_t member = 0; member < kVectorCores; ++member) {
          // Neither is a distance that is no number.
          holds = holds && verdicts[member].GetValue(band * kBlockFloats) <= tolerance_;
        }
      }
      failed |= holds ? 0 : 1u << (round - rounds_.begin);
      failed_ += holds ? 0 : 1;
      ++judged_;
    }
    // The next verdicts take the place of these.
    AscendC::PipeBarrier<PIPE_ALL>();
    return failed;
  }

  ForwardTasks tasks_;
  ReferenceBridge<Element> bridge_;
  Rounds rounds_;
  float tolerance_ = 0.0f;
  uint32_t judged_ = 0;  // rounds of the last verdict, and those that failed
  uint32_t failed_ = 0;
  bool referenced_ = false;
  bool hopeless_ = false;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_REFERENCED_ROUNDS_H
