// LocalTensor and GlobalTensor: typed views of a local buffer and of global memory. A local tensor
// is a position, a byte offset and a length; it never holds a host pointer.
#pragma once

#include "ascendc/base.h"
#include "ascendc/scalar_ref.h"
#include "ascendc/shape_info.h"

namespace AscendC {

using TBufHandle = uint8_t*;
using TEventID = int8_t;
using TTagType = int32_t;

// Which buffer a logical position lies in. The first generation has neither a bias table nor a
// Fixpipe buffer: bias goes through the unified buffer into L0C, and CO2 is the unified buffer. On
// split chips results leave L0C for global memory, so CO2 is global memory.
constexpr Hardware GetPhyType(TPosition position) {
  switch (position) {
    case TPosition::GM:
      return Hardware::GM;
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::SHM:
    case TPosition::TSCM:
      return Hardware::L1;
    case TPosition::A2:
      return Hardware::L0A;
    case TPosition::B2:
      return Hardware::L0B;
    case TPosition::CO1:
      return Hardware::L0C;
#if __NPU_ARCH__ == 1001
    case TPosition::C1:
    case TPosition::CO2:
      return Hardware::UB;
    case TPosition::C2:
      return Hardware::L0C;
#else
    case TPosition::C1:
      return Hardware::L1;
    case TPosition::C2:
      return Hardware::BIAS;
    case TPosition::CO2:
      return Hardware::GM;
    case TPosition::C2PIPE2GM:
      return Hardware::FIXBUF;
#endif
    default:
      return Hardware::UB;
  }
}

constexpr dav::Buffer BufferOf(Hardware hardware) {
  switch (hardware) {
    case Hardware::GM:
      return dav::Buffer::GM;
    case Hardware::L1:
      return dav::Buffer::L1;
    case Hardware::L0A:
      return dav::Buffer::L0A;
    case Hardware::L0B:
      return dav::Buffer::L0B;
    case Hardware::L0C:
      return dav::Buffer::L0C;
    case Hardware::BIAS:
      return dav::Buffer::BT;
    case Hardware::FIXBUF:
      return dav::Buffer::FB;
    default:
      return dav::Buffer::UB;
  }
}

// Bytes that `count` elements take; int4b_t packs two per byte.
template <typename T>
constexpr uint64_t BytesOf(uint64_t count) {
  return std::is_same<T, int4b_t>::value ? count / 2 : count * sizeof(T);
}

struct TBuffAddr {
  uint32_t dataLen = 0;     // bytes
  uint32_t bufferAddr = 0;  // byte offset in the buffer
  TBufHandle bufferHandle = nullptr;
  uint8_t logicPos = static_cast<uint8_t>(TPosition::VECCALC);
};

template <typename T>
class LocalTensor {
 public:
  using PrimType = PrimT<T>;

  LocalTensor() = default;
  LocalTensor(TPosition pos, uint32_t addr, uint32_t tileSize) {
    address_.logicPos = static_cast<uint8_t>(pos);
    address_.bufferAddr = addr;
    address_.dataLen = static_cast<uint32_t>(BytesOf<PrimType>(tileSize));
  }

  // Takes the result of an operator of ascendc/vector_operators.h.
  template <typename Expression, typename = typename Expression::TensorExpression>
  void operator=(const Expression& expression) {
    expression.Into(*this);
  }

  void SetAddr(const TBuffAddr& address) { address_ = address; }
  TBufHandle GetBufferHandle() const { return address_.bufferHandle; }

  uint64_t GetPhyAddr() const { return address_.bufferAddr; }
  uint64_t GetPhyAddr(const uint32_t offset) const {
    return address_.bufferAddr + BytesOf<PrimType>(offset);
  }
  int32_t GetPosition() const { return address_.logicPos; }

  PrimType GetValue(const uint32_t index) const {
    if constexpr (std::is_same<PrimType, int4b_t>::value) {
      const uint8_t pair = dav::load_element<uint8_t>(Buffer(), GetPhyAddr(index));
      return PrimType(static_cast<int32_t>(index % 2 ? pair >> 4 : pair));
    } else {
      return dav::load_element<PrimType>(Buffer(), GetPhyAddr(index));
    }
  }
  template <typename S>
  void SetValue(const uint32_t index, const S value) const {
    if constexpr (std::is_same<PrimType, int4b_t>::value) {
      const uint8_t pair = dav::load_element<uint8_t>(Buffer(), GetPhyAddr(index));
      const uint8_t low = PrimType(value).storage;
      dav::store_element<uint8_t>(
          Buffer(), GetPhyAddr(index),
          static_cast<uint8_t>(index % 2 ? (pair & 0xf) | (low << 4) : (pair & 0xf0) | low));
    } else {
      dav::store_element<PrimType>(Buffer(), GetPhyAddr(index), static_cast<PrimType>(value));
    }
  }
  dav::ScalarRef<PrimType> operator()(const uint32_t offset) const {
    return {Buffer(), GetPhyAddr(offset)};
  }

  template <typename U>
  LocalTensor<U> ReinterpretCast() const {
    LocalTensor<U> other;
    other.address_ = address_;
    return other;
  }
  // The rest of the tensor from element `offset` on.
  LocalTensor operator[](const uint32_t offset) const {
    LocalTensor rest = *this;
    const uint32_t skip = static_cast<uint32_t>(BytesOf<PrimType>(offset));
    rest.address_.bufferAddr += skip;
    rest.address_.dataLen = address_.dataLen > skip ? address_.dataLen - skip : 0;
    return rest;
  }
  template <typename S>
  void SetAddrWithOffset(LocalTensor<S>& src, uint32_t offset) {
    address_ = src.address_;
    address_.bufferAddr += offset * sizeof(PrimT<S>);
  }

  // In elements.
  uint32_t GetSize() const {
    return std::is_same<PrimType, int4b_t>::value
               ? address_.dataLen * 2
               : address_.dataLen / static_cast<uint32_t>(sizeof(PrimType));
  }
  void SetSize(const uint32_t size) {
    address_.dataLen = static_cast<uint32_t>(BytesOf<PrimType>(size));
  }
  // In bytes.
  uint32_t GetLength() const { return address_.dataLen; }
  void SetBufferLen(uint32_t dataLen) { address_.dataLen = dataLen; }

  void SetUserTag(const TTagType tag) { tag_ = tag; }
  TTagType GetUserTag() const { return tag_; }
  void SetShapeInfo(const ShapeInfo& shapeInfo) { shapeInfo_ = shapeInfo; }
  ShapeInfo GetShapeInfo() const { return shapeInfo_; }

  // The operand an instruction takes.
  dav::Buffer Buffer() const {
    return BufferOf(GetPhyType(static_cast<TPosition>(address_.logicPos)));
  }
  dav::Local Operand() const { return {Buffer(), address_.bufferAddr}; }

  TBuffAddr address_;
  ShapeInfo shapeInfo_;

 private:
  TTagType tag_ = 0;
};

template <typename T>
class GlobalTensor {
 public:
  using PrimType = PrimT<T>;

  GlobalTensor() = default;

  void SetGlobalBuffer(__gm__ PrimType* buffer, uint64_t bufferSize) {
    address_ = buffer;
    oriAddress_ = buffer;
    bufferSize_ = bufferSize;
  }
  void SetGlobalBuffer(__gm__ PrimType* buffer) {
    address_ = buffer;
    oriAddress_ = buffer;
  }
  void SetAddr(const uint64_t offset) { address_ = GetPhyAddr(offset); }

  const __gm__ PrimType* GetPhyAddr() const { return address_; }
  __gm__ PrimType* GetPhyAddr(const uint64_t offset) const {
    return reinterpret_cast<PrimType*>(reinterpret_cast<uintptr_t>(address_) +
                                       BytesOf<PrimType>(offset));
  }

  PrimType GetValue(const uint64_t offset) const {
    return dav::load_element<PrimType>(dav::Buffer::GM, Operand(offset));
  }
  void SetValue(const uint64_t offset, PrimType value) {
    dav::store_element<PrimType>(dav::Buffer::GM, Operand(offset), value);
  }
  dav::ScalarRef<PrimType> operator()(const uint64_t offset) const {
    return {dav::Buffer::GM, Operand(offset)};
  }

  uint64_t GetSize() const { return bufferSize_; }
  GlobalTensor operator[](const uint64_t offset) const {
    GlobalTensor rest = *this;
    rest.address_ = GetPhyAddr(offset);
    return rest;
  }
#if __NPU_ARCH__ == 3510
  template <typename U>
  GlobalTensor<U> ReinterpretCast() const {
    GlobalTensor<U> other;
    other.address_ = reinterpret_cast<PrimT<U>*>(address_);
    other.oriAddress_ = reinterpret_cast<PrimT<U>*>(oriAddress_);
    other.bufferSize_ = bufferSize_ * sizeof(PrimType) / sizeof(PrimT<U>);
    return other;
  }
#endif

  void SetShapeInfo(const ShapeInfo& shapeInfo) { shapeInfo_ = shapeInfo; }
  ShapeInfo GetShapeInfo() const { return shapeInfo_; }
  template <CacheRwMode rwMode = CacheRwMode::RW>
  void SetL2CacheHint(CacheMode mode) {
    cacheMode_ = mode;
  }

  // The device address of element `offset`, as instructions take it.
  uint64_t Operand(uint64_t offset = 0) const {
    return reinterpret_cast<uint64_t>(GetPhyAddr(offset));
  }

  __gm__ PrimType* address_ = nullptr;
  __gm__ PrimType* oriAddress_ = nullptr;
  uint64_t bufferSize_ = 0;
  ShapeInfo shapeInfo_;
  CacheMode cacheMode_ = CacheMode::CACHE_MODE_NORMAL;
};

// Hands out consecutive tensors of one buffer, for kernels that manage addresses themselves.
template <Hardware hard = Hardware::UB>
class LocalMemAllocator {
 public:
  LocalMemAllocator() = default;
  uint32_t GetCurAddr() const { return head_; }

  template <TPosition pos, class DataType, uint32_t tileSize>
  LocalTensor<DataType> Alloc() {
    return Alloc<pos, DataType>(tileSize);
  }
  template <TPosition pos, class DataType>
  LocalTensor<DataType> Alloc(uint32_t tileSize) {
    static_assert(GetPhyType(pos) == hard, "the position does not lie in the allocator's buffer");
    LocalTensor<DataType> tensor(pos, head_, tileSize);
    // Allocations start at whole 32-byte blocks.
    head_ += (tensor.GetLength() + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE;
    return tensor;
  }
  template <class DataType, uint32_t tileSize>
  LocalTensor<DataType> Alloc() {
    return Alloc<DefaultPosition(), DataType>(tileSize);
  }
  template <class DataType>
  LocalTensor<DataType> Alloc(uint32_t tileSize) {
    return Alloc<DefaultPosition(), DataType>(tileSize);
  }

 private:
  static constexpr TPosition DefaultPosition() {
    switch (hard) {
      case Hardware::L1:
        return TPosition::A1;
      case Hardware::L0A:
        return TPosition::A2;
      case Hardware::L0B:
        return TPosition::B2;
      case Hardware::L0C:
        return TPosition::CO1;
      case Hardware::BIAS:
        return TPosition::C2;
      case Hardware::FIXBUF:
        return TPosition::C2PIPE2GM;
      default:
        return TPosition::VECCALC;
    }
  }
  uint32_t head_ = 0;
};

}  // namespace AscendC
