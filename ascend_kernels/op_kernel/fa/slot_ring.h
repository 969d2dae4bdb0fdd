// A ring of buffers between two pipes of one core: the producer fills a slot, the consumer empties
// it, each waits for the other only when the ring is full or empty.
#ifndef ASCENDFA_FA_SLOT_RING_H
#define ASCENDFA_FA_SLOT_RING_H

#include "kernel_operator.h"

namespace ascendfa {

// Only the way back: the consumer says when it is done with a slot. For buffers that another ring
// between the same pipes announces, because it is filled after them and awaited before they are
// read.
template <AscendC::HardEvent kFree>
class ReuseRing {
 public:
  __aicore__ inline void Open(AscendC::TPipe& pipe, uint32_t depth) {
    depth_ = depth;
    for (uint32_t i = 0; i < depth_; ++i) {
      free_[i] = pipe.AllocEventID<kFree>();
      AscendC::SetFlag<kFree>(free_[i]);
    }
  }

  __aicore__ inline void Close(AscendC::TPipe& pipe) {
    for (uint32_t i = 0; i < depth_; ++i) {
      AscendC::WaitFlag<kFree>(free_[i]);
      pipe.ReleaseEventID<kFree>(free_[i]);
    }
  }

  // Producer: the next slot, once the consumer has let go of it.
  __aicore__ inline uint32_t Acquire() {
    const uint32_t slot = Advance(acquire_);
    AscendC::WaitFlag<kFree>(free_[slot]);
    return slot;
  }

  // Consumer: the next filled slot, of which nothing here says that it is filled.
  __aicore__ inline uint32_t Next() { return Advance(next_); }

  // Consumer: done with the oldest slot not yet released.
  __aicore__ inline void Release() { AscendC::SetFlag<kFree>(free_[Advance(release_)]); }

 protected:
  static constexpr uint32_t kMaxDepth = 4;

  __aicore__ inline uint32_t Depth() const { return depth_; }

  // Hands out the cursor's slot and moves the cursor on.
  __aicore__ inline uint32_t Advance(uint32_t& cursor) {
    const uint32_t slot = cursor;
    cursor = (slot + 1 == depth_) ? 0 : slot + 1;
    return slot;
  }

 private:
  AscendC::TEventID free_[kMaxDepth];
  uint32_t depth_ = 1;
  uint32_t acquire_ = 0;
  uint32_t next_ = 0;
  uint32_t release_ = 0;
};

template <AscendC::HardEvent kReady, AscendC::HardEvent kFree>
class SlotRing : public ReuseRing<kFree> {
 public:
  __aicore__ inline void Open(AscendC::TPipe& pipe, uint32_t depth) {
    ReuseRing<kFree>::Open(pipe, depth);
    for (uint32_t i = 0; i < depth; ++i) {
      ready_[i] = pipe.AllocEventID<kReady>();
    }
  }

  __aicore__ inline void Close(AscendC::TPipe& pipe) {
    for (uint32_t i = 0; i < this->Depth(); ++i) {
      pipe.ReleaseEventID<kReady>(ready_[i]);
    }
    ReuseRing<kFree>::Close(pipe);
  }

  // Producer: the oldest slot not yet published is filled.
  __aicore__ inline void Publish() { AscendC::SetFlag<kReady>(ready_[this->Advance(publish_)]); }

  // Consumer: the next filled slot.
  __aicore__ inline uint32_t Await() {
    const uint32_t slot = this->Next();
    AscendC::WaitFlag<kReady>(ready_[slot]);
    return slot;
  }

 private:
  AscendC::TEventID ready_[ReuseRing<kFree>::kMaxDepth];
  uint32_t publish_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_SLOT_RING_H
