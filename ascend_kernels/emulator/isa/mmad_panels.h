// The operands of one Mmad: their extents in L0, what of them is read, and their unpacking into the
// row-major left panel and the 16-column right panels that numeric/matmul.h multiplies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/instruction.h"
#include "dav/abi_cube.h"
#include "dav/types.h"

namespace dav::cube {

struct MmadShape {
  uint32_t m = 0, n = 0, k = 0;
  uint32_t c0 = 0;  // k elements in 32 bytes
  uint32_t m_tiles = 0, n_tiles = 0;
  uint32_t k_tiles = 0;             // fractals along k that hold valid lanes
  uint32_t k_stride = 0;            // fractals along k of one row of fractals of A
  uint32_t b_k = 0, b_k_tiles = 0;  // as k and k_tiles, of B: half as many where B is sparse
  bool gemv = false;                // m = 1: A is one plain row
  uint32_t c_size = 0;              // bytes of an element of C
  size_t depth = 0;                 // k, padded to whole fractals
  uint64_t a_bytes = 0, b_bytes = 0, c_bytes = 0;
};

MmadShape mmad_shape(const MmadDesc& desc, DType c_type, DType a_type);
MmadShape sparse_shape(const MmadDesc& desc, DType c_type, DType a_type);

struct Hf32 {
  bool enabled = false;
  bool ties_to_even = false;
};
// Left: m rows of `depth`. Right: n_tiles panels of depth x 16. They stay valid until the next call
// on this thread; lanes beyond k hold anything, lanes beyond n hold anything.
const float* unpack_left_float(const MmadShape& shape, const std::byte* a, DType type, Hf32 hf32);
const float* unpack_right_float(const MmadShape& shape, const std::byte* b, DType type, Hf32 hf32);
const int32_t* unpack_left_integer(const MmadShape& shape, const std::byte* a, DType type);
const int32_t* unpack_right_integer(const MmadShape& shape, const std::byte* b, DType type);
// The whole right matrix of a sparse product, with zeros where B has no row. Null when the index
// chooses what does not exist.
const int32_t* unpack_right_sparse(const MmadShape& shape, const std::byte* b,
                                   const std::byte* index);

// Buffers that live as long as the thread, so that an Mmad allocates nothing.
template <typename T>
std::vector<T>& scratch(int which) {
  static thread_local std::vector<T> buffers[3];
  return buffers[which];
}

}  // namespace dav::cube
