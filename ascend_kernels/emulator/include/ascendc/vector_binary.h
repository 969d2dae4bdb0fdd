// Two-tensor arithmetic and logic, and the fused forms.
#pragma once

#include "ascendc/vector_common.h"

namespace AscendC {
namespace Internal {

template <typename T, typename U>
void Binary(const char* name, dav::BinaryOp op, const LocalTensor<T>& dst,
            const LocalTensor<U>& src0, const LocalTensor<U>& src1, dav::VecMask mask,
            uint8_t repeatTime, const BinaryRepeatParams& p) {
  dav::vector_binary({name, op, dav::dtype_of<T>, dav::dtype_of<U>,
                      Strided(dst, p.dstBlkStride, p.dstRepStride),
                      Strided(src0, p.src0BlkStride, p.src0RepStride),
                      Strided(src1, p.src1BlkStride, p.src1RepStride), mask, repeatTime});
}
template <typename T, typename U>
void Binary(const char* name, dav::BinaryOp op, const LocalTensor<T>& dst,
            const LocalTensor<U>& src0, const LocalTensor<U>& src1, int64_t count) {
  constexpr uint32_t lanes = lanes_of_pair<T, U>;
  dav::vector_binary({name, op, dav::dtype_of<T>, dav::dtype_of<U>, Dense(dst, lanes),
                      Dense(src0, lanes), Dense(src1, lanes), dav::VecMask::total(count), 1});
}

using ReluSumTypes = Types<int16_t, half, float>;

}  // namespace Internal

#define DAV_BINARY_API(Name, op, on2201, on1001)                                                   \
  template <typename T, bool isSetMask = true>                                                     \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,               \
                              const LocalTensor<T>& src1, uint64_t mask[],                         \
                              const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {  \
    DAV_REQUIRE_TYPE(#Name, T, on2201, on1001);                                                    \
    Internal::Binary(#Name, dav::BinaryOp::op, dst, src0, src1,                                    \
                     Internal::BitMask<T, isSetMask>(mask), repeatTime, repeatParams);             \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,               \
                              const LocalTensor<T>& src1, uint64_t mask, const uint8_t repeatTime, \
                              const BinaryRepeatParams& repeatParams) {                            \
    DAV_REQUIRE_TYPE(#Name, T, on2201, on1001);                                                    \
    Internal::Binary(#Name, dav::BinaryOp::op, dst, src0, src1,                                    \
                     Internal::LaneMask<isSetMask>(mask), repeatTime, repeatParams);               \
  }                                                                                                \
  template <typename T>                                                                            \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,               \
                              const LocalTensor<T>& src1, const int32_t& count) {                  \
    DAV_REQUIRE_TYPE(#Name, T, on2201, on1001);                                                    \
    Internal::Binary(#Name, dav::BinaryOp::op, dst, src0, src1, count);                            \
  }

DAV_BINARY_API(Add, Add, Internal::Arithmetic, Internal::Arithmetic1001)
DAV_BINARY_API(Sub, Sub, Internal::Arithmetic, Internal::Arithmetic1001)
DAV_BINARY_API(Mul, Mul, Internal::Arithmetic, Internal::Arithmetic1001)
DAV_BINARY_API(Max, Max, Internal::Arithmetic, Internal::Arithmetic1001)
DAV_BINARY_API(Min, Min, Internal::Arithmetic, Internal::Arithmetic1001)
DAV_BINARY_API(Div, Div, Internal::Floats, Internal::Floats)
DAV_BINARY_API(And, And, Internal::Shorts, Internal::Shorts)
DAV_BINARY_API(Or, Or, Internal::Shorts, Internal::Shorts)
#if __NPU_ARCH__ == 2201
// Taken as 16-bit elements, so that `count` is twice that of the 32-bit ones.
#define DAV_WORD_API(Name, T)                                                               \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,        \
                              const LocalTensor<T>& src1, const int32_t& count) {           \
    Name(dst.template ReinterpretCast<int16_t>(), src0.template ReinterpretCast<int16_t>(), \
         src1.template ReinterpretCast<int16_t>(), count);                                  \
  }
DAV_WORD_API(And, int32_t)
DAV_WORD_API(And, uint32_t)
DAV_WORD_API(Or, int32_t)
DAV_WORD_API(Or, uint32_t)
#undef DAV_WORD_API
#endif
DAV_BINARY_API(AddRelu, AddRelu, Internal::ReluSumTypes, Internal::NoTypes)
DAV_BINARY_API(SubRelu, SubRelu, Internal::ReluSumTypes, Internal::NoTypes)
DAV_BINARY_API(FusedMulAdd, FusedMulAdd, Internal::Floats, Internal::NoTypes)
DAV_BINARY_API(FusedMulAddRelu, FusedMulAddRelu, Internal::Floats, Internal::NoTypes)
DAV_BINARY_API(MulAddRelu, FusedMulAddRelu, Internal::Floats, Internal::NoTypes)
#undef DAV_BINARY_API

// dst += src0 * src1; a float dst may accumulate products of halves.
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                                 const LocalTensor<U>& src1, const uint64_t mask[],
                                 const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {
  DAV_REQUIRE_TYPE("MulAddDst", T, Internal::Floats, Internal::NoTypes);
  constexpr bool wide = Internal::lanes_of<T> < Internal::lanes_of<U>;
  using Widest = std::conditional_t<wide, T, U>;
  Internal::Binary("MulAddDst", dav::BinaryOp::MulAddDst, dst, src0, src1,
                   Internal::BitMask<Widest, isSetMask>(mask), repeatTime, repeatParams);
}
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                                 const LocalTensor<U>& src1, uint64_t mask,
                                 const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {
  DAV_REQUIRE_TYPE("MulAddDst", T, Internal::Floats, Internal::NoTypes);
  Internal::Binary("MulAddDst", dav::BinaryOp::MulAddDst, dst, src0, src1,
                   Internal::LaneMask<isSetMask>(mask), repeatTime, repeatParams);
}
template <typename T, typename U>
__aicore__ inline void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                                 const LocalTensor<U>& src1, const int32_t& count) {
  DAV_REQUIRE_TYPE("MulAddDst", T, Internal::Floats, Internal::NoTypes);
  Internal::Binary("MulAddDst", dav::BinaryOp::MulAddDst, dst, src0, src1, count);
}

#if __NPU_ARCH__ == 2201
// dst = relu((src0 + src1) * scale), the scale set by SetDeqScale.
template <bool isSetMask = true>
__aicore__ inline void AddDeqRelu(const LocalTensor<half>& dst, const LocalTensor<int32_t>& src0,
                                  const LocalTensor<int32_t>& src1, uint64_t mask[],
                                  const uint8_t repeatTime,
                                  const BinaryRepeatParams& repeatParams) {
  Internal::Binary("AddDeqRelu", dav::BinaryOp::AddDeqRelu, dst, src0, src1,
                   Internal::BitMask<int32_t, isSetMask>(mask), repeatTime, repeatParams);
}
template <bool isSetMask = true>
__aicore__ inline void AddDeqRelu(const LocalTensor<half>& dst, const LocalTensor<int32_t>& src0,
                                  const LocalTensor<int32_t>& src1, uint64_t mask,
                                  const uint8_t repeatTime,
                                  const BinaryRepeatParams& repeatParams) {
  Internal::Binary("AddDeqRelu", dav::BinaryOp::AddDeqRelu, dst, src0, src1,
                   Internal::LaneMask<isSetMask>(mask), repeatTime, repeatParams);
}
__aicore__ inline void AddDeqRelu(const LocalTensor<half>& dst, const LocalTensor<int32_t>& src0,
                                  const LocalTensor<int32_t>& src1, const int32_t& count) {
  Internal::Binary("AddDeqRelu", dav::BinaryOp::AddDeqRelu, dst, src0, src1, count);
}
// The same with the types written out.
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void AddDeqRelu(const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                                  const LocalTensor<U>& src1, uint64_t mask[],
                                  const uint8_t repeatTime,
                                  const BinaryRepeatParams& repeatParams) {
  AddDeqRelu<isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams);
}
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void AddDeqRelu(const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                                  const LocalTensor<U>& src1, uint64_t mask,
                                  const uint8_t repeatTime,
                                  const BinaryRepeatParams& repeatParams) {
  AddDeqRelu<isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams);
}
template <typename T, typename U>
__aicore__ inline void AddDeqRelu(const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                                  const LocalTensor<U>& src1, const int32_t& count) {
  static_assert(std::is_same<T, half>::value && std::is_same<U, int32_t>::value,
                "AddDeqRelu: half from int32_t");
  AddDeqRelu(dst, src0, src1, count);
}
#endif

}  // namespace AscendC
