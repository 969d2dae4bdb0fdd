// What the vector API families share: repeat parameters, mask registers, and the element types each
// architecture's instructions take.
#pragma once

#include "ascendc/base.h"
#include "ascendc/tensor.h"
#include "dav/abi_sync.h"
#include "dav/abi_vector.h"

namespace AscendC {

constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};

struct UnaryRepeatParams {
  __aicore__ UnaryRepeatParams() {}
  __aicore__ UnaryRepeatParams(const uint16_t dstBlkStrideIn, const uint16_t srcBlkStrideIn,
                               const uint8_t dstRepStrideIn, const uint8_t srcRepStrideIn)
      : dstBlkStride(dstBlkStrideIn),
        srcBlkStride(srcBlkStrideIn),
        dstRepStride(dstRepStrideIn),
        srcRepStride(srcRepStrideIn) {}
  __aicore__ UnaryRepeatParams(const uint16_t dstBlkStrideIn, const uint16_t srcBlkStrideIn,
                               const uint8_t dstRepStrideIn, const uint8_t srcRepStrideIn,
                               const bool halfBlockIn)
      : UnaryRepeatParams(dstBlkStrideIn, srcBlkStrideIn, dstRepStrideIn, srcRepStrideIn) {
    halfBlock = halfBlockIn;
  }

  uint32_t blockNumber = DEFAULT_BLK_NUM;
  uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint16_t srcBlkStride = DEFAULT_BLK_STRIDE;
  uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t srcRepStride = DEFAULT_REPEAT_STRIDE;
  bool repeatStrideMode = false;
  bool strideSizeMode = false;
  bool halfBlock = false;
};

struct BinaryRepeatParams {
  __aicore__ BinaryRepeatParams() {}
  __aicore__ BinaryRepeatParams(const uint8_t dstBlkStrideIn, const uint8_t src0BlkStrideIn,
                                const uint8_t src1BlkStrideIn, const uint8_t dstRepStrideIn,
                                const uint8_t src0RepStrideIn, const uint8_t src1RepStrideIn)
      : dstBlkStride(dstBlkStrideIn),
        src0BlkStride(src0BlkStrideIn),
        src1BlkStride(src1BlkStrideIn),
        dstRepStride(dstRepStrideIn),
        src0RepStride(src0RepStrideIn),
        src1RepStride(src1RepStrideIn) {}

  uint32_t blockNumber = DEFAULT_BLK_NUM;
  uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
  bool repeatStrideMode = false;
  bool strideSizeMode = false;
};

struct BrcbRepeatParams {
  __aicore__ BrcbRepeatParams() {}
  __aicore__ BrcbRepeatParams(const uint16_t dstBlkStrideIn, const uint16_t dstRepStrideIn)
      : dstRepStride(dstRepStrideIn), dstBlkStride(dstBlkStrideIn) {}

  uint32_t blockNumber = DEFAULT_BLK_NUM;
  uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
  bool repeatStrideMode = false;
  bool strideSizeMode = false;
};

// The mask register. Its modes came after the 910A.
#if __NPU_ARCH__ != 1001
__aicore__ inline void SetMaskCount() { dav::set_mask_mode(true); }
__aicore__ inline void SetMaskNorm() { dav::set_mask_mode(false); }
__aicore__ inline void ResetMask() { dav::set_vector_mask(FULL_MASK, FULL_MASK); }
#endif

template <typename T, MaskMode mode = MaskMode::NORMAL>
__aicore__ inline void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow) {
  dav::set_vector_mask(maskHigh, maskLow);
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
__aicore__ inline void SetVectorMask(int32_t len) {
  static_assert(mode == MaskMode::NORMAL || __NPU_ARCH__ != 1001,
                "this architecture has no counter mode");
  constexpr int32_t lanes = ONE_REPEAT_BYTE_SIZE / static_cast<int32_t>(sizeof(PrimT<T>));
  if (mode == MaskMode::COUNTER) {
    dav::set_vector_mask(0, static_cast<uint64_t>(len));
  } else {
    if (len < 0 || len > lanes)
      dav::raise_illegal("SetVectorMask", "%d elements, a repeat holds %d", len, lanes);
    const uint64_t low = len >= 64 ? FULL_MASK : (uint64_t{1} << len) - 1;
    const uint64_t high = len <= 64 ? 0 : len >= 128 ? FULL_MASK : (uint64_t{1} << (len - 64)) - 1;
    dav::set_vector_mask(high, low);
  }
}

namespace Internal {

template <typename... Ts>
struct Types {
  template <typename T>
  static constexpr bool Has() {
    return (std::is_same<T, Ts>::value || ...);
  }
};
// Element types per architecture; the vector units of 3510 work on registers and are not modelled.
template <typename T, typename On2201, typename On1001>
constexpr bool TakesType() {
  return __NPU_ARCH__ == 2201   ? On2201::template Has<PrimT<T>>()
         : __NPU_ARCH__ == 1001 ? On1001::template Has<PrimT<T>>()
                                : false;
}

using NoTypes = Types<>;
using Floats = Types<half, float>;
using HalfOnly = Types<half>;
using Shorts = Types<int16_t, uint16_t>;
using Arithmetic = Types<int16_t, half, int32_t, float>;
using Arithmetic1001 = Types<half, int32_t, float>;
using Placed = Types<int16_t, uint16_t, half, dav::Bfloat16, int32_t, uint32_t, float>;
using Placed1001 = Types<int16_t, uint16_t, half, int32_t, uint32_t, float>;

template <typename T>
constexpr uint32_t lanes_of = dav::vec_lanes(dav::dtype_of<T>);
template <typename T, typename U>
constexpr uint32_t lanes_of_pair = lanes_of<T> < lanes_of<U> ? lanes_of<T> : lanes_of<U>;

template <typename T>
dav::VecOperand Dense(const LocalTensor<T>& tensor, uint32_t lanes = lanes_of<T>) {
  return dav::vec_dense(tensor.Operand(), dav::dtype_of<T>, lanes);
}
template <typename T>
dav::VecOperand Strided(const LocalTensor<T>& tensor, uint32_t block, uint32_t repeat) {
  return {tensor.Operand(), block, repeat};
}

// isSetMask = false: the mask register has been set outside.
template <bool isSetMask>
dav::VecMask LaneMask(uint64_t mask) {
  return isSetMask ? dav::VecMask::lanes(mask) : dav::VecMask::keep();
}
template <typename T, bool isSetMask>
dav::VecMask BitMask(const uint64_t* mask) {
  if (!isSetMask) return dav::VecMask::keep();
  return dav::VecMask::bits(mask[0], lanes_of<T> > 64 ? mask[1] : 0);
}
template <bool isSetMask>
dav::VecMask CountMask(int64_t count) {
  return isSetMask ? dav::VecMask::total(count) : dav::VecMask::keep();
}

template <typename T>
uint64_t ScalarBits(T value) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}

}  // namespace Internal
}  // namespace AscendC

#define DAV_REQUIRE_TYPE(api, T, on2201, on1001)                   \
  static_assert(AscendC::Internal::TakesType<T, on2201, on1001>(), \
                api " does not take this type on this architecture")
