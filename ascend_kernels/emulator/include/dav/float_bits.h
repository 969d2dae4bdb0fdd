// Bit-exact conversions between binary32 and the 16-bit formats, usable in constant expressions.
// Rounding is to nearest even, NaNs stay NaNs (quieted), overflow goes to infinity.
#pragma once

#include <cstdint>

namespace dav {

constexpr uint32_t float_bits(float value) { return __builtin_bit_cast(uint32_t, value); }
constexpr float bits_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }

// binary32 -> IEEE binary16.
constexpr uint16_t half_from_float(float value) {
  const uint32_t bits = float_bits(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds past 65504
  if (magnitude < 0x33000001u) return sign;  // at most half of the smallest subnormal
  if (magnitude < 0x38800000u) {             // subnormal result
    const uint32_t shift = 126u - (magnitude >> 23);
    const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const uint32_t result = mantissa >> shift;
    const uint32_t rest = mantissa & ((1u << shift) - 1u);
    const uint32_t tie = 1u << (shift - 1u);
    const uint32_t up = (rest > tie || (rest == tie && (result & 1u))) ? 1u : 0u;
    return static_cast<uint16_t>(sign | (result + up));
  }
  const uint32_t rebased = magnitude - 0x38000000u;
  const uint32_t rounded = rebased + 0xfffu + ((rebased >> 13) & 1u);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

// IEEE binary16 -> binary32, exact.
constexpr float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1fu;
  uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1fu) {
    const uint32_t quiet = mantissa != 0 ? 0x400000u : 0u;
    return bits_float(sign | 0x7f800000u | quiet | (mantissa << 13));
  }
  if (exponent == 0) {
    if (mantissa == 0) return bits_float(sign);
    exponent = 113;
    while ((mantissa & 0x400u) == 0) {
      mantissa <<= 1;
      --exponent;
    }
    return bits_float(sign | (exponent << 23) | ((mantissa & 0x3ffu) << 13));
  }
  return bits_float(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

// binary32 -> bfloat16.
constexpr uint16_t bfloat16_from_float(float value) {
  const uint32_t bits = float_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

constexpr float bfloat16_to_float(uint16_t value) {
  return bits_float(static_cast<uint32_t>(value) << 16);
}

}  // namespace dav
