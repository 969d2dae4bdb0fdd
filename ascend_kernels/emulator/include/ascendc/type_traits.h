// Element types: which DType a kernel's C++ type is, and int4b_t.
#pragma once

#include <type_traits>

#include "ascendc/base.h"

namespace AscendC {

// Four-bit integers have no C++ object of their own; the class holds one and tensors pack two per
// byte.
struct int4b_t {
  uint8_t storage;
  int4b_t() = default;
  constexpr int4b_t(int32_t value) : storage(static_cast<uint8_t>(value & 0xf)) {}
  constexpr operator int8_t() const {
    return static_cast<int8_t>(storage & 0x8 ? storage | 0xf0 : storage);
  }
};

// The primitive type of a tensor's element parameter. TensorTrait specialises it.
template <typename T>
struct PrimTypeOf {
  using Type = T;
};
template <typename T>
using PrimT = typename PrimTypeOf<T>::Type;

// How many bits an element takes in a buffer; int4b_t is smaller than its C++ object.
template <typename T>
struct SizeOfBits {
  static constexpr size_t value = sizeof(T) * 8;
};
template <>
struct SizeOfBits<int4b_t> {
  static constexpr size_t value = 4;
};

template <typename T, typename U>
struct IsSameType {
  static constexpr bool value = std::is_same<T, U>::value;
};
template <typename T, typename... Others>
constexpr bool SupportType() {
  return (std::is_same<T, Others>::value || ...);
}

}  // namespace AscendC

using AscendC::int4b_t;

namespace dav {

template <typename T>
struct DTypeOf;
#define DAV_DTYPE_OF(type, name)                \
  template <>                                   \
  struct DTypeOf<type> {                        \
    static constexpr DType value = DType::name; \
  }
DAV_DTYPE_OF(half, F16);
DAV_DTYPE_OF(Bfloat16, BF16);
DAV_DTYPE_OF(float, F32);
DAV_DTYPE_OF(double, F64);
DAV_DTYPE_OF(int4b_t, I4);
DAV_DTYPE_OF(int8_t, I8);
DAV_DTYPE_OF(uint8_t, U8);
DAV_DTYPE_OF(int16_t, I16);
DAV_DTYPE_OF(uint16_t, U16);
DAV_DTYPE_OF(int32_t, I32);
DAV_DTYPE_OF(uint32_t, U32);
DAV_DTYPE_OF(int64_t, I64);
DAV_DTYPE_OF(uint64_t, U64);
DAV_DTYPE_OF(bool, Bool);
#undef DAV_DTYPE_OF

template <typename T>
constexpr DType dtype_of = DTypeOf<AscendC::PrimT<T>>::value;

// For static_assert in templates, hence the parameter: what a family of chips has.
template <typename>
constexpr bool since_2201 = __NPU_ARCH__ != 1001;
template <typename>
constexpr bool only_2201 = __NPU_ARCH__ == 2201;
// What no chip has here.
template <typename>
constexpr bool never = false;
// Arch 3510 lays L0A out differently and has its own parameters; the emulator's cube ends before
// it.
template <typename>
constexpr bool before_3510 = __NPU_ARCH__ != 3510;

}  // namespace dav
