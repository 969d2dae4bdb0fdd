// Scalar conversions with every rounding mode of the CAST instruction. Out-of-range integers
// saturate and NaN becomes 0; floats overflow as IEEE 754 prescribes for the mode.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "dav/abi_vector.h"
#include "dav/float_bits.h"

namespace dav {

// Round to an integral value. Round is half away from zero, Odd the nearest odd unless exact.
inline double round_integral(double x, Rounding mode) {
  switch (mode) {
    case Rounding::Floor:
      return std::floor(x);
    case Rounding::Ceil:
      return std::ceil(x);
    case Rounding::Round:
      return std::round(x);
    case Rounding::Trunc:
      return std::trunc(x);
    case Rounding::Odd: {
      const double down = std::floor(x);
      if (down == x) return x;
      return std::fmod(down, 2.0) != 0.0 ? down : down + 1.0;
    }
    default:
      return std::nearbyint(x);  // the emulator never leaves round-to-nearest-even
  }
}

// Saturating conversion of an already integral double.
template <typename Int>
Int saturate_integral(double x) {
  if (x != x) return 0;
  constexpr double low = static_cast<double>(std::numeric_limits<Int>::min());
  constexpr double high = static_cast<double>(std::numeric_limits<Int>::max());
  if (x <= low) return std::numeric_limits<Int>::min();
  if (x >= high) return std::numeric_limits<Int>::max();
  return static_cast<Int>(x);
}

namespace rounding_detail {

// Whether the magnitude `kept` steps up by one unit, given what was cut off relative to half a
// unit.
enum class Rest : uint8_t { Zero, BelowHalf, Half, AboveHalf };

inline bool steps_up(Rounding mode, bool negative, bool kept_odd, Rest rest) {
  if (rest == Rest::Zero) return false;
  switch (mode) {
    case Rounding::Floor:
      return negative;
    case Rounding::Ceil:
      return !negative;
    case Rounding::Trunc:
      return false;
    case Rounding::Odd:
      return !kept_odd;
    case Rounding::Round:
      return rest >= Rest::Half;
    default:
      return rest == Rest::AboveHalf || (rest == Rest::Half && kept_odd);
  }
}

inline Rest classify(uint64_t cut, uint64_t half) {
  if (cut == 0) return Rest::Zero;
  return cut < half ? Rest::BelowHalf : cut == half ? Rest::Half : Rest::AboveHalf;
}

}  // namespace rounding_detail

// binary32 -> binary16 in any mode.
inline uint16_t half_from_float(float value, Rounding mode) {
  if (mode == Rounding::None || mode == Rounding::Rint) return half_from_float(value);
  const uint32_t bits = float_bits(value);
  const bool negative = bits >> 31;
  const uint16_t sign = negative ? 0x8000u : 0u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude == 0x7f800000u) return static_cast<uint16_t>(sign | 0x7c00u);
  uint32_t kept = 0;
  rounding_detail::Rest rest;
  if (magnitude >= 0x47800000u) {  // 65536 and more: everything above the largest half is cut off
    kept = 0x7bffu;
    rest = rounding_detail::Rest::AboveHalf;
  } else if (magnitude >= 0x38800000u) {
    kept = (magnitude - 0x38000000u) >> 13;
    rest = rounding_detail::classify(magnitude & 0x1fffu, 0x1000u);
  } else if (magnitude == 0) {
    return sign;
  } else {
    const uint32_t exponent = magnitude >> 23;
    const uint32_t shift = 126u - exponent;  // at least 14
    const uint64_t mantissa = (magnitude & 0x7fffffu) | (exponent ? 0x800000u : 0u);
    if (shift > 40) {
      rest = rounding_detail::Rest::BelowHalf;
    } else {
      kept = static_cast<uint32_t>(mantissa >> shift);
      rest = rounding_detail::classify(mantissa & ((1ull << shift) - 1), 1ull << (shift - 1));
    }
  }
  if (rounding_detail::steps_up(mode, negative, kept & 1u, rest)) ++kept;
  return static_cast<uint16_t>(sign | kept);
}

// binary32 -> bfloat16 in any mode.
inline uint16_t bfloat16_from_float(float value, Rounding mode) {
  if (mode == Rounding::None || mode == Rounding::Rint) return bfloat16_from_float(value);
  const uint32_t bits = float_bits(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  uint32_t kept = bits >> 16;
  const auto rest = rounding_detail::classify(bits & 0xffffu, 0x8000u);
  if (rounding_detail::steps_up(mode, bits >> 31, kept & 1u, rest)) ++kept;
  return static_cast<uint16_t>(kept);
}

// Integer -> binary32 in any mode; nearest even is what the compiler's conversion does.
inline float float_from_integer(int64_t value, Rounding mode) {
  const bool negative = value < 0;
  const uint64_t magnitude =
      negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  if (magnitude < (1u << 24)) return static_cast<float>(value);
  const int shift = 64 - __builtin_clzll(magnitude) - 24;
  uint64_t kept = shift > 0 ? magnitude >> shift : magnitude;
  if (shift > 0) {
    const auto rest =
        rounding_detail::classify(magnitude & ((1ull << shift) - 1), 1ull << (shift - 1));
    if (rounding_detail::steps_up(mode, negative, kept & 1u, rest)) ++kept;
  }
  const float result = std::ldexp(static_cast<float>(kept), shift > 0 ? shift : 0);
  return negative ? -result : result;
}

}  // namespace dav
