// Cast between element types.
#pragma once

#include "ascendc/vector_common.h"

namespace AscendC {
namespace Internal {

template <typename Dst, typename Src>
struct Pair {};
template <typename... Pairs>
struct PairList {
  template <typename Dst, typename Src>
  static constexpr bool Has() {
    return (std::is_same<Pair<Dst, Src>, Pairs>::value || ...);
  }
};
using CastOn2201 =
    PairList<Pair<half, int4b_t>, Pair<half, int8_t>, Pair<half, uint8_t>, Pair<half, int16_t>,
             Pair<float, int16_t>, Pair<int4b_t, half>, Pair<int8_t, half>, Pair<uint8_t, half>,
             Pair<int16_t, half>, Pair<int32_t, half>, Pair<float, half>,
             Pair<int32_t, dav::Bfloat16>, Pair<float, dav::Bfloat16>, Pair<int16_t, int32_t>,
             Pair<half, int32_t>, Pair<float, int32_t>, Pair<int64_t, int32_t>,
             Pair<int16_t, float>, Pair<half, float>, Pair<dav::Bfloat16, float>,
             Pair<int32_t, float>, Pair<float, float>, Pair<int64_t, float>, Pair<int32_t, int64_t>,
             Pair<float, int64_t>>;
using CastOn1001 =
    PairList<Pair<half, int8_t>, Pair<half, uint8_t>, Pair<half, int16_t>, Pair<int8_t, half>,
             Pair<uint8_t, half>, Pair<int32_t, half>, Pair<float, half>, Pair<float, int32_t>,
             Pair<half, float>, Pair<int64_t, float>>;

template <typename T, typename U>
constexpr bool Casts() {
  return __NPU_ARCH__ == 2201   ? CastOn2201::template Has<PrimT<T>, PrimT<U>>()
         : __NPU_ARCH__ == 1001 ? CastOn1001::template Has<PrimT<T>, PrimT<U>>()
                                : false;
}

template <typename T, typename U>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, RoundMode mode, dav::VecMask mask,
          uint8_t repeatTime, const UnaryRepeatParams& p) {
  static_assert(Casts<T, U>(), "Cast: no such conversion on this architecture");
  dav::vector_cast({"Cast", dav::dtype_of<T>, dav::dtype_of<U>, static_cast<dav::Rounding>(mode),
                    Strided(dst, p.dstBlkStride, p.dstRepStride),
                    Strided(src, p.srcBlkStride, p.srcRepStride), mask, repeatTime});
}

}  // namespace Internal

// The mask counts elements of the wider of both types.
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                            const RoundMode& roundMode, const uint64_t mask[],
                            const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {
  using Widest = std::conditional_t<(Internal::lanes_of<T> < Internal::lanes_of<U>), T, U>;
  Internal::Cast(dst, src, roundMode, Internal::BitMask<Widest, isSetMask>(mask), repeatTime,
                 repeatParams);
}
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                            const RoundMode& roundMode, const uint64_t mask,
                            const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {
  Internal::Cast(dst, src, roundMode, Internal::LaneMask<isSetMask>(mask), repeatTime,
                 repeatParams);
}
template <typename T, typename U>
__aicore__ inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                            const RoundMode& roundMode, const uint32_t count) {
  static_assert(Internal::Casts<T, U>(), "Cast: no such conversion on this architecture");
  constexpr uint32_t lanes = Internal::lanes_of_pair<T, U>;
  dav::vector_cast({"Cast", dav::dtype_of<T>, dav::dtype_of<U>,
                    static_cast<dav::Rounding>(roundMode), Internal::Dense(dst, lanes),
                    Internal::Dense(src, lanes), dav::VecMask::total(count), 1});
}

// The factor of int32 to half conversions.
#if __NPU_ARCH__ != 1001
__aicore__ inline void SetDeqScale(half scale) {
  dav::vector_set_deq_scale(Internal::ScalarBits(scale));
}
#endif

}  // namespace AscendC
