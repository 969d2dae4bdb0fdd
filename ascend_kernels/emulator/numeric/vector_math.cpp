#include "numeric/vector_math.h"

#include <cmath>

#include "dav/float_bits.h"
#include "numeric/vector_clones.h"

namespace dav::vmath {
namespace {

// Branch-free forms of the conversions in dav/float_bits.h, so that loops over them vectorise.
inline float decode_half(uint16_t half) {
  const uint32_t magnitude = half & 0x7fffu;
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  // Scaling by 2^112 rebiases the exponent and normalises subnormals in one exact multiplication.
  const uint32_t finite = float_bits(bits_float(magnitude << 13) * 0x1p112f);
  const uint32_t special = 0x7f800000u | (magnitude << 13);
  return bits_float(sign | (magnitude >= 0x7c00u ? special : finite));
}

inline uint16_t encode_half(float value) {
  const uint32_t bits = float_bits(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t rebased = magnitude - 0x38000000u;
  const uint32_t normal = (rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13;
  // Adding 0.5 moves a value below 2^-14 to where one unit in the last place is 2^-24.
  const uint32_t subnormal = float_bits(bits_float(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? 0x7e00u : result;
  return static_cast<uint16_t>(sign | result);
}

inline uint16_t encode_bfloat16(float value) {
  const uint32_t bits = float_bits(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40u;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

// e^x = 2^n e^r with r = x - n ln 2 in two parts, e^r from its Taylor series (the first term left
// out is below 2^-27 for |r| <= ln(2)/2), and the scale applied in two steps so that subnormal
// results round once.
inline float exp_lane(float x) {
  float clamped = x > 89.0f ? 89.0f : x;
  clamped = clamped < -105.0f ? -105.0f : clamped;
  constexpr float kShifter = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float n = (clamped * 1.44269504088896341f + kShifter) - kShifter;
  constexpr float kLn2High = 0.693359375f;  // 9 significant bits: n * kLn2High is exact
  constexpr float kLn2Low = -2.12194440054690583e-4f;
  const float high = clamped - n * kLn2High;
  const float low = n * kLn2Low;
  const float r = high - low;
  const float error = (high - r) - low;
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  const float mantissa = 1.0f + (r + (p * (r * r) + error));
  const int32_t exponent = static_cast<int32_t>(n == n ? n : 0.0f);
  const int32_t half = exponent >> 1;
  const float scale0 = bits_float(static_cast<uint32_t>(half + 127) << 23);
  const float scale1 = bits_float(static_cast<uint32_t>(exponent - half + 127) << 23);
  return mantissa * scale0 * scale1;
}

// ln x = e ln 2 + 2 artanh((m - 1) / (m + 1)) in binary64, m in [sqrt(1/2), sqrt(2)).
inline float ln_lane(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 0x1p23f : x;
  const int32_t bits = static_cast<int32_t>(float_bits(scaled));
  const int32_t exponent = (bits - 0x3f3504f3) >> 23;
  const float m = bits_float(static_cast<uint32_t>(bits) - (static_cast<uint32_t>(exponent) << 23));
  const double e = static_cast<double>(exponent) - (tiny ? 23.0 : 0.0);
  const double f = static_cast<double>(m) - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double p = 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  p = p * z + 1.0;
  float result = static_cast<float>(e * 0.69314718055994530942 + 2.0 * s * p);
  result = x == 0.0f ? bits_float(0xff800000u) : result;
  result = x == bits_float(0x7f800000u) ? x : result;
  return (x < 0.0f || x != x) ? bits_float(0x7fc00000u) : result;
}

inline float larger(float x, float y) { return (x > y || x != x) ? x : y; }
inline float smaller(float x, float y) { return (x < y || x != x) ? x : y; }
inline float positive(float x) { return x < 0.0f ? 0.0f : x; }

}  // namespace

#define DAV_UNARY(name, D, S, expr)                         \
  DAV_VECTOR_CLONES void name(D* d, const S* s, size_t n) { \
    DAV_NO_DEPENDENCE                                       \
    for (size_t i = 0; i < n; ++i) {                        \
      const S x = s[i];                                     \
      d[i] = expr;                                          \
    }                                                       \
  }
DAV_UNARY(f32_from_f16, float, uint16_t, decode_half(x))
DAV_UNARY(f16_from_f32, uint16_t, float, encode_half(x))
DAV_UNARY(f32_from_bf16, float, uint16_t, bits_float(static_cast<uint32_t>(x) << 16))
DAV_UNARY(bf16_from_f32, uint16_t, float, encode_bfloat16(x))
DAV_UNARY(exp_f32, float, float, exp_lane(x))
DAV_UNARY(ln_f32, float, float, ln_lane(x))
DAV_UNARY(abs_f32, float, float, bits_float(float_bits(x) & 0x7fffffffu))
DAV_UNARY(reciprocal_f32, float, float, 1.0f / x)
DAV_UNARY(sqrt_f32, float, float, std::sqrt(x))
DAV_UNARY(rsqrt_f32, float, float, static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))))
DAV_UNARY(relu_f32, float, float, positive(x))
#undef DAV_UNARY

#define DAV_BINARY(name, expr)                                                      \
  DAV_VECTOR_CLONES void name(float* d, const float* a, const float* b, size_t n) { \
    DAV_NO_DEPENDENCE                                                               \
    for (size_t i = 0; i < n; ++i) {                                                \
      const float x = a[i], y = b[i];                                               \
      d[i] = expr;                                                                  \
    }                                                                               \
  }
DAV_BINARY(add_f32, x + y)
DAV_BINARY(sub_f32, x - y)
DAV_BINARY(mul_f32, x* y)
DAV_BINARY(div_f32, x / y)
DAV_BINARY(max_f32, larger(x, y))
DAV_BINARY(min_f32, smaller(x, y))
DAV_BINARY(add_relu_f32, positive(x + y))
DAV_BINARY(sub_relu_f32, positive(x - y))
#undef DAV_BINARY

#define DAV_SCALAR(name, expr)                                               \
  DAV_VECTOR_CLONES void name(float* d, const float* a, float y, size_t n) { \
    DAV_NO_DEPENDENCE                                                        \
    for (size_t i = 0; i < n; ++i) {                                         \
      const float x = a[i];                                                  \
      d[i] = expr;                                                           \
    }                                                                        \
  }
DAV_SCALAR(adds_f32, x + y)
DAV_SCALAR(muls_f32, x* y)
DAV_SCALAR(maxs_f32, larger(x, y))
DAV_SCALAR(mins_f32, smaller(x, y))
DAV_SCALAR(leaky_relu_f32, x >= 0.0f ? x : x * y)
#undef DAV_SCALAR

DAV_VECTOR_CLONES void fma_f32(float* d, const float* a, const float* b, const float* c, size_t n) {
  DAV_NO_DEPENDENCE
  for (size_t i = 0; i < n; ++i) d[i] = __builtin_fmaf(a[i], b[i], c[i]);
}

DAV_VECTOR_CLONES void axpy_f32(float* d, const float* a, float x, const float* c, size_t n) {
  DAV_NO_DEPENDENCE
  for (size_t i = 0; i < n; ++i) d[i] = __builtin_fmaf(a[i], x, c[i]);
}

#define DAV_EXTREMUM(name, pick)                                         \
  DAV_VECTOR_CLONES float name(const float* s, size_t n) {               \
    float best[16];                                                      \
    for (size_t j = 0; j < 16; ++j) best[j] = s[j];                      \
    for (size_t i = 16; i < n; i += 16)                                  \
      for (size_t j = 0; j < 16; ++j) best[j] = pick(best[j], s[i + j]); \
    for (size_t j = 1; j < 16; ++j) best[0] = pick(best[0], best[j]);    \
    return best[0];                                                      \
  }
DAV_EXTREMUM(max_of, larger)
DAV_EXTREMUM(min_of, smaller)
#undef DAV_EXTREMUM

DAV_VECTOR_CLONES uint32_t first_equal(const float* s, float x, uint32_t n) {
  const bool nan = x != x;
  uint32_t first = n;
  for (uint32_t i = 0; i < n; ++i) {
    const bool hit = nan ? s[i] != s[i] : s[i] == x;
    const uint32_t at = hit ? i : n;
    first = at < first ? at : first;
  }
  return first;
}

#define DAV_BLEND(name, T)                                                             \
  DAV_VECTOR_CLONES void name(T* d, const T* x, const T* y, uint64_t bits, size_t n) { \
    DAV_NO_DEPENDENCE                                                                  \
    for (size_t i = 0; i < n; ++i) d[i] = ((bits >> i) & 1) ? x[i] : y[i];             \
  }
DAV_BLEND(blend_u32, uint32_t)
DAV_BLEND(blend_u16, uint16_t)
#undef DAV_BLEND

#define DAV_COMPARE(name, op)                                                         \
  DAV_VECTOR_CLONES void name(uint8_t* d, const float* a, const float* b, size_t n) { \
    DAV_NO_DEPENDENCE                                                                 \
    for (size_t i = 0; i < n; ++i) d[i] = a[i] op b[i] ? 1 : 0;                       \
  }
DAV_COMPARE(less_f32, <)
DAV_COMPARE(less_equal_f32, <=)
DAV_COMPARE(equal_f32, ==)
DAV_COMPARE(differ_f32, !=)
#undef DAV_COMPARE

DAV_VECTOR_CLONES void index_f32(float* d, float first, uint32_t skip, size_t n) {
  for (uint32_t i = 0; i < n; ++i) d[i] = first + static_cast<float>(skip + i);
}

float tree_sum(const float* s, size_t n) {
  float level[128];
  for (size_t i = 0; i < n; ++i) level[i] = s[i];
  while (n > 1) {
    const size_t pairs = n / 2;
    for (size_t i = 0; i < pairs; ++i) level[i] = level[2 * i] + level[2 * i + 1];
    if (n & 1) level[pairs] = level[n - 1];
    n = pairs + (n & 1);
  }
  return level[0];
}

}  // namespace dav::vmath
