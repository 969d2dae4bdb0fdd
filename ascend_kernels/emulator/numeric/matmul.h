// The multiply-accumulate of one Mmad on host panels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dav {

// Columns per panel: the width of a fractal.
constexpr size_t kPanel = 16;

// For every row r < rows: c[r * 16 + j] += sum over k of a[r * a_stride + k] * b[k * 16 + j].
// Each element accumulates in order of k; for 16-bit inputs the products are exact in float, so
// the result does not depend on the host's instruction set.
void panel_multiply(const float* a, size_t a_stride, const float* b, float* c, size_t rows,
                    size_t depth);
void panel_multiply(const int32_t* a, size_t a_stride, const int32_t* b, int32_t* c, size_t rows,
                    size_t depth);

// in[16][width], as a fractal of the right matrix lies in L0B, to out[width][16].
void transpose_fractal(const float* in, size_t width, float* out);
void transpose_fractal(const int32_t* in, size_t width, int32_t* out);

}  // namespace dav
