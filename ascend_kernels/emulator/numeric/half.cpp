#include "numeric/half.h"

#include "dav/float_bits.h"
#include "numeric/simd.h"

#if DAV_SIMD_X86
#include <immintrin.h>
#endif

namespace dav {
namespace {

void to_float_portable(const uint16_t* in, float* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = half_to_float(in[i]);
}

void to_half_portable(const float* in, uint16_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = half_from_float(in[i]);
}

#if DAV_SIMD_X86
DAV_TARGET_V3 void to_float_v3(const uint16_t* in, float* out, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(packed));
  }
  to_float_portable(in + i, out + i, count - i);
}

DAV_TARGET_V3 void to_half_v3(const float* in, uint16_t* out, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 wide = _mm256_loadu_ps(in + i);
    // vcvtps2ph keeps NaN payloads; the device has one NaN, as half_from_float does.
    const __m256 nan = _mm256_cmp_ps(wide, wide, _CMP_UNORD_Q);
    if (_mm256_movemask_ps(nan) != 0) {
      to_half_portable(in + i, out + i, 8);
      continue;
    }
    const __m128i packed = _mm256_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), packed);
  }
  to_half_portable(in + i, out + i, count - i);
}
#endif

}  // namespace

void half_to_float_row(const uint16_t* in, float* out, size_t count) {
#if DAV_SIMD_X86
  if (simd_level() != SimdLevel::Portable) return to_float_v3(in, out, count);
#endif
  to_float_portable(in, out, count);
}

void float_to_half_row(const float* in, uint16_t* out, size_t count) {
#if DAV_SIMD_X86
  if (simd_level() != SimdLevel::Portable) return to_half_v3(in, out, count);
#endif
  to_half_portable(in, out, count);
}

}  // namespace dav
