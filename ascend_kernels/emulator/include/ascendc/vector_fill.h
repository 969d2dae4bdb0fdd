// Duplicate, Brcb, CreateVecIndex, masked Copy, and ArithProgression.
#pragma once

#include "ascendc/data_copy_params.h"
#include "ascendc/vector_common.h"
#include "ascendc/vector_scalar.h"

namespace AscendC {

template <typename T, bool isSetMask = true>
__aicore__ inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask,
                                 const uint8_t repeatTime, const uint16_t dstBlockStride,
                                 const uint8_t dstRepeatStride) {
  DAV_REQUIRE_TYPE("Duplicate", T, Internal::Placed, Internal::Placed1001);
  dav::vector_duplicate(
      {"Duplicate", dav::dtype_of<T>, Internal::Strided(dst, dstBlockStride, dstRepeatStride),
       Internal::ScalarBits(scalarValue), Internal::LaneMask<isSetMask>(mask), repeatTime});
}
template <typename T, bool isSetMask = true>
__aicore__ inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask[],
                                 const uint8_t repeatTime, const uint16_t dstBlockStride,
                                 const uint8_t dstRepeatStride) {
  DAV_REQUIRE_TYPE("Duplicate", T, Internal::Placed, Internal::Placed1001);
  dav::vector_duplicate(
      {"Duplicate", dav::dtype_of<T>, Internal::Strided(dst, dstBlockStride, dstRepeatStride),
       Internal::ScalarBits(scalarValue), Internal::BitMask<T, isSetMask>(mask), repeatTime});
}
template <typename T>
__aicore__ inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue,
                                 const int32_t& count) {
  DAV_REQUIRE_TYPE("Duplicate", T, Internal::Placed, Internal::Placed1001);
  dav::vector_duplicate({"Duplicate", dav::dtype_of<T>, Internal::Dense(dst),
                         Internal::ScalarBits(scalarValue), dav::VecMask::total(count), 1});
}

// Spreads each of 8 elements per repeat over a 32-byte block.
template <typename T>
__aicore__ inline void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                            const uint8_t repeatTime, const BrcbRepeatParams& repeatParams) {
  DAV_REQUIRE_TYPE("Brcb", T, Internal::Placed, Internal::NoTypes);
  dav::vector_brcb(dav::dtype_of<T>, dst.Operand(), repeatParams.dstBlkStride,
                   repeatParams.dstRepStride, src.Operand(), repeatTime);
}

// first, first + 1, first + 2, ...
template <typename T>
__aicore__ inline void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, uint64_t mask,
                                      uint8_t repeatTime, uint16_t dstBlkStride,
                                      uint8_t dstRepStride) {
  DAV_REQUIRE_TYPE("CreateVecIndex", T, Internal::Arithmetic, Internal::NoTypes);
  dav::vector_index({"CreateVecIndex", dav::dtype_of<T>,
                     Internal::Strided(dst, dstBlkStride, dstRepStride),
                     Internal::ScalarBits(firstValue), dav::VecMask::lanes(mask), repeatTime});
}
template <typename T>
__aicore__ inline void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, uint64_t mask[],
                                      uint8_t repeatTime, uint16_t dstBlkStride,
                                      uint8_t dstRepStride) {
  DAV_REQUIRE_TYPE("CreateVecIndex", T, Internal::Arithmetic, Internal::NoTypes);
  dav::vector_index(
      {"CreateVecIndex", dav::dtype_of<T>, Internal::Strided(dst, dstBlkStride, dstRepStride),
       Internal::ScalarBits(firstValue), Internal::BitMask<T, true>(mask), repeatTime});
}
template <typename T>
__aicore__ inline void CreateVecIndex(LocalTensor<T> dst, const T& firstValue, uint32_t count) {
  DAV_REQUIRE_TYPE("CreateVecIndex", T, Internal::Arithmetic, Internal::NoTypes);
  dav::vector_index({"CreateVecIndex", dav::dtype_of<T>, Internal::Dense(dst),
                     Internal::ScalarBits(firstValue), dav::VecMask::total(count), 1});
}

// UB to UB; in counter mode the mask counts elements per repeat.
template <typename T, bool isSetMask = true>
__aicore__ inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                            const uint64_t mask[], const uint8_t repeatTime,
                            const CopyRepeatParams& repeatParams) {
  DAV_REQUIRE_TYPE("Copy", T, Internal::Placed, Internal::NoTypes);
  dav::vector_copy({"Copy", dav::dtype_of<T>,
                    Internal::Strided(dst, repeatParams.dstStride, repeatParams.dstRepeatSize),
                    Internal::Strided(src, repeatParams.srcStride, repeatParams.srcRepeatSize),
                    Internal::BitMask<T, isSetMask>(mask), repeatTime});
}
template <typename T, bool isSetMask = true>
__aicore__ inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                            const uint64_t mask, const uint8_t repeatTime,
                            const CopyRepeatParams& repeatParams) {
  DAV_REQUIRE_TYPE("Copy", T, Internal::Placed, Internal::NoTypes);
  dav::vector_copy({"Copy", dav::dtype_of<T>,
                    Internal::Strided(dst, repeatParams.dstStride, repeatParams.dstRepeatSize),
                    Internal::Strided(src, repeatParams.srcStride, repeatParams.srcRepeatSize),
                    Internal::LaneMask<isSetMask>(mask), repeatTime});
}

// first, first + diff, ...: one block by the scalar unit, then doubling by the vector unit, which
// waits for it.
template <typename T>
__aicore__ inline void ArithProgression(const LocalTensor<T>& dst, const T firstValue,
                                        const T diffValue, const int32_t count) {
  static_assert(Internal::Arithmetic::Has<PrimT<T>>(), "ArithProgression: element type");
  constexpr int32_t block = ONE_BLK_SIZE / static_cast<int32_t>(sizeof(T));
  const int32_t head = count < block ? count : block;
  for (int32_t i = 0; i < head; ++i)
    dst.SetValue(static_cast<uint32_t>(i),
                 static_cast<T>(static_cast<float>(firstValue) +
                                static_cast<float>(diffValue) * static_cast<float>(i)));
  const int32_t id = dav::fetch_event_id(dav::Pipe::S, dav::Pipe::V);
  dav::set_flag(dav::Pipe::S, dav::Pipe::V, id);
  dav::wait_flag(dav::Pipe::S, dav::Pipe::V, id);
  for (int32_t done = head; done < count; done *= 2) {
    const int32_t n = count - done < done ? count - done : done;
    const T step = static_cast<T>(static_cast<float>(diffValue) * static_cast<float>(done));
    Adds(dst[static_cast<uint32_t>(done)], dst, step, n);
    dav::pipe_barrier(dav::Pipe::V);
  }
}

}  // namespace AscendC
