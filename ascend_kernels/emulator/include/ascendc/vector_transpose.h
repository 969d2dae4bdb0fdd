// Transpose of 16 by 16 elements and TransDataTo5HD.
#pragma once

#include "ascendc/vector_common.h"

namespace AscendC {

constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;

struct TransDataTo5HDParams {
  constexpr __aicore__ TransDataTo5HDParams() = default;
  constexpr __aicore__ TransDataTo5HDParams(const bool dstHighHalfIn, const bool srcHighHalfIn,
                                            const uint8_t repeatTimesIn,
                                            const uint16_t dstRepStrideIn,
                                            const uint16_t srcRepStrideIn)
      : dstHighHalf(dstHighHalfIn),
        srcHighHalf(srcHighHalfIn),
        repeatTimes(repeatTimesIn),
        dstRepStride(dstRepStrideIn),
        srcRepStride(srcRepStrideIn) {}

  bool dstHighHalf = false;
  bool srcHighHalf = false;
  uint8_t repeatTimes = 1;
  uint16_t dstRepStride = 0;
  uint16_t srcRepStride = 0;
};

template <typename T>
__aicore__ inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src) {
  using Taken = Internal::Types<int16_t, uint16_t, half>;
  DAV_REQUIRE_TYPE("Transpose", T, Taken, Taken);
  dav::vector_transpose16(dav::dtype_of<T>, dst.Operand(), src.Operand());
}

enum class TransposeType : uint8_t {
  TRANSPOSE_TYPE_NONE,
  TRANSPOSE_NZ2ND_0213,
  TRANSPOSE_NZ2NZ_0213,
  TRANSPOSE_NZ2NZ_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITHOUT_N,
  TRANSPOSE_NZ2NZ_012_WITHOUT_N,
  TRANSPOSE_ND2ND_ONLY,
  TRANSPOSE_ND_UB_GM,
  TRANSPOSE_GRAD_ND_UB_GM,
  TRANSPOSE_ND2ND_B16,
  TRANSPOSE_NCHW2NHWC,
  TRANSPOSE_NHWC2NCHW
};

struct TransposeParamsExt {
  constexpr __aicore__ TransposeParamsExt() = default;
  constexpr __aicore__ TransposeParamsExt(const uint16_t nSizeIn, const uint16_t cSizeIn,
                                          const uint16_t hSizeIn, const uint16_t wSizeIn,
                                          const TransposeType transposeTypeIn)
      : nSize(nSizeIn),
        cSize(cSizeIn),
        hSize(hSizeIn),
        wSize(wSizeIn),
        transposeType(transposeTypeIn) {}

  uint16_t nSize = 0;
  uint16_t cSize = 0;
  uint16_t hSize = 0;
  uint16_t wSize = 0;
  TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;
};

template <typename T>
__aicore__ inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const LocalTensor<uint8_t>& sharedTmpBuffer,
                                 const TransposeParamsExt& transposeParams) {
  using Taken = Internal::Types<int8_t, uint8_t, int16_t, uint16_t, half, int32_t, uint32_t, float>;
  DAV_REQUIRE_TYPE("Transpose", T, Taken, Internal::NoTypes);
  const TransposeParamsExt& p = transposeParams;
  // What the reference asks of the scratch buffer, in elements of 16 or 32 rows of 32 bytes.
  const uint32_t plane = (sizeof(T) == 1 ? 32 : 16) * 32;
  const uint32_t image = uint32_t{p.hSize} * p.wSize;
  switch (p.transposeType) {
    case TransposeType::TRANSPOSE_TYPE_NONE:
      return;
    case TransposeType::TRANSPOSE_ND2ND_B16:
      if constexpr (std::is_same<PrimT<T>, uint16_t>::value) {
        dav::vector_transpose16(dav::dtype_of<T>, dst.Operand(), src.Operand());
        return;
      }
      break;
    case TransposeType::TRANSPOSE_NCHW2NHWC:
      dav::vector_transpose_planes(dav::dtype_of<T>, dst.Operand(), src.Operand(),
                                   sharedTmpBuffer.Operand(), sharedTmpBuffer.GetLength(),
                                   (p.cSize + 2) * plane, p.nSize, p.cSize, image, true);
      return;
    case TransposeType::TRANSPOSE_NHWC2NCHW:
      dav::vector_transpose_planes(dav::dtype_of<T>, dst.Operand(), src.Operand(),
                                   sharedTmpBuffer.Operand(), sharedTmpBuffer.GetLength(),
                                   (p.cSize * 2 + 1) * plane, p.nSize, image, p.cSize, false);
      return;
    default:
      break;
  }
  dav::raise_illegal("Transpose", "transposeType %d is not supported for this type",
                     static_cast<int>(p.transposeType));
}

// The lists hold addresses as GetPhyAddr returns them.
template <typename T>
__aicore__ inline void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE],
                                      uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                                      const TransDataTo5HDParams& nchwconvParams) {
  using On2201 =
      Internal::Types<int8_t, uint8_t, int16_t, uint16_t, half, int32_t, uint32_t, float>;
  using On1001 = Internal::Types<int8_t, uint8_t, int16_t, uint16_t, half>;
  DAV_REQUIRE_TYPE("TransDataTo5HD", T, On2201, On1001);
  dav::VecTranspose5hd v{"TransDataTo5HD",
                         dav::dtype_of<T>,
                         {},
                         {},
                         nchwconvParams.dstHighHalf,
                         nchwconvParams.srcHighHalf,
                         nchwconvParams.repeatTimes,
                         nchwconvParams.dstRepStride,
                         nchwconvParams.srcRepStride};
  for (int32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
    v.dst[i] = dstList[i];
    v.src[i] = srcList[i];
  }
  dav::vector_transpose_5hd(v);
}
template <typename T>
__aicore__ inline void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                                      const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE],
                                      const TransDataTo5HDParams& nchwconvParams) {
  uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE], src[NCHW_CONV_ADDR_LIST_SIZE];
  for (int32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
    dst[i] = dstList[i].GetPhyAddr();
    src[i] = srcList[i].GetPhyAddr();
  }
  TransDataTo5HD<T>(dst, src, nchwconvParams);
}
// Address lists in UB came after the 910A.
template <typename T>
__aicore__ inline void TransDataTo5HD(const LocalTensor<uint64_t>& dst,
                                      const LocalTensor<uint64_t>& src,
                                      const TransDataTo5HDParams& nchwconvParams) {
  static_assert(dav::since_2201<T>, "TransDataTo5HD: no lists in UB on this architecture");
  uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], srcList[NCHW_CONV_ADDR_LIST_SIZE];
  for (uint32_t i = 0; i < static_cast<uint32_t>(NCHW_CONV_ADDR_LIST_SIZE); ++i) {
    dstList[i] = dst.GetValue(i);
    srcList[i] = src.GetValue(i);
  }
  TransDataTo5HD<T>(dstList, srcList, nchwconvParams);
}

}  // namespace AscendC
