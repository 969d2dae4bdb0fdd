// DataCopy and DataCopyPad.
#pragma once

#include <cstring>

#include "ascendc/data_copy_params.h"
#include "ascendc/fixpipe_params.h"
#include "ascendc/tensor.h"
#include "dav/abi_cube.h"
#include "dav/abi_sync.h"

namespace dav {

// A value's bits, zero-extended, as descriptors carry constants.
template <typename T>
uint64_t element_bits(T value) {
  static_assert(sizeof(T) <= 8, "an element has at most 8 bytes");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

inline BurstDesc burst_desc(const AscendC::DataCopyParams& p) {
  return {p.blockCount, p.blockLen, p.srcGap, p.dstGap};
}

// `count` elements as one burst of whole 32-byte blocks.
template <typename T>
BurstDesc burst_of(uint32_t count) {
  const uint64_t bytes = AscendC::BytesOf<AscendC::PrimT<T>>(count);
  if (bytes % 32 != 0) {
    raise_illegal("DataCopy",
                  "count %u is %llu bytes, no multiple of 32: the hardware drops the rest", count,
                  static_cast<unsigned long long>(bytes));
  }
  BurstDesc d;
  d.blockLen = static_cast<uint32_t>(bytes / 32);
  return d;
}

}  // namespace dav

namespace AscendC {

// --- GM to UB or L1, and back.
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const DataCopyParams& repeatParams) {
  dav::data_copy_in(dst.Operand(), src.Operand(), dav::dtype_of<T>, dav::burst_desc(repeatParams));
}

template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                const DataCopyParams& repeatParams) {
  dav::data_copy_out(dst.Operand(), src.Operand(), dav::dtype_of<T>, dav::burst_desc(repeatParams));
}

template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const uint32_t count) {
  dav::data_copy_in(dst.Operand(), src.Operand(), dav::dtype_of<T>, dav::burst_of<T>(count));
}

template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                const uint32_t count) {
  dav::data_copy_out(dst.Operand(), src.Operand(), dav::dtype_of<T>, dav::burst_of<T>(count));
}

// The enhanced parameters act on the way out of L0C only.
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const DataCopyParams& intriParams, const DataCopyEnhancedParams&) {
  DataCopy(dst, src, intriParams);
}
template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                const DataCopyParams& intriParams, const DataCopyEnhancedParams&) {
  DataCopy(dst, src, intriParams);
}

// --- Between local buffers.
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const DataCopyParams& repeatParams) {
  dav::data_copy_local(dst.Operand(), dav::dtype_of<T>, src.Operand(), dav::dtype_of<T>,
                       dav::burst_desc(repeatParams));
}

template <typename T, typename U>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                const DataCopyParams& repeatParams) {
  dav::data_copy_local(dst.Operand(), dav::dtype_of<T>, src.Operand(), dav::dtype_of<U>,
                       dav::burst_desc(repeatParams));
}

template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const uint32_t count) {
  dav::BurstDesc d = dav::burst_of<T>(count);
  // The parameter buffers count in units of 64 and 128 bytes.
  const dav::Buffer to = dst.Buffer();
  const uint32_t unit = to == dav::Buffer::BT ? 2 : to == dav::Buffer::FB ? 4 : 1;
  if (d.blockLen % unit != 0) {
    dav::raise_illegal("DataCopy",
                       "count %u is no multiple of %u bytes: the hardware drops the rest", count,
                       unit * 32);
  }
  d.blockLen /= unit;
  dav::data_copy_local(dst.Operand(), dav::dtype_of<T>, src.Operand(), dav::dtype_of<T>, d);
}

// --- ND in GM to NZ in L1. The first generation has no such instruction.
template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const Nd2NzParams& intriParams) {
  static_assert(dav::since_2201<T>, "DataCopy with Nd2NzParams does not exist on this chip");
  dav::Nd2NzDesc d;
  d.ndNum = intriParams.ndNum;
  d.nValue = intriParams.nValue;
  d.dValue = intriParams.dValue;
  d.srcNdMatrixStride = intriParams.srcNdMatrixStride;
  d.srcDValue = intriParams.srcDValue;
  d.dstNzC0Stride = intriParams.dstNzC0Stride;
  d.dstNzNStride = intriParams.dstNzNStride;
  d.dstNzMatrixStride = intriParams.dstNzMatrixStride;
  dav::nd_to_nz(dst.Operand(), src.Operand(), dav::dtype_of<T>, d);
}

// --- DataCopyPad.
template <typename T>
__aicore__ inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                   const DataCopyParams& dataCopyParams,
                                   const DataCopyPadParams& padParams) {
  static_assert(dav::since_2201<T>, "DataCopyPad does not exist on this chip");
  if (padParams.paddingValue != 0) {
    dav::raise_illegal("DataCopyPad", "paddingValue of DataCopyPadParams is %llu, it takes 0 only",
                       static_cast<unsigned long long>(padParams.paddingValue));
  }
  dav::data_copy_pad_in(
      dst.Operand(), src.Operand(), dav::dtype_of<T>,
      {dataCopyParams.blockCount, dataCopyParams.blockLen, dataCopyParams.srcStride,
       dataCopyParams.dstStride},
      {padParams.isPad, padParams.leftPadding, padParams.rightPadding, padParams.paddingValue});
}

template <typename T>
__aicore__ inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                   const DataCopyParams& dataCopyParams) {
  static_assert(dav::since_2201<T>, "DataCopyPad does not exist on this chip");
  dav::data_copy_pad_out(dst.Operand(), src.Operand(), dav::dtype_of<T>,
                         {dataCopyParams.blockCount, dataCopyParams.blockLen,
                          dataCopyParams.srcStride, dataCopyParams.dstStride});
}

template <typename T>
__aicore__ inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                   const DataCopyExtParams& dataCopyParams,
                                   const DataCopyPadExtParams<PrimT<T>>& padParams) {
  static_assert(dav::since_2201<T>, "DataCopyPad does not exist on this chip");
  dav::data_copy_pad_in(dst.Operand(), src.Operand(), dav::dtype_of<T>,
                        {dataCopyParams.blockCount, dataCopyParams.blockLen,
                         static_cast<uint64_t>(dataCopyParams.srcStride),
                         static_cast<uint64_t>(dataCopyParams.dstStride)},
                        {padParams.isPad, padParams.leftPadding, padParams.rightPadding,
                         dav::element_bits(padParams.paddingValue)});
}

template <typename T>
__aicore__ inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                   const DataCopyExtParams& dataCopyParams) {
  static_assert(dav::since_2201<T>, "DataCopyPad does not exist on this chip");
  dav::data_copy_pad_out(dst.Operand(), src.Operand(), dav::dtype_of<T>,
                         {dataCopyParams.blockCount, dataCopyParams.blockLen,
                          static_cast<uint64_t>(dataCopyParams.srcStride),
                          static_cast<uint64_t>(dataCopyParams.dstStride)});
}

template <typename T, TPosition pos = TPosition::MAX>
__aicore__ inline void SetPadValue(T paddingValue) {
  static_assert(dav::since_2201<T>, "SetPadValue does not exist on this chip");
  static_assert(pos == TPosition::MAX || pos == TPosition::VECIN || pos == TPosition::VECOUT,
                "SetPadValue is for copies into the unified buffer");
  dav::set_pad_value(dav::element_bits(paddingValue));
}

}  // namespace AscendC

#include "ascendc/data_copy_l0c.h"
#include "ascendc/data_copy_nz2nd.h"
