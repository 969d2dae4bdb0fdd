// Gather, Gatherb, GatherMask.
#pragma once

#include "ascendc/vector_common.h"

namespace AscendC {

struct GatherRepeatParams {
  __aicore__ GatherRepeatParams() {}
  __aicore__ GatherRepeatParams(const uint8_t dstBlkStrideIn, const uint8_t dstRepStrideIn)
      : dstRepStride(dstRepStrideIn), dstBlkStride(dstBlkStrideIn) {}

  uint32_t blockNumber = DEFAULT_BLK_NUM;
  uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
  bool repeatStrideMode = false;
  bool strideSizeMode = false;
};

enum class GatherMaskMode : uint8_t { VERSION_V1 = 0, VERSION_V2 = 1 };
constexpr GatherMaskMode defaultGatherMaskMode =
    __NPU_ARCH__ == 2201 ? GatherMaskMode::VERSION_V2 : GatherMaskMode::VERSION_V1;

struct GatherMaskParams {
  __aicore__ GatherMaskParams() {}
  __aicore__ GatherMaskParams(const uint8_t src0BlockStrideIn, const uint16_t repeatTimesIn,
                              const uint16_t src0RepeatStrideIn, const uint8_t src1RepeatStrideIn)
      : src0BlockStride(src0BlockStrideIn),
        repeatTimes(repeatTimesIn),
        src0RepeatStride(src0RepeatStrideIn),
        src1RepeatStride(src1RepeatStrideIn) {}

  uint8_t src0BlockStride = DEFAULT_BLK_STRIDE;
  uint16_t repeatTimes = 0;
  uint16_t src0RepeatStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src1RepeatStride = DEFAULT_REPEAT_STRIDE;
};

// dst[i] = the element at byte srcBaseOffset + srcOffset[i] of src.
template <typename T>
__aicore__ inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                              const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseOffset,
                              const uint64_t mask, const uint8_t repeatTime,
                              const uint16_t dstRepStride) {
  DAV_REQUIRE_TYPE("Gather", T, Internal::Placed, Internal::NoTypes);
  dav::vector_gather({"Gather", dav::dtype_of<T>, dst.Operand(), src.Operand(), srcOffset.Operand(),
                      srcBaseOffset, dstRepStride, dav::VecMask::lanes(mask), repeatTime});
}
template <typename T>
__aicore__ inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                              const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseOffset,
                              const uint64_t mask[], const uint8_t repeatTime,
                              const uint16_t dstRepStride) {
  DAV_REQUIRE_TYPE("Gather", T, Internal::Placed, Internal::NoTypes);
  dav::vector_gather({"Gather", dav::dtype_of<T>, dst.Operand(), src.Operand(), srcOffset.Operand(),
                      srcBaseOffset, dstRepStride, Internal::BitMask<T, true>(mask), repeatTime});
}
template <typename T>
__aicore__ inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                              const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseOffset,
                              const uint32_t count) {
  DAV_REQUIRE_TYPE("Gather", T, Internal::Placed, Internal::NoTypes);
  dav::vector_gather({"Gather", dav::dtype_of<T>, dst.Operand(), src.Operand(), srcOffset.Operand(),
                      srcBaseOffset, DEFAULT_REPEAT_STRIDE, dav::VecMask::total(count), 1});
}

// Whole 32-byte blocks at byte offsets of src.
template <typename T>
__aicore__ inline void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                               const LocalTensor<uint32_t>& offset, const uint8_t repeatTime,
                               const GatherRepeatParams& repeatParams) {
  using Taken = Internal::Types<uint16_t, uint32_t>;
  DAV_REQUIRE_TYPE("Gatherb", T, Taken, Internal::NoTypes);
  dav::vector_gather_blocks(dav::dtype_of<T>, dst.Operand(), repeatParams.dstBlkStride,
                            repeatParams.dstRepStride, src.Operand(), offset.Operand(), repeatTime);
}

// Elements whose bit is 1, without gaps.
template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
__aicore__ inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                                  const LocalTensor<U>& src1Pattern, const bool reduceMode,
                                  const uint32_t mask, const GatherMaskParams& gatherMaskParams,
                                  uint64_t& rsvdCnt) {
  DAV_REQUIRE_TYPE("GatherMask", T, Internal::Placed, Internal::NoTypes);
  static_assert(sizeof(U) == sizeof(T) && std::is_unsigned<U>::value,
                "GatherMask: the pattern's type is the unsigned integer of the element's width");
  const auto& p = gatherMaskParams;
  rsvdCnt = dav::vector_gather_mask({"GatherMask", dav::dtype_of<T>, dst.Operand(), src0.Operand(),
                                     src1Pattern.Operand(), 0, reduceMode, mask, p.src0BlockStride,
                                     p.repeatTimes, p.src0RepeatStride, p.src1RepeatStride});
}
template <typename T, GatherMaskMode mode = defaultGatherMaskMode>
__aicore__ inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                                  const uint8_t src1Pattern, const bool reduceMode,
                                  const uint32_t mask, const GatherMaskParams& gatherMaskParams,
                                  uint64_t& rsvdCnt) {
  DAV_REQUIRE_TYPE("GatherMask", T, Internal::Placed, Internal::NoTypes);
  if (src1Pattern < 1 || src1Pattern > 7)
    dav::raise_illegal("GatherMask", "src1Pattern is %u; 1 to 7 exist", src1Pattern);
  const auto& p = gatherMaskParams;
  rsvdCnt = dav::vector_gather_mask(
      {"GatherMask", dav::dtype_of<T>, dst.Operand(), src0.Operand(), dst.Operand(), src1Pattern,
       reduceMode, mask, p.src0BlockStride, p.repeatTimes, p.src0RepeatStride, p.src1RepeatStride});
}

}  // namespace AscendC
