// LoadData, LoadDataWithTranspose, Fill and the registers of 3D loads.
#pragma once

#include "ascendc/data_copy.h"
#include "ascendc/load_data_params.h"
#include "ascendc/tensor.h"

namespace dav {

inline Load2dDesc load2d_desc(const AscendC::LoadData2DParams& p) {
  return {p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.ifTranspose, p.addrMode != 0};
}

}  // namespace dav

namespace AscendC {

// --- Whole fractals, from L1 or GM.
template <typename T>
__aicore__ inline void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const LoadData2DParams& loadDataParams) {
  static_assert(dav::before_3510<T>, "the emulator has no cube of this chip");
  dav::load_data_2d(dst.Operand(), src.Operand(), dav::dtype_of<T>,
                    dav::load2d_desc(loadDataParams));
}

template <typename T>
__aicore__ inline void LoadData(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const LoadData2DParams& loadDataParams) {
  static_assert(dav::before_3510<T>, "the emulator has no cube of this chip");
  dav::load_data_2d_gm(dst.Operand(), src.Operand(), dav::dtype_of<T>,
                       dav::load2d_desc(loadDataParams));
}

template <typename T>
__aicore__ inline void LoadDataWithTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                             const LoadData2dTransposeParams& loadDataParams) {
  static_assert(dav::since_2201<T>, "LoadDataWithTranspose does not exist on this chip");
  static_assert(dav::before_3510<T>, "the emulator has no cube of this chip");
  const LoadData2dTransposeParams& p = loadDataParams;
  dav::load_data_transpose(
      dst.Operand(), src.Operand(), dav::dtype_of<T>,
      {p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.dstFracGap, p.addrMode != 0});
}

// Dense weights to L0B and, beside them, which elements of the left matrix each one meets.
template <typename T = int8_t, typename U = uint8_t,
          std::enable_if_t<std::is_same<PrimT<T>, int8_t>::value, bool> = true,
          std::enable_if_t<std::is_same<PrimT<U>, uint8_t>::value, bool> = true>
__aicore__ inline void LoadDataWithSparse(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                          const LocalTensor<U>& idx,
                                          const LoadData2dParams& loadDataParam) {
  static_assert(dav::only_2201<T>, "LoadDataWithSparse does not exist on this chip");
  dav::load_data_sparse(dst.Operand(), src.Operand(), idx.Operand(), loadDataParam.startIndex,
                        loadDataParam.repeatTimes);
}

// --- Image to column.
__aicore__ inline void SetFmatrix(uint16_t l1H, uint16_t l1W, const uint8_t padList[4],
                                  const FmatrixMode& fmatrixMode) {
  dav::set_fmatrix(fmatrixMode == FmatrixMode::FMATRIX_RIGHT, l1H, l1W, padList);
}

// The left feature map's register by itself, for loads that leave it alone.
__aicore__ inline void Load3DSetFMatrixCal(uint16_t l1H, uint16_t l1W, const uint8_t padList[4]) {
  dav::set_fmatrix(false, l1H, l1W, padList);
}

// Bytes of L1 in which 3D loads walk around; 0 is all of it.
__aicore__ inline void SetLoadDataBoundary(uint32_t boundaryValue) {
  dav::set_load3d_boundary(boundaryValue);
}

template <typename T>
__aicore__ inline void SetLoadDataPaddingValue(const T padValue) {
  dav::set_load_padding(dav::element_bits(padValue));
}

__aicore__ inline void SetLoadDataRepeat(const LoadDataRepeatParam& repeatParams) {
  dav::set_load3d_repeat(repeatParams.repeatStride, repeatParams.repeatTime,
                         repeatParams.repeatMode);
}

template <typename T, const IsResetLoad3dConfig& defaultConfig = IS_RESER_LOAD3D_DEFAULT_CONFIG,
          typename U = PrimT<T>, std::enable_if_t<std::is_same<PrimT<T>, U>::value, bool> = true>
__aicore__ inline void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const LoadData3DParamsV2<U>& loadDataParams) {
  static_assert(dav::since_2201<T>, "LoadData with LoadData3DParamsV2 does not exist on this chip");
  static_assert(dav::before_3510<T>, "the emulator has no cube of this chip");
  const LoadData3DParamsV2<U>& p = loadDataParams;
  if constexpr (defaultConfig.isSetFMatrix) {
    dav::set_fmatrix(p.fMatrixCtrl, p.l1H, p.l1W, p.padList);
  }
  if constexpr (defaultConfig.isSetPadding) dav::set_load_padding(dav::element_bits(p.padValue));
  dav::Load3dDesc d;
  d.channelSize = p.channelSize;
  d.kExtension = p.kExtension;
  d.mExtension = p.mExtension;
  d.kStartPt = p.kStartPt;
  d.mStartPt = p.mStartPt;
  d.strideW = p.strideW;
  d.strideH = p.strideH;
  d.filterW = p.filterW + (p.filterSizeW ? 256u : 0u);
  d.filterH = p.filterH + (p.filterSizeH ? 256u : 0u);
  d.dilationFilterW = p.dilationFilterW;
  d.dilationFilterH = p.dilationFilterH;
  d.enTranspose = p.enTranspose;
  d.enSmallK = p.enSmallK;
  d.fMatrixCtrl = p.fMatrixCtrl;
  dav::load_data_3d(dst.Operand(), src.Operand(), dav::dtype_of<T>, d);
}

template <typename T>
__aicore__ inline void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                const LoadData3DParamsV2Pro& loadDataParams) {
  static_assert(dav::since_2201<T>,
                "LoadData with LoadData3DParamsV2Pro does not exist on this chip");
  static_assert(dav::before_3510<T>, "the emulator has no cube of this chip");
  const LoadData3DParamsV2Pro& p = loadDataParams;
  const auto byte = [&](int index) {
    return static_cast<uint32_t>(p.filterConfig >> 8 * index & 0xff);
  };
  const auto word = [&](int index) {
    return static_cast<uint32_t>(p.extConfig >> 16 * index & 0xffff);
  };
  dav::Load3dDesc d;
  d.channelSize = p.channelSize;
  d.kExtension = word(0);
  d.mExtension = word(1);
  d.kStartPt = word(2);
  d.mStartPt = word(3);
  d.strideW = byte(0);
  d.strideH = byte(1);
  d.filterW = byte(2) + (p.filterSizeW ? 256u : 0u);
  d.filterH = byte(3) + (p.filterSizeH ? 256u : 0u);
  d.dilationFilterW = byte(4);
  d.dilationFilterH = byte(5);
  d.enTranspose = p.enTranspose;
  d.enSmallK = p.enSmallK;
  d.fMatrixCtrl = p.fMatrixCtrl;
  dav::load_data_3d(dst.Operand(), src.Operand(), dav::dtype_of<T>, d);
}

// --- One value over L1, L0A or L0B.
template <typename T, typename U = PrimT<T>,
          std::enable_if_t<std::is_same<PrimT<T>, U>::value, bool> = true>
__aicore__ inline void Fill(const LocalTensor<T>& dst,
                            const InitConstValueParams<U>& initConstValueParams) {
  const InitConstValueParams<U>& p = initConstValueParams;
  dav::fill_local(dst.Operand(), dav::dtype_of<T>,
                  {p.repeatTimes, p.blockNum, p.dstGap, dav::element_bits(p.initValue)});
}

template <typename T, typename U = PrimT<T>,
          std::enable_if_t<std::is_same<PrimT<T>, U>::value, bool> = true>
__aicore__ inline void InitConstValue(const LocalTensor<T>& dst,
                                      const InitConstValueParams<U>& initConstValueParams) {
  Fill(dst, initConstValueParams);
}

}  // namespace AscendC
