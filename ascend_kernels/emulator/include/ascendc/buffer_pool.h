// Pools whose buffers the kernel carves by a rule of its own.
#pragma once

#include "ascendc/pipe.h"

namespace AscendC::Internal {

template <uint32_t capacity>
class CustomPool {
 public:
  void Place(uint32_t start, uint32_t len) {
    start_ = current_ = start;
    len_ = len;
    table_.used = 0;
  }
  void Reset() {
    table_.Drain(false);
    table_.used = 0;
    current_ = start_;
  }
  TBufHandle Handle(uint8_t offset) {
    if (offset >= capacity)
      dav::raise_illegal("GetBufHandle", "buffer %u of a pool of %u", offset, capacity);
    return reinterpret_cast<TBufHandle>(&table_.bufs[offset]);
  }
  void SetAddress(uint32_t address) {
    if (address < start_ || address > start_ + len_)
      dav::raise_illegal("SetCurAddr", "%u leaves the pool of %u bytes at %u", address, len_,
                         start_);
    current_ = address;
  }
  uint32_t Address() const { return current_; }
  void SetCount(uint8_t count) {
    if (count > capacity)
      dav::raise_illegal("SetCurBufSize", "%u buffers in a pool of %u", count, capacity);
    table_.used = count;
  }
  uint8_t Count() const { return static_cast<uint8_t>(table_.used); }
  uint32_t Start() const { return start_; }
  uint32_t Bytes() const { return len_; }

 private:
  BufTable<capacity> table_;
  uint32_t start_ = 0, len_ = 0, current_ = 0;
};

}  // namespace AscendC::Internal

// In the body of a class: makes it a pool at POSITION with at most BUFID_SIZE buffers.
#define EXTERN_IMPL_BUFPOOL(EXT_BUFPOOL, POSITION, BUFID_SIZE)                                 \
 private:                                                                                      \
  ::AscendC::Internal::CustomPool<BUFID_SIZE> dav_pool_;                                       \
                                                                                               \
 public:                                                                                       \
  static constexpr bool isTbufPool = true;                                                     \
  static constexpr ::AscendC::TPosition poolPos = POSITION;                                    \
  static constexpr ::AscendC::Hardware hardware = ::AscendC::GetPhyType(POSITION);             \
  EXT_BUFPOOL(const EXT_BUFPOOL&) = delete;                                                    \
  EXT_BUFPOOL& operator=(const EXT_BUFPOOL&) = delete;                                         \
  __aicore__ inline void Init() { dav_pool_.Place(0, 0); }                                     \
  __aicore__ inline void Reset() { dav_pool_.Reset(); }                                        \
  __aicore__ inline ::AscendC::TBufHandle GetBufHandle(uint8_t offset) {                       \
    return dav_pool_.Handle(offset);                                                           \
  }                                                                                            \
  __aicore__ inline void SetCurAddr(uint32_t curAddr) { dav_pool_.SetAddress(curAddr); }       \
  __aicore__ inline uint32_t GetCurAddr() { return dav_pool_.Address(); }                      \
  __aicore__ inline void SetCurBufSize(uint8_t curBufSize) { dav_pool_.SetCount(curBufSize); } \
  __aicore__ inline uint8_t GetCurBufSize() { return dav_pool_.Count(); }                      \
  void Place(uint32_t start, uint32_t len) { dav_pool_.Place(start, len); }                    \
  uint32_t Start() const { return dav_pool_.Start(); }                                         \
  uint32_t Bytes() const { return dav_pool_.Bytes(); }
