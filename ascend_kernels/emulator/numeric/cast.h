// Array conversions between element types: the arithmetic of the CAST instruction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dav/abi_vector.h"
#include "dav/types.h"

namespace dav {

// What becomes of integers beyond the range of the destination.
enum class IntOverflow : uint8_t { Saturate, Truncate };

// NaN becomes the integer 0. `deq_scale` holds a half; only int32 to half uses it, and
// that conversion ignores the rounding mode. int4 elements are packed two per byte, low half first.
void cast_elements(DType dst_type, std::byte* dst, DType src_type, const std::byte* src, size_t n,
                   Rounding mode, uint16_t deq_scale, IntOverflow overflow = IntOverflow::Saturate);

}  // namespace dav
