// Rows of bfloat16, bit-identical to the scalar conversions of dav/float_bits.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dav/float_bits.h"

namespace dav {

inline void bfloat16_to_float_row(const uint16_t* in, float* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = bfloat16_to_float(in[i]);
}
// Round to nearest even.
inline void float_to_bfloat16_row(const float* in, uint16_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = bfloat16_from_float(in[i]);
}

}  // namespace dav
