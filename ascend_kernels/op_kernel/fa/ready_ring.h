// The other half of a ring: only the way there. The producer says when a slot is filled; that the
// consumer is done with the one before is known by other means, which its user names.
#ifndef ASCENDFA_FA_READY_RING_H
#define ASCENDFA_FA_READY_RING_H

#include "kernel_operator.h"

namespace ascendfa {

template <AscendC::HardEvent kReady>
class ReadyRing {
 public:
  __aicore__ inline void Open(AscendC::TPipe& pipe, uint32_t depth) {
    depth_ = depth;
    for (uint32_t i = 0; i < depth_; ++i) {
      ready_[i] = pipe.AllocEventID<kReady>();
    }
  }

  __aicore__ inline void Close(AscendC::TPipe& pipe) {
    for (uint32_t i = 0; i < depth_; ++i) {
      pipe.ReleaseEventID<kReady>(ready_[i]);
    }
  }

  // Producer: the oldest slot not yet published is filled.
  __aicore__ inline void Publish() { AscendC::SetFlag<kReady>(ready_[Advance(publish_)]); }

  // Consumer: the next filled slot.
  __aicore__ inline uint32_t Await() {
    const uint32_t slot = Advance(await_);
    AscendC::WaitFlag<kReady>(ready_[slot]);
    return slot;
  }

 private:
  static constexpr uint32_t kMaxDepth = 4;

  // Hands out the cursor's slot and moves the cursor on.
  __aicore__ inline uint32_t Advance(uint32_t& cursor) {
    const uint32_t slot = cursor;
    cursor = (slot + 1 == depth_) ? 0 : slot + 1;
    return slot;
  }

  AscendC::TEventID ready_[kMaxDepth];
  uint32_t depth_ = 1;
  uint32_t publish_ = 0;
  uint32_t await_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_READY_RING_H
