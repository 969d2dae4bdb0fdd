// The 16-bit floating-point types of kernel code. The device compiler has them as arithmetic types;
// here they are two-byte classes whose arithmetic happens in float and rounds on assignment.
#pragma once

#include <type_traits>

#include "dav/float_bits.h"

namespace dav {

struct HalfFormat {
  static constexpr uint16_t encode(float value) { return half_from_float(value); }
  static constexpr float decode(uint16_t bits) { return half_to_float(bits); }
};
struct Bfloat16Format {
  static constexpr uint16_t encode(float value) { return bfloat16_from_float(value); }
  static constexpr float decode(uint16_t bits) { return bfloat16_to_float(bits); }
};

template <typename Format>
struct Float16 {
  uint16_t bits;

  Float16() = default;
  template <typename Number, std::enable_if_t<std::is_arithmetic<Number>::value, int> = 0>
  constexpr Float16(Number value) : bits(Format::encode(static_cast<float>(value))) {}
  template <typename Other, std::enable_if_t<!std::is_same<Other, Format>::value, int> = 0>
  constexpr explicit Float16(Float16<Other> value) : bits(Format::encode(float(value))) {}

  constexpr operator float() const { return Format::decode(bits); }

  constexpr Float16& operator+=(float value) { return *this = Float16(float(*this) + value); }
  constexpr Float16& operator-=(float value) { return *this = Float16(float(*this) - value); }
  constexpr Float16& operator*=(float value) { return *this = Float16(float(*this) * value); }
  constexpr Float16& operator/=(float value) { return *this = Float16(float(*this) / value); }
};

using Half = Float16<HalfFormat>;
using Bfloat16 = Float16<Bfloat16Format>;

static_assert(sizeof(Half) == 2 && std::is_trivially_copyable<Half>::value, "storage type");

}  // namespace dav
