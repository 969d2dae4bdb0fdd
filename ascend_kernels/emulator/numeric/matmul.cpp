#include "numeric/matmul.h"

#include <cstring>

#include "numeric/simd.h"

namespace dav {
namespace {

// Sixteen lanes, whatever registers the target makes of them.
typedef float VectorF __attribute__((vector_size(64)));
typedef int32_t VectorI __attribute__((vector_size(64)));

template <typename T>
struct Lanes;
template <>
struct Lanes<float> {
  using Vector = VectorF;
};
template <>
struct Lanes<int32_t> {
  using Vector = VectorI;
};

// Rows accumulators stay in registers over the whole depth.
template <int Rows, typename T>
DAV_INLINE void tile(const T* a, size_t a_stride, const T* b, T* c, size_t depth) {
  using Vector = typename Lanes<T>::Vector;
  Vector sum[Rows];
  for (int r = 0; r < Rows; ++r) std::memcpy(&sum[r], c + r * kPanel, sizeof(Vector));
  for (size_t k = 0; k < depth; ++k) {
    Vector row;
    std::memcpy(&row, b + k * kPanel, sizeof(Vector));
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) sum[r] += row * a[r * a_stride + k];
  }
  for (int r = 0; r < Rows; ++r) std::memcpy(c + r * kPanel, &sum[r], sizeof(Vector));
}

template <int Rows, typename T>
DAV_INLINE void panel(const T* a, size_t a_stride, const T* b, T* c, size_t rows, size_t depth) {
  size_t r = 0;
  for (; r + Rows <= rows; r += Rows)
    tile<Rows>(a + r * a_stride, a_stride, b, c + r * kPanel, depth);
  for (; r < rows; ++r) tile<1>(a + r * a_stride, a_stride, b, c + r * kPanel, depth);
}

template <typename T>
void panel_portable(const T* a, size_t s, const T* b, T* c, size_t rows, size_t depth) {
  panel<2>(a, s, b, c, rows, depth);
}
#if DAV_SIMD_X86
// Eight independent chains hide the latency of two fused multiply-adds per cycle: eight rows of one
// 512-bit register, four of two 256-bit registers.
template <typename T>
DAV_TARGET_V3 void panel_v3(const T* a, size_t s, const T* b, T* c, size_t rows, size_t depth) {
  panel<4>(a, s, b, c, rows, depth);
}
template <typename T>
DAV_TARGET_V4 void panel_v4(const T* a, size_t s, const T* b, T* c, size_t rows, size_t depth) {
  panel<8>(a, s, b, c, rows, depth);
}
#endif

template <typename T>
void dispatch(const T* a, size_t s, const T* b, T* c, size_t rows, size_t depth) {
#if DAV_SIMD_X86
  if (simd_level() == SimdLevel::V4) return panel_v4(a, s, b, c, rows, depth);
  if (simd_level() == SimdLevel::V3) return panel_v3(a, s, b, c, rows, depth);
#endif
  panel_portable(a, s, b, c, rows, depth);
}

template <typename T>
void transpose(const T* in, size_t width, T* out) {
  for (size_t k = 0; k < width; ++k)
    for (size_t n = 0; n < kPanel; ++n) out[k * kPanel + n] = in[n * width + k];
}

}  // namespace

void panel_multiply(const float* a, size_t a_stride, const float* b, float* c, size_t rows,
                    size_t depth) {
  dispatch(a, a_stride, b, c, rows, depth);
}

void panel_multiply(const int32_t* a, size_t a_stride, const int32_t* b, int32_t* c, size_t rows,
                    size_t depth) {
  dispatch(a, a_stride, b, c, rows, depth);
}

void transpose_fractal(const float* in, size_t width, float* out) { transpose(in, width, out); }
void transpose_fractal(const int32_t* in, size_t width, int32_t* out) { transpose(in, width, out); }

}  // namespace dav
