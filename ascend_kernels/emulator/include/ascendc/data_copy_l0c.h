// DataCopy out of L0C: to UB on the coupled chip, through Fixpipe elsewhere.
#pragma once

#include "ascendc/data_copy_params.h"
#include "ascendc/fixpipe_params.h"
#include "ascendc/tensor.h"
#include "dav/abi_cube.h"

namespace dav {

inline L0cToUbDesc l0c_desc(const AscendC::DataCopyParams& p,
                            const AscendC::DataCopyEnhancedParams& e) {
  L0cToUbDesc d;
  d.blockCount = p.blockCount;
  d.blockLen = p.blockLen;
  d.srcStride = p.srcStride;
  d.dstStride = p.dstStride;
  d.row_mode = e.blockMode == AscendC::BlockMode::BLOCK_MODE_VECTOR;
  d.relu = e.isRelu;
  d.quantised = e.deqScale != AscendC::DeqScale::DEQ_NONE;
  return d;
}

// On chips without the path, and between other buffers, the enhanced parameters do nothing.
template <typename T, typename U>
void copy_enhanced(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<U>& src,
                   const AscendC::DataCopyParams& p, const AscendC::DataCopyEnhancedParams& e) {
  if (src.Buffer() == Buffer::L0C && dst.Buffer() == Buffer::UB) {
    l0c_to_ub(dst.Operand(), dtype_of<T>, src.Operand(), dtype_of<U>, l0c_desc(p, e));
  } else if (dst.Buffer() == Buffer::L0C) {
    ub_to_l0c(dst.Operand(), src.Operand(), dtype_of<T>, l0c_desc(p, e));
  } else {
    data_copy_local(dst.Operand(), dtype_of<T>, src.Operand(), dtype_of<U>,
                    {p.blockCount, p.blockLen, p.srcGap, p.dstGap});
  }
}

inline FixpipeDesc co12_desc(const AscendC::DataCopyCO12DstParams& p) {
  FixpipeDesc d;
  d.nSize = p.nSize;
  d.mSize = p.mSize;
  d.srcStride = p.srcStride;
  d.dstStride = p.dstStride;
  d.quant = quant_of(p.quantPre);
  d.nz2nd = p.nz2ndEn;
  d.relu = p.reluPre != 0;
  d.channelSplit = p.channelSplit;
  d.unitFlag = p.unitFlag;
  if (p.clipReluPre != 0 || p.eltWiseOp != 0) {
    raise_illegal("DataCopy", "the emulator has neither clipReluPre nor eltWiseOp");
  }
  return d;
}

}  // namespace dav

namespace AscendC {

template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const DataCopyParams& intriParams,
                                const DataCopyEnhancedParams& enhancedParams) {
  dav::copy_enhanced(dst, src, intriParams, enhancedParams);
}

template <typename T, typename U,
          std::enable_if_t<!std::is_same<PrimT<T>, PrimT<U>>::value, bool> = true>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                const DataCopyParams& intriParams,
                                const DataCopyEnhancedParams& enhancedParams) {
  dav::copy_enhanced(dst, src, intriParams, enhancedParams);
}

template <typename T, typename U>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                const DataCopyCO12DstParams& intriParams) {
  static_assert(dav::only_2201<T>, "DataCopy from L0C to L1 does not exist on this chip");
  dav::l0c_copy_to_l1(dst.Operand(), dav::dtype_of<T>, src.Operand(), dav::dtype_of<U>,
                      dav::co12_desc(intriParams));
}

template <typename T, typename U>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
                                const DataCopyCO12DstParams& intriParams) {
  static_assert(dav::only_2201<T>, "DataCopy from L0C to GM does not exist on this chip");
  dav::l0c_copy_to_gm(dst.Operand(), dav::dtype_of<T>, src.Operand(), dav::dtype_of<U>,
                      dav::co12_desc(intriParams));
}

}  // namespace AscendC
