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

// Brings the factors of a tensor quantisation from L1 to the start of the Fixpipe buffer.
template <typename S>
Local load_quant_vector(const AscendC::LocalTensor<S>& workspace, uint32_t columns) {
  const Local vector{Buffer::FB, 0};
  BurstDesc d;
  d.blockLen = (columns * 8 + 127) / 128;
  data_copy_local(vector, DType::U64, workspace.Operand(), DType::U64, d);
  pipe_barrier(Pipe::FIX);
  return vector;
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
  dav::FixpipeDesc d = dav::fixpipe_desc(intriParams, config.format);
  d.quant_vector = dav::load_quant_vector(cbufWorkspace, intriParams.nSize);
  dav::fixpipe_to_l1(dst.Operand(), dav::dtype_of<T>, src.Operand(), dav::dtype_of<U>, d);
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
  dav::FixpipeDesc d = dav::fixpipe_desc(intriParams, config.format);
  d.quant_vector = dav::load_quant_vector(cbufWorkspace, intriParams.nSize);
  dav::fixpipe_to_gm(dst.Operand(), dav::dtype_of<T>, src.Operand(), dav::dtype_of<U>, d);
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
