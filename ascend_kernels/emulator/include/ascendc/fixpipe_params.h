// Parameters of Fixpipe.
#pragma once

#include "ascendc/enums.h"
#include "dav/abi_cube.h"
#include "dav/abi_sync.h"

namespace AscendC {

enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR, COLUMN_MAJOR };

struct FixpipeConfig {
  CO2Layout format;
#if __NPU_ARCH__ == 3510
  bool isToUB;
  constexpr FixpipeConfig(CO2Layout format_, bool isToUB_ = false)
      : format(format_), isToUB(isToUB_) {}
#else
  constexpr FixpipeConfig(CO2Layout format_) : format(format_) {}
  constexpr FixpipeConfig(CO2Layout format_, bool) : format(format_) {}
#endif
};

constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};
constexpr FixpipeConfig CFG_COLUMN_MAJOR = {CO2Layout::COLUMN_MAJOR};

struct FixpipeParamsV220 {
  FixpipeParamsV220() {}
  FixpipeParamsV220(const uint16_t nSizeIn, const uint16_t mSizeIn, const uint16_t srcStrideIn,
                    const uint32_t dstStrideIn, const bool reluEnIn)
      : nSize(nSizeIn),
        mSize(mSizeIn),
        srcStride(srcStrideIn),
        dstStride(dstStrideIn),
        reluEn(reluEnIn) {}
  FixpipeParamsV220(const uint16_t nSizeIn, const uint16_t mSizeIn, const uint16_t srcStrideIn,
                    const uint32_t dstStrideIn, const bool reluEnIn, const QuantMode_t quantPreIn,
                    const int64_t deqScalarIn, const uint16_t ndNumIn, const uint16_t srcNdStrideIn,
                    const uint16_t dstNdStrideIn, const uint8_t unitFlagIn,
                    const bool isChannelSplitIn = false)
      : nSize(nSizeIn),
        mSize(mSizeIn),
        srcStride(srcStrideIn),
        dstStride(dstStrideIn),
        quantPre(quantPreIn),
        deqScalar(static_cast<uint64_t>(deqScalarIn)),
        ndNum(ndNumIn),
        srcNdStride(srcNdStrideIn),
        dstNdStride(dstNdStrideIn),
        reluEn(reluEnIn),
        unitFlag(unitFlagIn),
        isChannelSplit(isChannelSplitIn) {}

  uint16_t nSize = 0;
  uint16_t mSize = 0;
  uint16_t srcStride = 0;
  uint32_t dstStride = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  uint64_t deqScalar = 0;
  uint16_t ndNum = 1;
  uint16_t srcNdStride = 0;
  uint16_t dstNdStride = 0;
  bool reluEn = false;
  uint8_t unitFlag = 0;
  bool isChannelSplit = false;
};

}  // namespace AscendC

namespace dav {

inline Quant quant_of(QuantMode_t mode) {
  switch (mode) {
    case NoQuant:
      return Quant::None;
    case F322F16:
      return Quant::F16;
    case F322BF16:
      return Quant::Bf16;
    case DEQF16:
      return Quant::DeqF16;
    case VDEQF16:
      return Quant::VDeqF16;
    case QF322B8_PRE:
      return Quant::F32ToB8;
    case VQF322B8_PRE:
      return Quant::VF32ToB8;
    case REQ8:
      return Quant::Req8;
    case VREQ8:
      return Quant::VReq8;
  }
  raise_illegal("Fixpipe", "quantPre is %d, which arch 2201 does not have", static_cast<int>(mode));
}

}  // namespace dav
