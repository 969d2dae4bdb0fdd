// Compare, CompareScalar, Select and the compare mask register.
#pragma once

#include "ascendc/vector_common.h"

namespace AscendC {
namespace Internal {

using CompareTypes = Types<half, float, int32_t>;

template <typename T, typename U>
dav::VecCompare Comparison(const char* name, CMPMODE mode, const LocalTensor<U>& dst,
                           const dav::VecOperand& src0, const dav::VecOperand& src1,
                           dav::VecMask mask, uint8_t repeatTime) {
  static_assert(Types<int8_t, uint8_t>::Has<PrimT<U>>(),
                "comparison results are packed bits in bytes");
  return {name,
          static_cast<dav::CompareOp>(mode),
          dav::dtype_of<T>,
          dst.Operand(),
          false,
          src0,
          src1,
          false,
          0,
          mask,
          repeatTime};
}
template <typename T>
dav::VecCompare WithScalar(dav::VecCompare comparison, T scalar) {
  comparison.scalar_src1 = true;
  comparison.scalar = ScalarBits(scalar);
  return comparison;
}

}  // namespace Internal

// Results are one bit per element; the mask parameters have no effect on these architectures.
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0,
                               const LocalTensor<T>& src1, CMPMODE cmpMode, const uint64_t mask,
                               uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {
  DAV_REQUIRE_TYPE("Compare", T, Internal::CompareTypes, Internal::Floats);
  static_cast<void>(mask);
  const auto& p = repeatParams;
  dav::vector_compare(Internal::Comparison<T>(
      "Compare", cmpMode, dst, Internal::Strided(src0, p.src0BlkStride, p.src0RepStride),
      Internal::Strided(src1, p.src1BlkStride, p.src1RepStride), dav::VecMask::keep(), repeatTime));
}
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0,
                               const LocalTensor<T>& src1, CMPMODE cmpMode, const uint64_t mask[],
                               uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {
  static_cast<void>(mask);
  Compare<T, U, isSetMask>(dst, src0, src1, cmpMode, uint64_t{0}, repeatTime, repeatParams);
}
template <typename T, typename U>
__aicore__ inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0,
                               const LocalTensor<T>& src1, CMPMODE cmpMode, uint32_t count) {
  DAV_REQUIRE_TYPE("Compare", T, Internal::CompareTypes, Internal::Floats);
  dav::vector_compare(Internal::Comparison<T>("Compare", cmpMode, dst, Internal::Dense(src0),
                                              Internal::Dense(src1), dav::VecMask::total(count),
                                              1));
}

// One repeat, into the compare mask register.
template <typename T, bool isSetMask = true>
__aicore__ inline void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                               CMPMODE cmpMode, const uint64_t mask[],
                               const BinaryRepeatParams& repeatParams) {
  DAV_REQUIRE_TYPE("Compare", T, Internal::Floats, Internal::NoTypes);
  const auto& p = repeatParams;
  dav::vector_compare({"Compare",
                       static_cast<dav::CompareOp>(cmpMode),
                       dav::dtype_of<T>,
                       {dav::Buffer::UB, 0},
                       true,
                       Internal::Strided(src0, p.src0BlkStride, p.src0RepStride),
                       Internal::Strided(src1, p.src1BlkStride, p.src1RepStride),
                       false,
                       0,
                       Internal::BitMask<T, isSetMask>(mask),
                       1});
}
template <typename T, bool isSetMask = true>
__aicore__ inline void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                               CMPMODE cmpMode, const uint64_t mask,
                               const BinaryRepeatParams& repeatParams) {
  DAV_REQUIRE_TYPE("Compare", T, Internal::Floats, Internal::NoTypes);
  const auto& p = repeatParams;
  dav::vector_compare({"Compare",
                       static_cast<dav::CompareOp>(cmpMode),
                       dav::dtype_of<T>,
                       {dav::Buffer::UB, 0},
                       true,
                       Internal::Strided(src0, p.src0BlkStride, p.src0RepStride),
                       Internal::Strided(src1, p.src1BlkStride, p.src1RepStride),
                       false,
                       0,
                       Internal::LaneMask<isSetMask>(mask),
                       1});
}
template <typename T>
__aicore__ inline void GetCmpMask(const LocalTensor<T>& dst) {
  static_assert(dav::since_2201<T>, "GetCmpMask: not on this architecture");
  dav::vector_get_compare_mask(dst.Operand());
}
template <typename T>
__aicore__ inline void SetCmpMask(const LocalTensor<T>& src) {
  dav::vector_set_compare_mask(src.Operand());
}

#define DAV_COMPARE_SCALAR_API(Name)                                                              \
  template <typename T, typename U, bool isSetMask = true>                                        \
  __aicore__ inline void Name(const LocalTensor<U>& dst, const LocalTensor<T>& src0,              \
                              const T src1Scalar, CMPMODE cmpMode, const uint64_t mask,           \
                              uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {        \
    DAV_REQUIRE_TYPE(#Name, T, Internal::CompareTypes, Internal::NoTypes);                        \
    static_cast<void>(mask);                                                                      \
    const dav::VecOperand a =                                                                     \
        Internal::Strided(src0, repeatParams.srcBlkStride, repeatParams.srcRepStride);            \
    dav::vector_compare(Internal::WithScalar(                                                     \
        Internal::Comparison<T>(#Name, cmpMode, dst, a, a, dav::VecMask::keep(), repeatTime),     \
        src1Scalar));                                                                             \
  }                                                                                               \
  template <typename T, typename U, bool isSetMask = true>                                        \
  __aicore__ inline void Name(const LocalTensor<U>& dst, const LocalTensor<T>& src0,              \
                              const T src1Scalar, CMPMODE cmpMode, const uint64_t mask[],         \
                              uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {        \
    static_cast<void>(mask);                                                                      \
    Name<T, U, isSetMask>(dst, src0, src1Scalar, cmpMode, uint64_t{0}, repeatTime, repeatParams); \
  }                                                                                               \
  template <typename T, typename U>                                                               \
  __aicore__ inline void Name(const LocalTensor<U>& dst, const LocalTensor<T>& src0,              \
                              const T src1Scalar, CMPMODE cmpMode, uint32_t count) {              \
    DAV_REQUIRE_TYPE(#Name, T, Internal::CompareTypes, Internal::NoTypes);                        \
    const dav::VecOperand a = Internal::Dense(src0);                                              \
    dav::vector_compare(Internal::WithScalar(                                                     \
        Internal::Comparison<T>(#Name, cmpMode, dst, a, a, dav::VecMask::total(count), 1),        \
        src1Scalar));                                                                             \
  }
DAV_COMPARE_SCALAR_API(CompareScalar)
DAV_COMPARE_SCALAR_API(Compares)
#undef DAV_COMPARE_SCALAR_API

namespace Internal {

template <typename T, typename U>
void SelectTensors(SELMODE mode, const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                   const dav::VecOperand& d, const dav::VecOperand& a, const dav::VecOperand& b,
                   dav::VecMask mask, uint8_t repeatTime) {
  DAV_REQUIRE_TYPE("Select", T, Floats, Floats);
  static_cast<void>(dst);
  if (mode == SELMODE::VSEL_TENSOR_SCALAR_MODE)
    dav::raise_illegal("Select", "mode 1 takes a scalar as its second source");
  dav::vector_select({"Select", static_cast<dav::SelectMode>(mode), dav::dtype_of<T>, d,
                      selMask.Operand(), false, a, b, false, 0, mask, repeatTime});
}
template <typename T, typename U>
void SelectScalar(SELMODE mode, const LocalTensor<U>& selMask, const dav::VecOperand& d,
                  const dav::VecOperand& a, T scalar, dav::VecMask mask, uint8_t repeatTime) {
  DAV_REQUIRE_TYPE("Select", T, Floats, NoTypes);
  if (mode != SELMODE::VSEL_TENSOR_SCALAR_MODE)
    dav::raise_illegal("Select", "a scalar source needs mode 1");
  dav::vector_select({"Select", dav::SelectMode::TensorScalar, dav::dtype_of<T>, d,
                      selMask.Operand(), false, a, a, false, ScalarBits(scalar), mask, repeatTime});
}

}  // namespace Internal

// Where a bit of selMask is 1, src0; else src1.
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                              const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                              SELMODE selMode, uint64_t mask[], uint8_t repeatTime,
                              const BinaryRepeatParams& repeatParams) {
  const auto& p = repeatParams;
  Internal::SelectTensors(selMode, dst, selMask,
                          Internal::Strided(dst, p.dstBlkStride, p.dstRepStride),
                          Internal::Strided(src0, p.src0BlkStride, p.src0RepStride),
                          Internal::Strided(src1, p.src1BlkStride, p.src1RepStride),
                          Internal::BitMask<T, isSetMask>(mask), repeatTime);
}
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                              const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                              SELMODE selMode, uint64_t mask, uint8_t repeatTime,
                              const BinaryRepeatParams& repeatParams) {
  const auto& p = repeatParams;
  Internal::SelectTensors(selMode, dst, selMask,
                          Internal::Strided(dst, p.dstBlkStride, p.dstRepStride),
                          Internal::Strided(src0, p.src0BlkStride, p.src0RepStride),
                          Internal::Strided(src1, p.src1BlkStride, p.src1RepStride),
                          Internal::LaneMask<isSetMask>(mask), repeatTime);
}
template <typename T, typename U>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                              const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                              SELMODE selMode, uint32_t count) {
  Internal::SelectTensors(selMode, dst, selMask, Internal::Dense(dst), Internal::Dense(src0),
                          Internal::Dense(src1), dav::VecMask::total(count), 1);
}
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                              const LocalTensor<T>& src0, T src1, SELMODE selMode, uint64_t mask[],
                              uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {
  const auto& p = repeatParams;
  Internal::SelectScalar<T>(selMode, selMask,
                            Internal::Strided(dst, p.dstBlkStride, p.dstRepStride),
                            Internal::Strided(src0, p.src0BlkStride, p.src0RepStride), src1,
                            Internal::BitMask<T, isSetMask>(mask), repeatTime);
}
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                              const LocalTensor<T>& src0, T src1, SELMODE selMode, uint64_t mask,
                              uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {
  const auto& p = repeatParams;
  Internal::SelectScalar<T>(selMode, selMask,
                            Internal::Strided(dst, p.dstBlkStride, p.dstRepStride),
                            Internal::Strided(src0, p.src0BlkStride, p.src0RepStride), src1,
                            Internal::LaneMask<isSetMask>(mask), repeatTime);
}
template <typename T, typename U>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                              const LocalTensor<T>& src0, T src1, SELMODE selMode, uint32_t count) {
  Internal::SelectScalar<T>(selMode, selMask, Internal::Dense(dst), Internal::Dense(src0), src1,
                            dav::VecMask::total(count), 1);
}

// With masks from registers: SetVectorMask for the lanes, SetCmpMask for the selection.
template <typename T, SELMODE selMode>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                              const LocalTensor<T>& src1, uint8_t repeatTime,
                              const BinaryRepeatParams& repeatParams) {
  DAV_REQUIRE_TYPE("Select", T, Internal::Floats, Internal::Floats);
  static_assert(selMode != SELMODE::VSEL_TENSOR_SCALAR_MODE, "mode 1 takes a scalar");
  const auto& p = repeatParams;
  dav::vector_select({"Select",
                      static_cast<dav::SelectMode>(selMode),
                      dav::dtype_of<T>,
                      Internal::Strided(dst, p.dstBlkStride, p.dstRepStride),
                      {dav::Buffer::UB, 0},
                      true,
                      Internal::Strided(src0, p.src0BlkStride, p.src0RepStride),
                      Internal::Strided(src1, p.src1BlkStride, p.src1RepStride),
                      false,
                      0,
                      dav::VecMask::keep(),
                      repeatTime});
}
template <typename T, typename U>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                              const LocalTensor<T>& src0, uint8_t repeatTime,
                              const BinaryRepeatParams& repeatParams) {
  DAV_REQUIRE_TYPE("Select", T, Internal::Floats, Internal::NoTypes);
  const auto& p = repeatParams;
  const dav::VecOperand a = Internal::Strided(src0, p.src0BlkStride, p.src0RepStride);
  dav::vector_select({"Select", dav::SelectMode::TensorScalar, dav::dtype_of<T>,
                      Internal::Strided(dst, p.dstBlkStride, p.dstRepStride), selMask.Operand(),
                      false, a, a, true, 0, dav::VecMask::keep(), repeatTime});
}

}  // namespace AscendC
