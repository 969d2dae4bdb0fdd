// Choosing at run time among versions of a hot loop compiled for different x86-64 levels. Where
// target_clones serves (numeric/vector_clones.h) use that; this is for loops whose shape, not only
// whose instructions, depends on the level.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define DAV_SIMD_X86 1
#define DAV_TARGET_V3 __attribute__((target("arch=x86-64-v3")))
#define DAV_TARGET_V4 __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#else
#define DAV_SIMD_X86 0
#endif
#define DAV_INLINE inline __attribute__((always_inline))

namespace dav {

enum class SimdLevel { Portable, V3 /* AVX2, FMA, F16C */, V4 /* AVX-512 */ };

inline SimdLevel simd_level() {
#if DAV_SIMD_X86
  static const SimdLevel level = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512cd"))
      return SimdLevel::V4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c"))
      return SimdLevel::V3;
    return SimdLevel::Portable;
  }();
  return level;
#else
  return SimdLevel::Portable;
#endif
}

}  // namespace dav
