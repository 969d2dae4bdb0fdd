// DataCopy of NZ matrices in UB to rows in GM: a loop of copies, as on the real library.
#pragma once

#include <algorithm>

#include "ascendc/data_copy.h"

namespace AscendC {

struct Nz2NdParamsFull {
  Nz2NdParamsFull() {}
  Nz2NdParamsFull(const uint16_t ndNumIn, const uint16_t nValueIn, const uint16_t dValueIn,
                  const uint16_t srcNdMatrixStrideIn, const uint16_t srcNStrideIn,
                  const uint16_t dstDStrideIn, const uint16_t dstNdMatrixStrideIn)
      : ndNum(ndNumIn),
        nValue(nValueIn),
        dValue(dValueIn),
        srcNdMatrixStride(srcNdMatrixStrideIn),
        srcNStride(srcNStrideIn),
        dstDStride(dstDStrideIn),
        dstNdMatrixStride(dstNdMatrixStrideIn) {}

  uint16_t ndNum = 1;
  uint16_t nValue = 0;
  uint16_t dValue = 0;
  uint16_t srcNdMatrixStride = 1;  // fractals of 16 x 16
  uint16_t srcNStride = 0;         // rows of 16 between columns of fractals
  uint16_t dstDStride = 0;         // elements between rows
  uint16_t dstNdMatrixStride = 1;  // elements
};

namespace emulator_detail {

inline void RequireNz2Nd(const char* name, uint32_t value, uint32_t low, uint32_t high) {
  if (value >= low && value <= high) return;
  dav::raise_illegal("DataCopy (NZ to ND)", "%s is %u, allowed are %u to %u", name, value, low,
                     high);
}

inline void RequireNz2Nd(const Nz2NdParamsFull& p) {
  RequireNz2Nd("ndNum", p.ndNum, 0, 4095);
  RequireNz2Nd("nValue", p.nValue, 1, 8192);
  RequireNz2Nd("dValue", p.dValue, 1, 8192);
  RequireNz2Nd("srcNdMatrixStride", p.srcNdMatrixStride, 1, 512);
  RequireNz2Nd("srcNStride", p.srcNStride, 0, 4096);
  RequireNz2Nd("dstDStride", p.dstDStride, 16, 65535);
  RequireNz2Nd("dstNdMatrixStride", p.dstNdMatrixStride, 1, 65535);
  if (p.dValue % 16 == 0) return;
  dav::raise_illegal("DataCopy (NZ to ND)", "dValue is %u, no multiple of 16", p.dValue);
}

}  // namespace emulator_detail

template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                const Nz2NdParamsFull& intriParams) {
  static_assert(dav::only_2201<T>, "DataCopy with Nz2NdParamsFull does not exist on this chip");
  static_assert(sizeof(PrimT<T>) == 2 || sizeof(PrimT<T>) == 4,
                "DataCopy with Nz2NdParamsFull takes types of 16 and 32 bits");
  constexpr uint32_t side = 16, most = 4095;  // bursts of one copy
  const Nz2NdParamsFull& p = intriParams;
  emulator_detail::RequireNz2Nd(p);
  const uint32_t bytes = side * static_cast<uint32_t>(sizeof(PrimT<T>));
  const uint32_t gap = static_cast<uint32_t>((p.dstDStride - side) * sizeof(PrimT<T>));
  for (uint32_t matrix = 0; matrix < p.ndNum; ++matrix) {
    for (uint32_t column = 0; column < p.dValue / side; ++column) {
      for (uint32_t row = 0; row < p.nValue; row += most) {
        const uint64_t to =
            uint64_t{matrix} * p.dstNdMatrixStride + column * side + uint64_t{row} * p.dstDStride;
        const uint32_t from =
            matrix * p.srcNdMatrixStride * side * side + column * p.srcNStride * side + row * side;
        const auto rows = static_cast<uint16_t>(std::min(most, p.nValue - row));
        DataCopyPad(dst[to], src[from], DataCopyExtParams(rows, bytes, 0, gap, 0));
      }
    }
  }
}

}  // namespace AscendC
