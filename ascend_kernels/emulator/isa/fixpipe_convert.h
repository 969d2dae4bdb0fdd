// Fixpipe's conversions of rows of L0C elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/instruction.h"
#include "dav/abi_cube.h"

namespace dav::cube {

// Traps unless arch 2201 converts this way; `to_l1` has fewer ways than the path to GM.
void require_conversion(const Instruction& in, Quant quant, DType dst, DType src, bool to_l1);
bool takes_vector(Quant quant);
bool takes_scalar(Quant quant);

// `factors` holds one quantisation word per element for the V modes, otherwise one for all.
void convert_row(Quant quant, bool relu, DType dst_type, DType src_type, const uint64_t* factors,
                 const std::byte* in, std::byte* out, size_t count);

}  // namespace dav::cube
