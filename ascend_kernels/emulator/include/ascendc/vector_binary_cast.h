// Two-tensor arithmetic with a narrower result: AddReluCast, SubReluCast, MulCast.
#pragma once

#include "ascendc/vector_binary.h"

namespace AscendC {

#define DAV_BINARY_CAST_API(Name, op)                                                              \
  template <typename T, typename U, bool isSetMask = true>                                         \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0,               \
                              const LocalTensor<U>& src1, uint64_t mask, const uint8_t repeatTime, \
                              const BinaryRepeatParams& repeatParams) {                            \
    static_assert(__NPU_ARCH__ == 2201 && sizeof(T) < sizeof(U), #Name ": element types");         \
    const auto& p = repeatParams;                                                                  \
    dav::vector_binary_cast({#Name, dav::BinaryOp::op, dav::dtype_of<T>, dav::dtype_of<U>,         \
                             Internal::Strided(dst, p.dstBlkStride, p.dstRepStride),               \
                             Internal::Strided(src0, p.src0BlkStride, p.src0RepStride),            \
                             Internal::Strided(src1, p.src1BlkStride, p.src1RepStride),            \
                             Internal::LaneMask<isSetMask>(mask), repeatTime});                    \
  }                                                                                                \
  template <typename T, typename U, bool isSetMask = true>                                         \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0,               \
                              const LocalTensor<U>& src1, uint64_t mask[],                         \
                              const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {  \
    static_assert(__NPU_ARCH__ == 2201 && sizeof(T) < sizeof(U), #Name ": element types");         \
    const auto& p = repeatParams;                                                                  \
    dav::vector_binary_cast({#Name, dav::BinaryOp::op, dav::dtype_of<T>, dav::dtype_of<U>,         \
                             Internal::Strided(dst, p.dstBlkStride, p.dstRepStride),               \
                             Internal::Strided(src0, p.src0BlkStride, p.src0RepStride),            \
                             Internal::Strided(src1, p.src1BlkStride, p.src1RepStride),            \
                             Internal::BitMask<U, isSetMask>(mask), repeatTime});                  \
  }                                                                                                \
  template <typename T, typename U>                                                                \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0,               \
                              const LocalTensor<U>& src1, const uint32_t count) {                  \
    static_assert(__NPU_ARCH__ == 2201 && sizeof(T) < sizeof(U), #Name ": element types");         \
    constexpr uint32_t lanes = Internal::lanes_of<U>;                                              \
    dav::vector_binary_cast({#Name, dav::BinaryOp::op, dav::dtype_of<T>, dav::dtype_of<U>,         \
                             Internal::Dense(dst, lanes), Internal::Dense(src0),                   \
                             Internal::Dense(src1), dav::VecMask::total(count), 1});               \
  }
DAV_BINARY_CAST_API(AddReluCast, AddRelu)
DAV_BINARY_CAST_API(SubReluCast, SubRelu)
DAV_BINARY_CAST_API(MulCast, Mul)
#undef DAV_BINARY_CAST_API

}  // namespace AscendC
