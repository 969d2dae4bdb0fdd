#include "isa/mmad_panels.h"

#include <algorithm>
#include <cstring>

#include "isa/cube_common.h"
#include "numeric/bfloat16.h"
#include "numeric/half.h"
#include "numeric/hf32.h"
#include "numeric/matmul.h"

namespace dav::cube {
namespace {

constexpr int kHf32Mantissa = 11;

void widen(const std::byte* in, DType type, Hf32 hf32, float* out, size_t count) {
  if (type == DType::F16) {
    half_to_float_row(reinterpret_cast<const uint16_t*>(in), out, count);
  } else if (type == DType::BF16) {
    bfloat16_to_float_row(reinterpret_cast<const uint16_t*>(in), out, count);
  } else {
    std::memcpy(out, in, count * sizeof(float));
    if (!hf32.enabled) return;
    for (size_t i = 0; i < count; ++i) out[i] = to_hf32(out[i], kHf32Mantissa, hf32.ties_to_even);
  }
}

void widen(const std::byte* in, DType type, int32_t* out, size_t count) {
  if (type == DType::I8) {
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<int8_t>(in[i]);
  } else if (type == DType::U8) {
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>(in[i]);
  } else {  // two int4b_t per byte, the even one in the low half
    for (size_t i = 0; i < count; ++i) {
      const int32_t pair = static_cast<uint8_t>(in[i / 2]);
      const int32_t nibble = i % 2 != 0 ? pair >> 4 : pair & 0xf;
      out[i] = nibble >= 8 ? nibble - 16 : nibble;
    }
  }
}

// Calls row(bytes, out) for every 32-byte row of the valid rows of A, so that row r of the result
// has its fractal rows side by side.
template <typename T, typename Widen>
const T* unpack_left(const MmadShape& s, const std::byte* a, const Widen& row) {
  std::vector<T>& panel = scratch<T>(0);
  panel.resize(s.m * s.depth);
  if (s.gemv) {
    for (uint32_t kb = 0; kb < s.k_tiles; ++kb) row(a + kb * kBlock, panel.data() + kb * s.c0);
    return panel.data();
  }
  for (uint32_t r = 0; r < s.m; ++r) {
    const std::byte* from = a + uint64_t{r / kSide} * s.k_stride * kFractal + r % kSide * kBlock;
    T* to = panel.data() + r * s.depth;
    for (uint32_t kb = 0; kb < s.k_tiles; ++kb) row(from + uint64_t{kb} * kFractal, to + kb * s.c0);
  }
  return panel.data();
}

template <typename T, typename Widen>
const T* unpack_right(const MmadShape& s, const std::byte* b, const Widen& fractal) {
  std::vector<T>& panels = scratch<T>(1);
  panels.resize(s.n_tiles * s.depth * kPanel);
  T wide[kSide * 64];
  for (uint32_t kb = 0; kb < s.k_tiles; ++kb) {
    for (uint32_t nb = 0; nb < s.n_tiles; ++nb) {
      fractal(b + (uint64_t{kb} * s.n_tiles + nb) * kFractal, wide);
      transpose_fractal(wide, s.c0, panels.data() + (nb * s.depth + kb * s.c0) * kPanel);
    }
  }
  return panels.data();
}

}  // namespace

MmadShape mmad_shape(const MmadDesc& d, DType c_type, DType a_type) {
  MmadShape s;
  s.m = d.m;
  s.n = d.n;
  s.k = d.k;
  s.c0 = a_type == DType::I4 ? 64 : kBlock / size_of(a_type);
  s.m_tiles = static_cast<uint32_t>(ceil_div(d.m, kSide));
  s.n_tiles = static_cast<uint32_t>(ceil_div(d.n, kSide));
  s.k_tiles = static_cast<uint32_t>(ceil_div(d.k, s.c0));
  // Four-byte elements: rows of fractals of A may be an even number of fractals apart.
  const bool align = d.kDirectionAlign && a_type == DType::F32;
  s.k_stride = align ? static_cast<uint32_t>(round_up(s.k_tiles, 2)) : s.k_tiles;
  s.b_k = s.k;
  s.b_k_tiles = s.k_tiles;
  s.gemv = d.m == 1;
  s.c_size = size_of(c_type);
  s.depth = size_t{s.k_tiles} * s.c0;
  s.a_bytes = s.gemv ? uint64_t{s.k_tiles} * kBlock
                     : (uint64_t{s.m_tiles - 1} * s.k_stride + s.k_tiles) * kFractal;
  s.b_bytes = uint64_t{s.k_tiles} * s.n_tiles * kFractal;
  s.c_bytes = uint64_t{s.m_tiles} * s.n_tiles * kSide * kSide * s.c_size;
  return s;
}

MmadShape sparse_shape(const MmadDesc& d, DType c_type, DType a_type) {
  MmadShape s = mmad_shape(d, c_type, a_type);
  s.b_k = static_cast<uint32_t>(ceil_div(d.k, 4)) * 2;
  s.b_k_tiles = static_cast<uint32_t>(ceil_div(s.b_k, s.c0));
  s.gemv = false;
  s.a_bytes = (uint64_t{s.m_tiles - 1} * s.k_stride + s.k_tiles) * kFractal;
  s.b_bytes = uint64_t{s.b_k_tiles} * s.n_tiles * kFractal;
  return s;
}

const int32_t* unpack_right_sparse(const MmadShape& s, const std::byte* b, const std::byte* index) {
  constexpr uint32_t kIndexFractal = kFractal / 4, kIndexRow = kBlock / 4;
  std::vector<int32_t>& panels = scratch<int32_t>(1);
  panels.assign(s.n_tiles * s.depth * kPanel, 0);
  for (uint32_t n = 0; n < s.n; ++n) {
    int32_t* panel = panels.data() + n / kSide * s.depth * kPanel + n % kSide;
    for (uint32_t row = 0; row < s.b_k; ++row) {
      const uint64_t fractal = uint64_t{row / s.c0} * s.n_tiles + n / kSide;
      const uint32_t in_row = row % s.c0;
      const auto weight = static_cast<int8_t>(b[fractal * kFractal + n % kSide * kBlock + in_row]);
      const auto four =
          static_cast<uint8_t>(index[fractal * kIndexFractal + n % kSide * kIndexRow + in_row / 4]);
      const uint32_t choice = four >> (in_row % 4 * 2) & 3;
      if (choice == 3) return nullptr;
      // The first of a pair is one of elements 0 to 2, the second of 1 to 3.
      const uint32_t k = row / 2 * 4 + row % 2 + choice;
      if (k < s.k) panel[size_t{k} * kPanel] += weight;
    }
  }
  return panels.data();
}

const float* unpack_left_float(const MmadShape& s, const std::byte* a, DType type, Hf32 hf32) {
  return unpack_left<float>(
      s, a, [&](const std::byte* in, float* out) { widen(in, type, hf32, out, s.c0); });
}

const float* unpack_right_float(const MmadShape& s, const std::byte* b, DType type, Hf32 hf32) {
  return unpack_right<float>(
      s, b, [&](const std::byte* in, float* out) { widen(in, type, hf32, out, kSide * s.c0); });
}

const int32_t* unpack_left_integer(const MmadShape& s, const std::byte* a, DType type) {
  return unpack_left<int32_t>(
      s, a, [&](const std::byte* in, int32_t* out) { widen(in, type, out, s.c0); });
}

const int32_t* unpack_right_integer(const MmadShape& s, const std::byte* b, DType type) {
  return unpack_right<int32_t>(
      s, b, [&](const std::byte* in, int32_t* out) { widen(in, type, out, kSide * s.c0); });
}

}  // namespace dav::cube
