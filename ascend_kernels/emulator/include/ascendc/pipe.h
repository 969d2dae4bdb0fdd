// TPipe: hands out the local buffers and event ids of one core.
#pragma once

#include <array>
#include <exception>
#include <tuple>

#include "ascendc/queue.h"

namespace AscendC {

class TPipe;

namespace Std {
using std::get;
using std::make_tuple;
using std::tuple;
}  // namespace Std

constexpr uint32_t QBUF_MAX_LEN = 64;
constexpr uint32_t defaultBufIDSize = 4;

namespace Internal {

constexpr uint32_t RoundUpToBlock(uint32_t bytes) {
  return (bytes + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE;
}

// A piece of one buffer and the descriptors carved from it.
template <uint32_t capacity>
struct BufTable {
  std::array<TBufType, capacity> bufs{};
  uint32_t used = 0;

  TBufType* Take(uint32_t count, const char* what) {
    if (count == 0 || count > capacity - used)
      dav::raise_illegal(what, "%u more buffers after %u; at most %u are allowed", count, used,
                         capacity);
    TBufType* first = &bufs[used];
    used += count;
    return first;
  }
  // Waits for whoever still uses a freed buffer and checks that queues are empty.
  void Drain(bool check) {
    for (uint32_t i = 0; i < used; ++i) {
      TBufType& buf = bufs[i];
      if (check && buf.queued && buf.state != TBufState::FREE)
        dav::raise_unbalanced("TPipe", "a queue's tensor of %u bytes at offset %u was never freed",
                              buf.dataLen, buf.address);
      if (buf.freeBufEvtID != INVALID_TEVENTID && buf.state == TBufState::FREE) {
        WaitEvent(buf.freeBufEvt, buf.freeBufEvtID);
        ReturnEvent(buf.freeBufEvt, buf.freeBufEvtID);
        buf.freeBufEvtID = INVALID_TEVENTID;
      }
      // Queues of depth 0 keep one event id for their whole life.
      if (buf.enQueEvtID != INVALID_TEVENTID && buf.enQueEvt != HardEvent::MAX) {
        ReturnEvent(buf.enQueEvt, buf.enQueEvtID);
        buf.enQueEvtID = INVALID_TEVENTID;
      }
    }
  }
};

// Places `num` buffers of `len` bytes at `address` and gives them to a queue or TBuf.
template <typename Queue>
void Attach(Queue& queue, TBufType* first, uint8_t num, uint32_t len, uint32_t address) {
  if constexpr (Queue::isTQue) {
    queue.InitStartBufHandle(reinterpret_cast<TBufHandle>(first), num, len);
    for (uint8_t i = 0; i < num; ++i)
      queue.InitBufHandle(&queue, i, reinterpret_cast<TBufHandle>(first), address + i * len, len);
  } else {
    *first = TBufType{};
    first->address = address;
    first->dataLen = len;
    queue.InitStartBufHandle(reinterpret_cast<TBufHandle>(first), 1, len);
  }
}

}  // namespace Internal

// A sub-pool of UB or L1 whose buffers can be carved anew after Reset.
template <TPosition pos, uint32_t bufIDSize = defaultBufIDSize>
class TBufPool {
 public:
  static constexpr bool isTbufPool = true;
  static constexpr TPosition poolPos = pos;
  static constexpr Hardware hardware = GetPhyType(pos);
  static_assert(hardware == Hardware::L1 || hardware == Hardware::UB,
                "a TBufPool lies in L1 or UB");

  __aicore__ inline TBufPool() = default;
  __aicore__ inline ~TBufPool() noexcept(false) {
    if (std::uncaught_exceptions() == 0) Reset();
  }
  TBufPool(const TBufPool&) = delete;
  TBufPool& operator=(const TBufPool&) = delete;

  template <class T>
  __aicore__ inline bool InitBuffer(T& que, uint8_t num, uint32_t len) {
    static_assert(T::isTQue, "InitBuffer(queue, num, len)");
    Carve(que, num, len);
    return true;
  }
  template <TPosition bufPos>
  __aicore__ inline bool InitBuffer(TBuf<bufPos>& buf, uint32_t len) {
    Carve(buf, 1, len);
    return true;
  }
  template <class T>
  __aicore__ inline bool InitBufPool(T& bufPool, uint32_t len) {
    static_assert(T::isTbufPool && T::hardware == hardware, "a pool of the same buffer");
    len = Internal::RoundUpToBlock(len);
    bufPool.Place(Reserve(len), len);
    return true;
  }
  template <class T, class U>
  __aicore__ inline bool InitBufPool(T& bufPool, uint32_t len, U& shareBuf) {
    static_assert(T::isTbufPool && U::isTbufPool && T::hardware == U::hardware,
                  "pools of the same buffer");
    bufPool.Share(shareBuf, len);
    return true;
  }
  __aicore__ inline void Reset() {
    table_.Drain(false);
    table_.used = 0;
    next_ = start_;
  }

  // For TPipe and enclosing pools.
  void Place(uint32_t start, uint32_t len) {
    start_ = next_ = start;
    len_ = len;
    table_.used = 0;
  }
  template <class U>
  void Share(const U& other, uint32_t len) {
    len = Internal::RoundUpToBlock(len);
    if (len > other.Bytes())
      dav::raise_illegal("InitBufPool", "%u bytes do not fit the shared pool of %u bytes", len,
                         other.Bytes());
    Place(other.Start(), other.Bytes());
  }
  uint32_t Start() const { return start_; }
  uint32_t Bytes() const { return len_; }

 private:
  uint32_t Reserve(uint32_t bytes) {
    if (bytes == 0 || bytes > start_ + len_ - next_)
      dav::raise_illegal("TBufPool", "%u bytes requested, %u of the pool's %u bytes in %s are left",
                         bytes, start_ + len_ - next_, len_, Internal::HardwareName(hardware));
    const uint32_t address = next_;
    next_ += bytes;
    return address;
  }
  template <class Q>
  void Carve(Q& queue, uint8_t num, uint32_t len) {
    static_assert(Q::hardware == hardware, "the queue does not lie in the pool's buffer");
    len = Internal::RoundUpToBlock(len);
    TBufType* first = table_.Take(num, "TBufPool::InitBuffer");
    Internal::Attach(queue, first, num, len, Reserve(num * len));
  }

  Internal::BufTable<bufIDSize> table_;
  uint32_t start_ = 0, len_ = 0, next_ = 0;
};

class TPipe {
 public:
  __aicore__ inline TPipe() {
    dav::init_soc_state();
    Init();
  }
  // A trap on its way out of the kernel is the only report that matters.
  __aicore__ inline ~TPipe() noexcept(false) {
    if (active_ && std::uncaught_exceptions() == 0) Destroy();
    if (active_) dav::set_slot(dav::Slot::TPipe, nullptr);
  }
  TPipe(const TPipe&) = delete;
  TPipe& operator=(const TPipe&) = delete;

  __aicore__ inline void Init() {
    if (dav::slot(dav::Slot::TPipe) != nullptr)
      dav::raise_illegal("TPipe", "another TPipe is alive; Destroy() it first");
    dav::set_slot(dav::Slot::TPipe, this);
    table_.used = 0;
    next_.fill(0);
    tscm_ = TOTAL_L1_SIZE;
    active_ = true;
    // The matrix library finds its L0 double buffers and bias table free at the start.
    if constexpr (kMatrixEvents) {
      for (TEventID expected = 0; expected < 3; ++expected)
        Internal::SetEvent(HardEvent::M_MTE1, Internal::TakeEvent(HardEvent::M_MTE1));
    }
  }

  template <class T>
  __aicore__ inline bool InitBuffer(T& que, uint8_t num, uint32_t len) {
    static_assert(T::isTQue, "InitBuffer(queue, num, len)");
    static_assert(T::hardware != Hardware::GM, "the queue lies in global memory");
    len = Internal::RoundUpToBlock(len);
    TBufType* first = table_.Take(num, "InitBuffer");
    const uint32_t address = T::dstPosition == TPosition::TSCM
                                 ? ReserveTop(num * len)
                                 : Reserve(T::hardware, num * len, "InitBuffer");
    Internal::Attach(que, first, num, len, address);
    return true;
  }
  // Buffers where the kernel wants them: (offset, bytes) each.
  template <class T, class U, class V, class... Addrs>
  __aicore__ inline bool InitBuffer(T& que, const Std::tuple<U, V>& addr0, const Addrs&... addrs) {
    static_assert(T::isTQue, "InitBuffer(queue, addresses...)");
    static_assert(T::hardware != Hardware::GM && T::dstPosition != TPosition::TSCM,
                  "the queue has no place of its own");
    constexpr auto num = static_cast<uint8_t>(1 + sizeof...(addrs));
    TBufType* first = table_.Take(num, "InitBuffer");
    const auto start = reinterpret_cast<TBufHandle>(first);
    que.InitStartBufHandle(start, num, 0);
    uint32_t index = 0;
    const auto place = [&](const auto& addr) {
      const auto at = static_cast<uint64_t>(std::get<0>(addr));
      const auto len = static_cast<uint64_t>(std::get<1>(addr));
      const uint32_t limit =
          T::hardware == Hardware::L1 ? L1Limit() : Internal::HardwareBytes(T::hardware);
      if (at % ONE_BLK_SIZE || len == 0 || at > limit || len > limit - at)
        dav::raise_illegal("InitBuffer", "%llu bytes at %llu of %u in %s, in whole blocks of 32",
                           static_cast<unsigned long long>(len),
                           static_cast<unsigned long long>(at), limit,
                           Internal::HardwareName(T::hardware));
      que.InitBufHandle(this, index++, start, static_cast<uint32_t>(at),
                        static_cast<uint32_t>(len));
    };
    place(addr0);
    (place(addrs), ...);
    return true;
  }
  template <TPosition pos>
  __aicore__ inline bool InitBuffer(TBuf<pos>& buf, uint32_t len) {
    static_assert(TBuf<pos>::hardware != Hardware::GM, "the buffer lies in global memory");
    len = Internal::RoundUpToBlock(len);
    TBufType* first = table_.Take(1, "InitBuffer");
    Internal::Attach(buf, first, 1, len, Reserve(TBuf<pos>::hardware, len, "InitBuffer"));
    return true;
  }
  template <class T>
  __aicore__ inline bool InitBufPool(T& bufPool, uint32_t len) {
    static_assert(T::isTbufPool, "InitBufPool(pool, len)");
    len = Internal::RoundUpToBlock(len);
    bufPool.Place(Reserve(T::hardware, len, "InitBufPool"), len);
    return true;
  }
  template <class T, class U>
  __aicore__ inline bool InitBufPool(T& bufPool, uint32_t len, U& shareBuf) {
    static_assert(T::isTbufPool && U::isTbufPool && T::hardware == U::hardware,
                  "pools of the same buffer");
    bufPool.Share(shareBuf, len);
    return true;
  }

  template <HardEvent evt>
  __aicore__ inline TEventID AllocEventID() {
    return Internal::TakeEvent(evt);
  }
  template <HardEvent evt>
  __aicore__ inline void ReleaseEventID(TEventID id) {
    Internal::ReturnEvent(evt, id);
  }
  template <HardEvent evt>
  __aicore__ inline TEventID FetchEventID() {
    return FetchEventID(evt);
  }
  __aicore__ inline TEventID FetchEventID(HardEvent evt) {
    const Internal::PipePair pipes = Internal::PipesOf(evt);
    const int32_t id = dav::fetch_event_id(pipes.src, pipes.dst);
    if (id < 0)
      dav::raise_unbalanced("FetchEventID", "all %d event ids of this pipe pair are taken",
                            static_cast<int>(QUE_MAX_EVENT));
    return static_cast<TEventID>(id);
  }

  template <TPosition pos>
  __aicore__ inline TBuffAddr GetAbsAddr(int32_t offset, int32_t len) const {
    TBuffAddr addr;
    addr.logicPos = static_cast<uint8_t>(pos);
    addr.bufferAddr = static_cast<uint32_t>(offset);
    addr.dataLen = static_cast<uint32_t>(len);
    return addr;
  }
  template <TPosition pos, typename T>
  __aicore__ inline LocalTensor<T> GetAbsAddr(int32_t offset, int32_t size) const {
    LocalTensor<T> tensor;
    tensor.SetAddr(GetAbsAddr<pos>(offset, size * static_cast<int32_t>(sizeof(T))));
    return tensor;
  }

  __aicore__ inline void Reset() {
    table_.Drain(false);
    dav::init_soc_state();
    table_.used = 0;
    next_.fill(0);
    tscm_ = TOTAL_L1_SIZE;
  }
  __aicore__ inline void DestroyWithoutPipeAll() {
    table_.Drain(true);
    if constexpr (kMatrixEvents) {
      for (TEventID id = 0; id < 3; ++id) {
        Internal::WaitEvent(HardEvent::M_MTE1, id);
        Internal::ReturnEvent(HardEvent::M_MTE1, id);
      }
    }
    active_ = false;
    dav::set_slot(dav::Slot::TPipe, nullptr);
  }
  __aicore__ inline void Destroy() {
    DestroyWithoutPipeAll();
    dav::pipe_barrier(dav::Pipe::ALL);
  }

 private:
  template <typename T, TPosition pos>
  friend bool PopStackBuffer(LocalTensor<T>& popBuffer);

  // Bytes handed out of a buffer so far.
  template <TPosition pos>
  uint64_t GetQueueEndAddress() const {
    return next_[static_cast<size_t>(GetPhyType(pos))];
  }

  static constexpr bool kMatrixEvents = __NPU_ARCH__ == 2201 && g_coreType == AscendC::AIC;

  uint32_t Reserve(Hardware hardware, uint32_t bytes, const char* what) {
    uint32_t& next = next_[static_cast<size_t>(hardware)];
    const uint32_t limit = hardware == Hardware::L1 ? L1Limit() : Internal::HardwareBytes(hardware);
    if (bytes == 0 || bytes > limit - next)
      dav::raise_illegal(what, "%u bytes requested in %s, %u of %u bytes are taken", bytes,
                         Internal::HardwareName(hardware), next, limit);
    const uint32_t address = next;
    next += bytes;
    return address;
  }
  // What lies above TOTAL_L1_SIZE belongs to the messages of the Matmul library; a kernel that does
  // its own matrix products may take all of L1.
  uint32_t L1Limit() const {
    return tscm_ == TOTAL_L1_SIZE ? (TOTAL_L1_SIZE + 1023) / 1024 * 1024 : tscm_;
  }
  // TSCM grows from the top of L1.
  uint32_t ReserveTop(uint32_t bytes) {
    const uint32_t next = next_[static_cast<size_t>(Hardware::L1)];
    if (bytes == 0 || bytes > tscm_ - next)
      dav::raise_illegal("InitBuffer", "%u bytes of TSCM requested in L1, %u bytes are left", bytes,
                         tscm_ - next);
    tscm_ -= bytes;
    return tscm_;
  }

  Internal::BufTable<QBUF_MAX_LEN> table_;
  std::array<uint32_t, static_cast<size_t>(Hardware::MAX)> next_{};
  uint32_t tscm_ = TOTAL_L1_SIZE;
  bool active_ = false;
};

// All of a buffer that TPipe has not handed out.
template <typename T, TPosition pos>
__aicore__ inline bool PopStackBuffer(LocalTensor<T>& popBuffer) {
  auto* pipe = static_cast<TPipe*>(dav::slot(dav::Slot::TPipe));
  if (pipe == nullptr) dav::raise_illegal("PopStackBuffer", "there is no TPipe");
  const uint64_t begin = pipe->GetQueueEndAddress<pos>();
  const uint64_t end = GetPhyType(pos) == Hardware::UB ? static_cast<uint64_t>(TOTAL_VEC_LOCAL_SIZE)
                                                       : Internal::HardwareBytes(GetPhyType(pos));
  if (begin >= end)
    dav::raise_illegal("PopStackBuffer", "all %llu bytes of %s are taken",
                       static_cast<unsigned long long>(end),
                       Internal::HardwareName(GetPhyType(pos)));
  TBuffAddr addr;
  addr.logicPos = static_cast<uint8_t>(pos);
  addr.bufferAddr = static_cast<uint32_t>(begin);
  addr.dataLen = static_cast<uint32_t>(end - begin);
  popBuffer.SetAddr(addr);
  return true;
}

}  // namespace AscendC

__aicore__ inline AscendC::TPipe* GetTPipePtr() {
  return static_cast<AscendC::TPipe*>(dav::slot(dav::Slot::TPipe));
}
