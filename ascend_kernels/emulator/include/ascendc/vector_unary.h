// One-tensor arithmetic: Exp, Ln, Abs, Reciprocal, Rsqrt, Sqrt, Relu, Not.
#pragma once

#include "ascendc/vector_common.h"

namespace AscendC {
namespace Internal {

template <typename T>
void Unary(const char* name, dav::UnaryOp op, const LocalTensor<T>& dst, const LocalTensor<T>& src,
           dav::VecMask mask, uint8_t repeatTime, const UnaryRepeatParams& p) {
  dav::vector_unary({name, op, dav::dtype_of<T>, Strided(dst, p.dstBlkStride, p.dstRepStride),
                     Strided(src, p.srcBlkStride, p.srcRepStride), mask, repeatTime});
}
template <typename T>
void Unary(const char* name, dav::UnaryOp op, const LocalTensor<T>& dst, const LocalTensor<T>& src,
           int64_t count) {
  dav::vector_unary(
      {name, op, dav::dtype_of<T>, Dense(dst), Dense(src), dav::VecMask::total(count), 1});
}

}  // namespace Internal

#define DAV_UNARY_API(Name, on2201, on1001)                                                        \
  template <typename T, bool isSetMask = true>                                                     \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                \
                              uint64_t mask[], const uint8_t repeatTime,                           \
                              const UnaryRepeatParams& repeatParams) {                             \
    DAV_REQUIRE_TYPE(#Name, T, on2201, on1001);                                                    \
    Internal::Unary(#Name, dav::UnaryOp::Name, dst, src, Internal::BitMask<T, isSetMask>(mask),    \
                    repeatTime, repeatParams);                                                     \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask, \
                              const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {   \
    DAV_REQUIRE_TYPE(#Name, T, on2201, on1001);                                                    \
    Internal::Unary(#Name, dav::UnaryOp::Name, dst, src, Internal::LaneMask<isSetMask>(mask),      \
                    repeatTime, repeatParams);                                                     \
  }                                                                                                \
  template <typename T>                                                                            \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                \
                              const int32_t& count) {                                              \
    DAV_REQUIRE_TYPE(#Name, T, on2201, on1001);                                                    \
    Internal::Unary(#Name, dav::UnaryOp::Name, dst, src, count);                                   \
  }

namespace Internal {
using ReluTypes = Types<half, int32_t, float>;
}
DAV_UNARY_API(Exp, Internal::Floats, Internal::Floats)
DAV_UNARY_API(Ln, Internal::Floats, Internal::Floats)
DAV_UNARY_API(Abs, Internal::Floats, Internal::Floats)
DAV_UNARY_API(Reciprocal, Internal::Floats, Internal::Floats)
DAV_UNARY_API(Rsqrt, Internal::Floats, Internal::Floats)
DAV_UNARY_API(Sqrt, Internal::Floats, Internal::Floats)
DAV_UNARY_API(Relu, Internal::ReluTypes, Internal::HalfOnly)
DAV_UNARY_API(Not, Internal::Shorts, Internal::Shorts)
#undef DAV_UNARY_API

}  // namespace AscendC
