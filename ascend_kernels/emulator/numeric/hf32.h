// HF32: binary32 whose mantissa the cube shortens before multiplying. 11 bits on arch 2201, 10 on
// 3510 (Ascend C reference, Mmad key features, HF32).
#pragma once

#include <cstdint>

#include "dav/float_bits.h"

namespace dav {

// Rounds to nearest; ties go to even or towards zero, as SetHF32TransMode chose.
inline float to_hf32(float value, int mantissa_bits, bool ties_to_even) {
  const uint32_t bits = float_bits(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  const int drop = 23 - mantissa_bits;
  const uint32_t half = 1u << (drop - 1);
  const uint32_t odd = (bits >> drop) & 1u;
  const uint32_t rounded = bits + half - 1u + (ties_to_even ? odd : 0u);
  return bits_float(rounded & ~((1u << drop) - 1u));
}

}  // namespace dav
