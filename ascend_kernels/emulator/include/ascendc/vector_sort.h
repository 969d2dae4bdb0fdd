// Sort32 and MrgSort.
#pragma once

#include "ascendc/vector_common.h"

namespace AscendC {

constexpr int32_t MRG_SORT_ELEMENT_LEN = 4;

struct MrgSort4Info {
  __aicore__ MrgSort4Info() {}
  __aicore__ MrgSort4Info(const uint16_t elementLengthsIn[MRG_SORT_ELEMENT_LEN],
                          const bool ifExhaustedSuspensionIn, const uint16_t validBitIn,
                          const uint16_t repeatTimesIn)
      : ifExhaustedSuspension(ifExhaustedSuspensionIn),
        validBit(validBitIn),
        repeatTimes(static_cast<uint8_t>(repeatTimesIn)) {
    for (int32_t i = 0; i < MRG_SORT_ELEMENT_LEN; ++i) elementLengths[i] = elementLengthsIn[i];
  }

  uint16_t elementLengths[MRG_SORT_ELEMENT_LEN] = {0};
  bool ifExhaustedSuspension = false;
  uint16_t validBit = 0;
  uint8_t repeatTimes = 1;
};

template <typename T>
struct MrgSortSrcList {
  __aicore__ MrgSortSrcList() {}
  __aicore__ MrgSortSrcList(const LocalTensor<T>& src1In, const LocalTensor<T>& src2In,
                            const LocalTensor<T>& src3In, const LocalTensor<T>& src4In)
      : src1(src1In), src2(src2In), src3(src3In), src4(src4In) {}

  LocalTensor<T> src1;
  LocalTensor<T> src2;
  LocalTensor<T> src3;
  LocalTensor<T> src4;
};

// 32 (score, index) pairs a repeat, largest score first.
template <typename T>
__aicore__ inline void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                              const LocalTensor<uint32_t>& src1, const int32_t repeatTime) {
  DAV_REQUIRE_TYPE("Sort32", T, Internal::Floats, Internal::NoTypes);
  dav::vector_sort32(dav::dtype_of<T>, dst.Operand(), src0.Operand(), src1.Operand(), repeatTime);
}

template <typename T>
__aicore__ inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src,
                               const MrgSort4Info& params) {
  DAV_REQUIRE_TYPE("MrgSort", T, Internal::Floats, Internal::NoTypes);
  dav::VecMergeSort v{
      "MrgSort",
      dav::dtype_of<T>,
      dst.Operand(),
      {src.src1.Operand(), src.src2.Operand(), src.src3.Operand(), src.src4.Operand()},
      {},
      params.ifExhaustedSuspension,
      params.validBit,
      params.repeatTimes};
  for (int32_t i = 0; i < MRG_SORT_ELEMENT_LEN; ++i) v.lengths[i] = params.elementLengths[i];
  dav::vector_merge_sort(v);
}
__aicore__ inline void GetMrgSortResult(uint16_t& mrgSortList1, uint16_t& mrgSortList2,
                                        uint16_t& mrgSortList3, uint16_t& mrgSortList4) {
  uint16_t taken[MRG_SORT_ELEMENT_LEN];
  dav::vector_merge_sort_result(taken);
  mrgSortList1 = taken[0];
  mrgSortList2 = taken[1];
  mrgSortList3 = taken[2];
  mrgSortList4 = taken[3];
}
template <typename T, bool isExhaustedSuspension = false>
__aicore__ inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& sortList,
                               const uint16_t elementCountList[4], uint32_t sortedNum[4],
                               uint16_t validBit, const int32_t repeatTime) {
  MrgSort(dst, sortList,
          MrgSort4Info(elementCountList, isExhaustedSuspension, validBit,
                       static_cast<uint16_t>(repeatTime)));
  uint16_t taken[MRG_SORT_ELEMENT_LEN];
  dav::vector_merge_sort_result(taken);
  for (int32_t i = 0; i < MRG_SORT_ELEMENT_LEN; ++i) sortedNum[i] = taken[i];
}

// Where pair `elemOffset` starts, in elements of T, and how many elements `elemCount` pairs take.
template <typename T>
__aicore__ inline uint32_t GetSortOffset(const uint32_t elemOffset) {
  return elemOffset * (8 / static_cast<uint32_t>(sizeof(T)));
}
template <typename T>
__aicore__ inline uint32_t GetSortLen(const uint32_t elemCount) {
  return GetSortOffset<T>(elemCount);
}

}  // namespace AscendC
