// Fixpipe and the registers of DataCopy out of L0C.
#pragma once

#include "ascendc/data_copy.h"
#include "ascendc/fixpipe_params.h"
#include "ascendc/tensor.h"

namespace dav {

template <typename T, typename U>
constexpr bool fixpipe_types() {
  using To = AscendC::PrimT<T>;
  using From = AscendC::PrimT<U>;
  constexpr bool byte = std::is_same<To, int8_t>::value || std::is_same<To, uint8_t>::value;
  constexpr bool half_ = std::is_same<To, half>::value;
  if (std::is_same<From, float>::value)
    return byte || half_ || std::is_same<To, Bfloat16>::value || std::is_same<To, float>::value;
  return std::is_same<From, int32_t>::value && (byte || half_ || std::is_same<To, int32_t>::value);
}

inline FixpipeDesc fixpipe_desc(const AscendC::FixpipeParamsV220& p, AscendC::CO2Layout format) {
  FixpipeDesc d;
  d.nSize = p.nSize;
  d.mSize = p.mSize;
  d.srcStride = p.srcStride;
  d.dstStride = p.dstStride;
  d.quant = quant_of(p.quantPre);
  d.quant_scalar = p.deqScalar;
  d.ndNum = p.ndNum;
  d.srcNdStride = p.srcNdStride;
  d.dstNdStride = p.dstNdStride;
  d.nz2nd = format == AscendC::CO2Layout::ROW_MAJOR;
  d.relu = p.reluEn;
  d.channelSplit = p.isChannelSplit;
  d.unitFlag = p.unitFlag;
  return d;
}

// A tensor quantisation as the library does it: the Fixpipe buffer takes the factors of 256
// columns, and more than these leave 128 at a time. `out` gets the part's descriptor and its
// offsets in bytes.
template <typename T, typename S, typename Out>
void fixpipe_with_factors(const AscendC::LocalTensor<S>& workspace, FixpipeDesc d, Out out) {
  if (d.quant != Quant::VDeqF16 && d.quant != Quant::VF32ToB8 && d.quant != Quant::VReq8) {
    raise_illegal("Fixpipe", "%s",
                  "cbufWorkspace goes with quantPre VDEQF16, VQF322B8_PRE and VREQ8 only");
  }
  const uint32_t total = d.nSize, part = total <= 256 ? total : 128;
  for (uint32_t first = 0; first < total; first += part) {
    if (first != 0) pipe_barrier(Pipe::FIX);
    d.nSize = total - first < part ? total - first : part;
    Local factors = workspace.Operand();
    factors.addr += first * 8;
    BurstDesc burst;
    burst.blockLen = (d.nSize * 8 + 127) / 128;
    data_copy_local({Buffer::FB, 0}, DType::U64, factors, DType::U64, burst);
    set_fixpipe_quant_vector({Buffer::FB, 0});
    pipe_barrier(Pipe::FIX);
    const uint32_t column = first / 16;
    out(d,
        d.nz2nd ? uint64_t{first} * sizeof(AscendC::PrimT<T>) : uint64_t{column} * d.dstStride * 32,
        column * d.srcStride * 64);
  }
}

inline Local behind(Local operand, uint64_t bytes) {
  operand.addr += static_cast<uint32_t>(bytes);
  return operand;
}

}  // namespace dav

namespace AscendC {

#if __NPU_ARCH__ == 2201
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
__aicore__ inline void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                               const FixpipeParamsV220& intriParams) {
  static_assert(dav::fixpipe_types<T, U>(), "Fixpipe: unsupported combination of types");
  static_assert(config.format != CO2Layout::COLUMN_MAJOR, "CFG_COLUMN_MAJOR needs a later chip");
  dav::fixpipe_to_l1(dst.Operand(), dav::dtype_of<T>, src.Operand(), dav::dtype_of<U>,
                     dav::fixpipe_desc(intriParams, config.format));
}

template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR,
          typename S = uint64_t,
          std::enable_if_t<std::is_same<PrimT<S>, uint64_t>::value, bool> = true>
__aicore__ inline void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                               const LocalTensor<S>& cbufWorkspace,
                               const FixpipeParamsV220& intriParams) {
  static_assert(dav::fixpipe_types<T, U>(), "Fixpipe: unsupported combination of types");
  static_assert(config.format != CO2Layout::COLUMN_MAJOR, "CFG_COLUMN_MAJOR needs a later chip");
  dav::FixpipeDesc whole = dav::fixpipe_desc(intriParams, config.format);
  whole.nz2nd = false;  // has no effect on this path
  dav::fixpipe_with_factors<T>(
      cbufWorkspace, whole, [&](const dav::FixpipeDesc& d, uint64_t to, uint32_t from) {
        dav::fixpipe_to_l1(dav::behind(dst.Operand(), to), dav::dtype_of<T>,
                           dav::behind(src.Operand(), from), dav::dtype_of<U>, d);
      });
}

template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
__aicore__ inline void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
                               const FixpipeParamsV220& intriParams) {
  static_assert(dav::fixpipe_types<T, U>(), "Fixpipe: unsupported combination of types");
  static_assert(config.format != CO2Layout::COLUMN_MAJOR, "CFG_COLUMN_MAJOR needs a later chip");
  dav::fixpipe_to_gm(dst.Operand(), dav::dtype_of<T>, src.Operand(), dav::dtype_of<U>,
                     dav::fixpipe_desc(intriParams, config.format));
}

template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR,
          typename S = uint64_t,
          std::enable_if_t<std::is_same<PrimT<S>, uint64_t>::value, bool> = true>
__aicore__ inline void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
                               const LocalTensor<S>& cbufWorkspace,
                               const FixpipeParamsV220& intriParams) {
  static_assert(dav::fixpipe_types<T, U>(), "Fixpipe: unsupported combination of types");
  static_assert(config.format != CO2Layout::COLUMN_MAJOR, "CFG_COLUMN_MAJOR needs a later chip");
  dav::fixpipe_with_factors<T>(cbufWorkspace, dav::fixpipe_desc(intriParams, config.format),
                               [&](const dav::FixpipeDesc& d, uint64_t to, uint32_t from) {
                                 dav::fixpipe_to_gm(dst.Operand() + to, dav::dtype_of<T>,
                                                    dav::behind(src.Operand(), from),
                                                    dav::dtype_of<U>, d);
                               });
}

__aicore__ inline void SetFixpipeNz2ndFlag(uint16_t ndNum, uint16_t srcNdStride,
                                           uint16_t dstNdStride) {
  dav::set_fixpipe_nz2nd(ndNum, srcNdStride, dstNdStride);
}

__aicore__ inline void SetFixpipePreQuantFlag(uint64_t config) {
  dav::set_fixpipe_quant_scalar(config);
}

template <typename T>
__aicore__ inline void SetFixPipeConfig(const LocalTensor<T>&, const LocalTensor<T>& quantPre,
                                        bool isUnitFlag = false) {
  (void)isUnitFlag;
  dav::set_fixpipe_quant_vector(quantPre.Operand());
}

template <typename T, bool setRelu = false>
__aicore__ inline void SetFixPipeConfig(const LocalTensor<T>& preData, bool isUnitFlag = false) {
  static_assert(!setRelu, "SetFixPipeConfig sets quantisation factors only");
  // Clearing unit flags alone takes a tensor in L0C. A unit flag acts between a Mmad and its
  // Fixpipe and outlives neither here, so that nothing is left to clear.
  if (isUnitFlag && preData.Buffer() == dav::Buffer::L0C) return;
  dav::set_fixpipe_quant_vector(preData.Operand());
}
#endif

}  // namespace AscendC
