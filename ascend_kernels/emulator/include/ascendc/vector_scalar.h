// Tensor and scalar: Adds, Muls, Maxs, Mins, LeakyRelu, shifts, Axpy.
#pragma once

#include "ascendc/vector_common.h"

namespace AscendC {
namespace Internal {

template <typename T, typename U>
void Scalar(const char* name, dav::ScalarOp op, const LocalTensor<T>& dst,
            const LocalTensor<U>& src, PrimT<U> scalar, bool round, dav::VecMask mask,
            uint8_t repeatTime, const UnaryRepeatParams& p) {
  dav::vector_scalar(
      {name, op, dav::dtype_of<T>, dav::dtype_of<U>, Strided(dst, p.dstBlkStride, p.dstRepStride),
       Strided(src, p.srcBlkStride, p.srcRepStride), ScalarBits(scalar), round, mask, repeatTime});
}
template <typename T, typename U>
void Scalar(const char* name, dav::ScalarOp op, const LocalTensor<T>& dst,
            const LocalTensor<U>& src, PrimT<U> scalar, dav::VecMask mask) {
  constexpr uint32_t lanes = lanes_of_pair<T, U>;
  dav::vector_scalar({name, op, dav::dtype_of<T>, dav::dtype_of<U>, Dense(dst, lanes),
                      Dense(src, lanes), ScalarBits(scalar), false, mask, 1});
}

template <typename T, typename U>
using IfElement = std::enable_if_t<std::is_same<PrimT<T>, U>::value, bool>;
using ShiftTypes = Types<int16_t, uint16_t, int32_t, uint32_t>;

}  // namespace Internal

// The scalar is written as the tensor's type or, for tensors of traits, as its element type.
#define DAV_SCALAR_API(Name, on2201, on1001)                                                   \
  template <typename T, bool isSetMask = true>                                                 \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,            \
                              const T& scalarValue, uint64_t mask[], const uint8_t repeatTime, \
                              const UnaryRepeatParams& repeatParams) {                         \
    DAV_REQUIRE_TYPE(#Name, T, on2201, on1001);                                                \
    Internal::Scalar(#Name, dav::ScalarOp::Name, dst, src, scalarValue, false,                 \
                     Internal::BitMask<T, isSetMask>(mask), repeatTime, repeatParams);         \
  }                                                                                            \
  template <typename T, typename U, bool isSetMask = true, Internal::IfElement<T, U> = true>   \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,            \
                              const U& scalarValue, uint64_t mask[], const uint8_t repeatTime, \
                              const UnaryRepeatParams& repeatParams) {                         \
    DAV_REQUIRE_TYPE(#Name, T, on2201, on1001);                                                \
    Internal::Scalar(#Name, dav::ScalarOp::Name, dst, src, scalarValue, false,                 \
                     Internal::BitMask<T, isSetMask>(mask), repeatTime, repeatParams);         \
  }                                                                                            \
  template <typename T, bool isSetMask = true>                                                 \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,            \
                              const T& scalarValue, uint64_t mask, const uint8_t repeatTime,   \
                              const UnaryRepeatParams& repeatParams) {                         \
    DAV_REQUIRE_TYPE(#Name, T, on2201, on1001);                                                \
    Internal::Scalar(#Name, dav::ScalarOp::Name, dst, src, scalarValue, false,                 \
                     Internal::LaneMask<isSetMask>(mask), repeatTime, repeatParams);           \
  }                                                                                            \
  template <typename T, typename U, bool isSetMask = true, Internal::IfElement<T, U> = true>   \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,            \
                              const U& scalarValue, uint64_t mask, const uint8_t repeatTime,   \
                              const UnaryRepeatParams& repeatParams) {                         \
    DAV_REQUIRE_TYPE(#Name, T, on2201, on1001);                                                \
    Internal::Scalar(#Name, dav::ScalarOp::Name, dst, src, scalarValue, false,                 \
                     Internal::LaneMask<isSetMask>(mask), repeatTime, repeatParams);           \
  }                                                                                            \
  DAV_SCALAR_COUNT_API(Name, on2201, on1001)

#define DAV_SCALAR_COUNT_API(Name, on2201, on1001)                                           \
  template <typename T, bool isSetMask = true>                                               \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,          \
                              const T& scalarValue, const int32_t& count) {                  \
    DAV_REQUIRE_TYPE(#Name, T, on2201, on1001);                                              \
    Internal::Scalar(#Name, dav::ScalarOp::Name, dst, src, scalarValue,                      \
                     Internal::CountMask<isSetMask>(count));                                 \
  }                                                                                          \
  template <typename T, typename U, bool isSetMask = true, Internal::IfElement<T, U> = true> \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,          \
                              const U& scalarValue, const int32_t& count) {                  \
    DAV_REQUIRE_TYPE(#Name, T, on2201, on1001);                                              \
    Internal::Scalar(#Name, dav::ScalarOp::Name, dst, src, scalarValue,                      \
                     Internal::CountMask<isSetMask>(count));                                 \
  }

DAV_SCALAR_API(Adds, Internal::Arithmetic, Internal::Floats)
DAV_SCALAR_API(Muls, Internal::Arithmetic, Internal::Floats)
DAV_SCALAR_API(Maxs, Internal::Arithmetic, Internal::NoTypes)
DAV_SCALAR_API(Mins, Internal::Arithmetic, Internal::NoTypes)
DAV_SCALAR_API(LeakyRelu, Internal::Floats, Internal::NoTypes)
DAV_SCALAR_API(ShiftLeft, Internal::ShiftTypes, Internal::NoTypes)
DAV_SCALAR_COUNT_API(ShiftRight, Internal::ShiftTypes, Internal::NoTypes)
#undef DAV_SCALAR_API
#undef DAV_SCALAR_COUNT_API

template <typename T, bool isSetMask = true>
__aicore__ inline void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                  const T& scalarValue, uint64_t mask[], const uint8_t repeatTime,
                                  const UnaryRepeatParams& repeatParams, bool roundEn = false) {
  DAV_REQUIRE_TYPE("ShiftRight", T, Internal::ShiftTypes, Internal::NoTypes);
  Internal::Scalar("ShiftRight", dav::ScalarOp::ShiftRight, dst, src, scalarValue, roundEn,
                   Internal::BitMask<T, isSetMask>(mask), repeatTime, repeatParams);
}
template <typename T, bool isSetMask = true>
__aicore__ inline void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                  const T& scalarValue, uint64_t mask, const uint8_t repeatTime,
                                  const UnaryRepeatParams& repeatParams, bool roundEn = false) {
  DAV_REQUIRE_TYPE("ShiftRight", T, Internal::ShiftTypes, Internal::NoTypes);
  Internal::Scalar("ShiftRight", dav::ScalarOp::ShiftRight, dst, src, scalarValue, roundEn,
                   Internal::LaneMask<isSetMask>(mask), repeatTime, repeatParams);
}

// dst += src * scalar; a float dst may accumulate products of halves.
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                            const U& scalarValue, uint64_t mask, const uint8_t repeatTime,
                            const UnaryRepeatParams& repeatParams) {
  DAV_REQUIRE_TYPE("Axpy", T, Internal::Floats, Internal::Floats);
  Internal::Scalar("Axpy", dav::ScalarOp::Axpy, dst, src, scalarValue, false,
                   Internal::LaneMask<isSetMask>(mask), repeatTime, repeatParams);
}
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                            const U& scalarValue, uint64_t mask[], const uint8_t repeatTime,
                            const UnaryRepeatParams& repeatParams) {
  DAV_REQUIRE_TYPE("Axpy", T, Internal::Floats, Internal::Floats);
  Internal::Scalar("Axpy", dav::ScalarOp::Axpy, dst, src, scalarValue, false,
                   Internal::BitMask<T, isSetMask>(mask), repeatTime, repeatParams);
}
template <typename T, typename U>
__aicore__ inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                            const U& scalarValue, const int32_t& count) {
  DAV_REQUIRE_TYPE("Axpy", T, Internal::Floats, Internal::Floats);
  Internal::Scalar("Axpy", dav::ScalarOp::Axpy, dst, src, scalarValue, dav::VecMask::total(count));
}

}  // namespace AscendC
