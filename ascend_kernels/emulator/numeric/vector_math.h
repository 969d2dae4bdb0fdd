// Whole-array arithmetic for the vector unit: contiguous operands, any length, destination may be
// the very same array as a source. Check and fast mode share these loops, so both produce the same
// bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dav::vmath {

void f32_from_f16(float* d, const uint16_t* s, size_t n);
void f16_from_f32(uint16_t* d, const float* s, size_t n);  // to nearest even
void f32_from_bf16(float* d, const uint16_t* s, size_t n);
void bf16_from_f32(uint16_t* d, const float* s, size_t n);  // to nearest even

void exp_f32(float* d, const float* s, size_t n);  // within 1 ulp
void ln_f32(float* d, const float* s, size_t n);   // within 1 ulp
void abs_f32(float* d, const float* s, size_t n);
void reciprocal_f32(float* d, const float* s, size_t n);
void sqrt_f32(float* d, const float* s, size_t n);
void rsqrt_f32(float* d, const float* s, size_t n);
void relu_f32(float* d, const float* s, size_t n);

void add_f32(float* d, const float* a, const float* b, size_t n);
void sub_f32(float* d, const float* a, const float* b, size_t n);
void mul_f32(float* d, const float* a, const float* b, size_t n);
void div_f32(float* d, const float* a, const float* b, size_t n);
void max_f32(float* d, const float* a, const float* b, size_t n);  // NaN wins
void min_f32(float* d, const float* a, const float* b, size_t n);
void add_relu_f32(float* d, const float* a, const float* b, size_t n);
void sub_relu_f32(float* d, const float* a, const float* b, size_t n);

void adds_f32(float* d, const float* a, float x, size_t n);
void muls_f32(float* d, const float* a, float x, size_t n);
void maxs_f32(float* d, const float* a, float x, size_t n);
void mins_f32(float* d, const float* a, float x, size_t n);
void leaky_relu_f32(float* d, const float* a, float x, size_t n);
// d = a * b + c, rounded once.
void fma_f32(float* d, const float* a, const float* b, const float* c, size_t n);
// d = a * x + c, rounded once.
void axpy_f32(float* d, const float* a, float x, const float* c, size_t n);

// Extremum of a multiple of 16 elements, NaN if there is one.
float max_of(const float* s, size_t n);
float min_of(const float* s, size_t n);
// First element equal to x (or NaN when x is); n when there is none.
uint32_t first_equal(const float* s, float x, uint32_t n);

// d = bit i of `bits` set ? x : y, up to 64 elements.
void blend_u32(uint32_t* d, const uint32_t* x, const uint32_t* y, uint64_t bits, size_t n);
void blend_u16(uint16_t* d, const uint16_t* x, const uint16_t* y, uint64_t bits, size_t n);

// d[i] = a[i] op b[i] as 0 or 1.
void less_f32(uint8_t* d, const float* a, const float* b, size_t n);
void less_equal_f32(uint8_t* d, const float* a, const float* b, size_t n);
void equal_f32(uint8_t* d, const float* a, const float* b, size_t n);
void differ_f32(uint8_t* d, const float* a, const float* b, size_t n);

// d[i] = first + i, rounded once.
void index_f32(float* d, float first, uint32_t skip, size_t n);

// Sum as the hardware's binary tree of adjacent pairs.
float tree_sum(const float* s, size_t n);

}  // namespace dav::vmath
