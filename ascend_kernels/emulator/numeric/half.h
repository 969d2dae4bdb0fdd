// Rows of binary16. Bit-identical to the scalar conversions of dav/float_bits.h, faster where the
// host has instructions for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dav {

void half_to_float_row(const uint16_t* in, float* out, size_t count);
// Round to nearest even.
void float_to_half_row(const float* in, uint16_t* out, size_t count);

}  // namespace dav
