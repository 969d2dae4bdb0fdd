// Queues and buffers that TPipe fills with memory: TQueBind, TQue, TSCM, TBuf.
#pragma once

#include <type_traits>

#include "ascendc/queue_events.h"

namespace AscendC {

enum class TBufState : uint8_t { FREE = 0, OCCUPIED, ENQUE, DEQUE };

// One buffer of a queue. TBufHandle points at it.
struct TBufType {
  TBufState state = TBufState::FREE;
  HardEvent freeBufEvt = HardEvent::MAX;
  HardEvent enQueEvt = HardEvent::MAX;
  TEventID enQueEvtID = INVALID_TEVENTID;
  TEventID freeBufEvtID = INVALID_TEVENTID;
  uint32_t address = 0;
  uint32_t dataLen = 0;
  TTagType usertag = -1;
  bool queued = false;  // belongs to a queue, not to a TBuf
};

struct TQueConfig {
  bool nd2nz = false;
  bool nz2nd = false;
  bool scmBlockGroup = false;
  uint32_t bufferLen = 0;
  uint32_t bufferNumber = 0;
  uint32_t consumerSize = 0;
  TPosition consumer[8] = {};
  bool enableStaticEvtId = false;
  bool enableLoopQueue = false;
};
constexpr TQueConfig GetTQueConfig(int32_t mask) {
  TQueConfig config;
  config.nd2nz = mask & 0x1;
  config.nz2nd = mask & 0x2;
  config.scmBlockGroup = mask & 0x4;
  return config;
}
constexpr TQueConfig GetTQueConfig(const TQueConfig* config) { return *config; }

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
 public:
  static constexpr bool isTQue = true;
  static constexpr TQueConfig config = GetTQueConfig(mask);
  static constexpr TPosition srcPosition = src;
  static constexpr TPosition dstPosition = dst;
  static constexpr TPosition position = Internal::QueuePosition(src, dst);
  static constexpr Hardware hardware = GetPhyType(position);
  static constexpr HardEvent enQueEvt =
      Internal::QueueEvent(GetPhyType(src), GetPhyType(dst), true, config.nd2nz);
  static constexpr HardEvent freeBufEvt =
      Internal::QueueEvent(GetPhyType(src), GetPhyType(dst), false, config.nd2nz);
  static constexpr int32_t queDepth = depth;

  __aicore__ inline TQueBind() = default;

  // Takes a free buffer; waits for its last user.
  template <typename T>
  __aicore__ inline LocalTensor<T> AllocTensor() {
    static_assert(depth != 0, "a queue of depth 0 allocates with AllocTensor(tensor)");
    TBufType* buf = TakeFree();
    if (buf->freeBufEvtID != INVALID_TEVENTID) {
      Internal::WaitEvent(buf->freeBufEvt, buf->freeBufEvtID);
      Internal::ReturnEvent(buf->freeBufEvt, buf->freeBufEvtID);
      buf->freeBufEvtID = INVALID_TEVENTID;
    }
    return Buf2Tensor<T>(Handle(buf));
  }
  template <typename T>
  __aicore__ inline void AllocTensor(LocalTensor<T>& tensor) {
    static_assert(depth == 0, "only a queue of depth 0 allocates in place");
    TBufType* buf = TakeFree();
    Internal::WaitEvent(freeBufEvt, buf->freeBufEvtID);
    tensor.SetAddr(GetBufferAddr(Handle(buf)));
  }
  template <typename T>
  __aicore__ inline void FreeTensor(LocalTensor<T>& tensor) {
    FreeBuffer(tensor.GetBufferHandle());
  }

  template <typename T>
  __aicore__ inline bool EnQue(const LocalTensor<T>& tensor) {
    return EnQue(tensor.GetBufferHandle());
  }
  __aicore__ inline bool EnQue(TBufHandle handle) { return Push(handle, enQueEvt); }
  template <TPosition srcUserPos, TPosition dstUserPos, typename T>
  __aicore__ inline bool EnQue(const LocalTensor<T>& tensor) {
    static_assert(depth != 0, "EnQue with positions needs a depth");
    static_assert(srcUserPos != TPosition::GM || dstUserPos != TPosition::GM, "not from GM to GM");
    return Push(tensor.GetBufferHandle(), UserEvent<srcUserPos, dstUserPos>());
  }

  template <typename T>
  __aicore__ inline LocalTensor<T> DeQue() {
    static_assert(depth != 0, "a queue of depth 0 takes out with DeQue(tensor)");
    return Buf2Tensor<T>(Pop(enQueEvt));
  }
  __aicore__ inline TBufHandle DeQue() { return Pop(enQueEvt); }
  template <typename T>
  __aicore__ inline void DeQue(LocalTensor<T>& tensor) {
    static_assert(depth == 0, "only a queue of depth 0 takes out in place");
    TBufType* buf = Own(tensor.GetBufferHandle(), "DeQue");
    if (buf->state != TBufState::ENQUE)
      dav::raise_unbalanced("DeQue", "the tensor was not enqueued");
    buf->state = TBufState::DEQUE;
    Internal::WaitEvent(enQueEvt, buf->enQueEvtID);
  }
  template <TPosition srcUserPos, TPosition dstUserPos, typename T>
  __aicore__ inline LocalTensor<T> DeQue() {
    return Buf2Tensor<T>(Pop(UserEvent<srcUserPos, dstUserPos>()));
  }

  // Queues of depth 0 keep no count.
  __aicore__ inline bool VacantInQue() {
    static_assert(depth != 0, "VacantInQue: a queue of depth 0 does not know");
    return usedCount_ < depth;
  }
  __aicore__ inline bool HasTensorInQue() {
    static_assert(depth != 0, "HasTensorInQue: a queue of depth 0 does not know");
    return usedCount_ != 0;
  }
  __aicore__ inline int32_t GetTensorCountInQue() {
    static_assert(depth != 0, "GetTensorCountInQue: a queue of depth 0 does not know");
    return usedCount_;
  }
  __aicore__ inline bool HasIdleBuffer() {
    static_assert(depth != 0, "HasIdleBuffer: a queue of depth 0 does not know");
    for (uint8_t i = 0; i < bufNum_; ++i)
      if (bufStart_[i].state == TBufState::FREE) return true;
    return false;
  }
  __aicore__ inline void FreeAllEvent() {
    for (uint8_t i = 0; i < bufNum_; ++i) {
      TBufType& buf = bufStart_[i];
      if (buf.freeBufEvtID == INVALID_TEVENTID || depth == 0) continue;
      Internal::WaitEvent(buf.freeBufEvt, buf.freeBufEvtID);
      Internal::ReturnEvent(buf.freeBufEvt, buf.freeBufEvtID);
      buf.freeBufEvtID = INVALID_TEVENTID;
    }
  }
  template <typename T>
  __aicore__ inline TBufState GetState(const LocalTensor<T>& tensor) const {
    const auto* buf = reinterpret_cast<const TBufType*>(tensor.GetBufferHandle());
    return buf ? buf->state : TBufState::FREE;
  }

  __aicore__ inline void FreeBuffer(TBufHandle handle) {
    TBufType* buf = Own(handle, "FreeTensor");
    if (buf->state == TBufState::FREE)
      dav::raise_unbalanced("FreeTensor", "the tensor was freed already");
    if (buf->state == TBufState::ENQUE)
      dav::raise_unbalanced("FreeTensor", "the tensor is still in the queue; DeQue comes first");
    if constexpr (depth != 0) buf->freeBufEvtID = Internal::TakeEvent(freeBufEvt);
    Internal::SetEvent(freeBufEvt, buf->freeBufEvtID);
    buf->state = TBufState::FREE;
  }
  __aicore__ inline TBuffAddr GetBufferAddr(TBufHandle handle) {
    const auto* buf = reinterpret_cast<const TBufType*>(handle);
    TBuffAddr addr;
    addr.dataLen = buf->dataLen;
    addr.bufferAddr = buf->address;
    addr.bufferHandle = handle;
    addr.logicPos = static_cast<uint8_t>(position);
    return addr;
  }
  // For allocators of the kernel's own.
  __aicore__ inline void InitStartBufHandle(TBufHandle start, uint8_t num, uint32_t) {
    bufStart_ = reinterpret_cast<TBufType*>(start);
    bufNum_ = num;
    bufCursor_ = 0;
    usedCount_ = head_ = tail_ = 0;
  }
  template <typename Pool>
  __aicore__ inline void InitBufHandle(Pool*, uint32_t index, TBufHandle start, uint32_t address,
                                       uint32_t len) {
    auto* buf = reinterpret_cast<TBufType*>(start) + index;
    *buf = TBufType{};
    buf->freeBufEvt = freeBufEvt;
    buf->address = address;
    buf->dataLen = (len + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE;
    buf->queued = true;
    if constexpr (depth == 0) {
      buf->enQueEvt = enQueEvt;
      buf->enQueEvtID = Internal::TakeEvent(enQueEvt);
      buf->freeBufEvtID = Internal::TakeEvent(freeBufEvt);
      Internal::SetEvent(freeBufEvt, buf->freeBufEvtID);
    }
  }

 private:
  template <TPosition srcUserPos, TPosition dstUserPos>
  static constexpr HardEvent UserEvent() {
    return Internal::QueueEvent(GetPhyType(srcUserPos), GetPhyType(dstUserPos), true, false);
  }
  static TBufHandle Handle(TBufType* buf) { return reinterpret_cast<TBufHandle>(buf); }
  template <typename T>
  __aicore__ inline LocalTensor<T> Buf2Tensor(TBufHandle handle) {
    LocalTensor<T> tensor;
    tensor.SetAddr(GetBufferAddr(handle));
    return tensor;
  }
  TBufType* Own(TBufHandle handle, const char* what) {
    auto* buf = reinterpret_cast<TBufType*>(handle);
    if (buf < bufStart_ || buf >= bufStart_ + bufNum_)
      dav::raise_unbalanced(what, "the tensor does not belong to this queue");
    return buf;
  }
  // Buffers are handed out in turn, as on the device, where running out of them hangs.
  TBufType* TakeFree() {
    if (bufNum_ == 0) dav::raise_unbalanced("AllocTensor", "the queue has no InitBuffer");
    for (uint8_t tried = 0; tried < bufNum_; ++tried) {
      TBufType* buf = bufStart_ + bufCursor_;
      bufCursor_ = static_cast<uint8_t>((bufCursor_ + 1) % bufNum_);
      if (buf->state != TBufState::FREE) continue;
      buf->state = TBufState::OCCUPIED;
      return buf;
    }
    dav::raise_unbalanced("AllocTensor",
                          "all %u buffers of the queue in %s are in use; FreeTensor comes first",
                          static_cast<unsigned>(bufNum_), Internal::HardwareName(hardware));
  }
  bool Push(TBufHandle handle, HardEvent event) {
    TBufType* buf = Own(handle, "EnQue");
    if (buf->state != TBufState::OCCUPIED && buf->state != TBufState::DEQUE)
      dav::raise_unbalanced("EnQue", buf->state == TBufState::FREE
                                         ? "the tensor was not allocated"
                                         : "the tensor is in the queue already");
    if constexpr (depth != 0) {
      if (usedCount_ >= depth)
        dav::raise_unbalanced("EnQue", "the queue's depth of %d is used up",
                              static_cast<int>(depth));
      queue_[tail_] = handle;
      tail_ = (tail_ + 1) % kSlots;
      ++usedCount_;
      buf->enQueEvtID = Internal::TakeEvent(event);
    }
    buf->state = TBufState::ENQUE;
    Internal::SetEvent(event, buf->enQueEvtID);
    return true;
  }
  TBufHandle Pop(HardEvent event) {
    if (usedCount_ <= 0) dav::raise_unbalanced("DeQue", "the queue is empty");
    const TBufHandle handle = queue_[head_];
    head_ = (head_ + 1) % kSlots;
    --usedCount_;
    auto* buf = reinterpret_cast<TBufType*>(handle);
    buf->state = TBufState::DEQUE;
    if (buf->enQueEvtID != INVALID_TEVENTID) {
      Internal::WaitEvent(event, buf->enQueEvtID);
      Internal::ReturnEvent(event, buf->enQueEvtID);
      buf->enQueEvtID = INVALID_TEVENTID;
    }
    return handle;
  }

  static constexpr int32_t kSlots = depth > 0 ? depth : 1;
  TBufType* bufStart_ = nullptr;
  uint8_t bufNum_ = 0;
  uint8_t bufCursor_ = 0;
  int32_t usedCount_ = 0;
  int32_t head_ = 0;
  int32_t tail_ = 0;
  TBufHandle queue_[kSlots] = {};
};

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue
    : public TQueBind<Internal::QueueSource(pos), Internal::QueueDestination(pos), depth, mask> {
  static_assert(pos != TPosition::GM && pos != TPosition::VECCALC && pos != TPosition::MAX,
                "no queue lives at this position");
};

template <TPosition pos, int32_t depth = 1, auto mask = 0>
using TSCM = TQueBind<pos, TPosition::TSCM, depth, mask>;

// Memory for the life of the TPipe, without synchronisation.
template <TPosition pos = TPosition::LCM>
class TBuf {
 public:
  static constexpr bool isTQue = false;
  static constexpr TPosition position = pos;
  static constexpr Hardware hardware = GetPhyType(pos);

  __aicore__ inline TBuf() = default;

  template <typename T>
  __aicore__ inline LocalTensor<T> Get() {
    return Slice<T>(0, bufLen_);
  }
  // The first `len` elements.
  template <typename T>
  __aicore__ inline LocalTensor<T> Get(uint32_t len) {
    return Slice<T>(0, static_cast<uint32_t>(BytesOf<PrimT<T>>(len)));
  }
  // `size` elements from byte `bufOffset` on.
  template <typename T>
  __aicore__ inline LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset) {
    if (bufOffset % ONE_BLK_SIZE)
      dav::raise_illegal("TBuf::GetWithOffset", "bufOffset is %u; offsets are multiples of 32",
                         bufOffset);
    return Slice<T>(bufOffset, static_cast<uint32_t>(BytesOf<PrimT<T>>(size)));
  }
  template <typename T>
  __aicore__ inline LocalTensor<T> AllocTensor() {
    return Get<T>();
  }
  template <typename T>
  __aicore__ inline void FreeTensor(LocalTensor<T>&) {}
  template <typename T>
  __aicore__ inline void EnQue(const LocalTensor<T>&) {}
  template <typename T>
  __aicore__ inline LocalTensor<T> DeQue() {
    return Get<T>();
  }
  __aicore__ inline void InitStartBufHandle(TBufHandle start, uint8_t, uint32_t len) {
    bufStart_ = reinterpret_cast<TBufType*>(start);
    bufLen_ = len;
  }
  // For allocators of the kernel's own.
  template <typename Pool>
  __aicore__ inline void InitBufHandle(Pool*, uint32_t index, TBufHandle start, uint32_t address,
                                       uint32_t len) {
    auto* buf = reinterpret_cast<TBufType*>(start) + index;
    *buf = TBufType{};
    buf->address = address;
    buf->dataLen = len;
  }

 private:
  template <typename T>
  LocalTensor<T> Slice(uint32_t offset, uint32_t bytes) {
    if (bufStart_ == nullptr) dav::raise_illegal("TBuf::Get", "the buffer has no InitBuffer");
    if (bytes > bufLen_ || offset > bufLen_ - bytes)
      dav::raise_illegal("TBuf::Get", "bytes %u to %u of a buffer of %u bytes in %s", offset,
                         offset + bytes, bufLen_, Internal::HardwareName(hardware));
    TBuffAddr addr;
    addr.dataLen = bytes;
    addr.bufferAddr = bufStart_->address + offset;
    addr.bufferHandle = reinterpret_cast<TBufHandle>(bufStart_);
    addr.logicPos = static_cast<uint8_t>(pos);
    LocalTensor<T> tensor;
    tensor.SetAddr(addr);
    return tensor;
  }

  TBufType* bufStart_ = nullptr;
  uint32_t bufLen_ = 0;
};

}  // namespace AscendC
