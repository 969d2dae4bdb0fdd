// Arithmetic of 16-bit floats: operands widen to binary32, the operation runs there, the result
// rounds once. For one +, -, *, / or square root of halves that is the correctly rounded result,
// since 24 >= 2 * 11 + 2 bits.
#pragma once

#include <array>
#include <cstddef>

#include "core/instruction.h"
#include "dav/types.h"
#include "numeric/vector_math.h"

namespace dav::vec {

// Without infinities, 16-bit float results saturate and NaN becomes 0: always so on the 910A, while
// bit 48 of CTRL is clear on its successors.
enum class HalfOverflow : uint8_t { Infinity, Saturate };

HalfOverflow half_overflow(const Instruction& in);
void saturate_half(uint16_t* d, size_t n);
void saturate_bfloat16(uint16_t* d, size_t n);

inline void widen(DType type, float* d, const std::byte* s, size_t n) {
  const auto* bits = reinterpret_cast<const uint16_t*>(s);
  if (type == DType::BF16)
    vmath::f32_from_bf16(d, bits, n);
  else
    vmath::f32_from_f16(d, bits, n);
}

// Calls f(float* d, std::array<const float*, N> s, n), directly for float operands.
template <size_t N, typename F>
void through_float(DType dst_type, std::array<DType, N> src_type, HalfOverflow overflow,
                   std::byte* d, const std::byte* const* s, size_t n, F&& f) {
  constexpr size_t kChunk = 512;
  alignas(64) float wide[N + 1][kChunk];
  for (size_t done = 0; done < n;) {
    bool all_float = dst_type == DType::F32;
    for (size_t i = 0; i < N; ++i) all_float = all_float && src_type[i] == DType::F32;
    const size_t count = all_float ? n : (n - done < kChunk ? n - done : kChunk);
    std::array<const float*, N> in{};
    for (size_t i = 0; i < N; ++i) {
      if (src_type[i] == DType::F32) {
        in[i] = reinterpret_cast<const float*>(s[i]) + done;
      } else {
        widen(src_type[i], wide[i], s[i] + done * 2, count);
        in[i] = wide[i];
      }
    }
    if (dst_type == DType::F32) {
      f(reinterpret_cast<float*>(d) + done, in, count);
    } else {
      f(wide[N], in, count);
      auto* out = reinterpret_cast<uint16_t*>(d) + done;
      vmath::f16_from_f32(out, wide[N], count);
      if (overflow == HalfOverflow::Saturate) saturate_half(out, count);
    }
    done += count;
  }
}

}  // namespace dav::vec
