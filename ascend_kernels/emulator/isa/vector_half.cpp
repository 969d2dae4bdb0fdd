#include "isa/vector_half.h"

#include "isa/vector_common.h"

namespace dav::vec {

namespace {

// `infinity` without sign; the largest finite value lies right below it, NaN above.
void saturate(uint16_t* d, size_t n, uint16_t infinity) {
  for (size_t i = 0; i < n; ++i) {
    const uint16_t magnitude = d[i] & 0x7fffu;
    if (magnitude > infinity)
      d[i] = 0;
    else if (magnitude == infinity)
      d[i] = static_cast<uint16_t>((d[i] & 0x8000u) | (infinity - 1u));
  }
}

}  // namespace

HalfOverflow half_overflow(const Instruction& in) {
  const bool infinite = (in.core().control.ctrl >> 48) & 1;
  return is_1001(in) || !infinite ? HalfOverflow::Saturate : HalfOverflow::Infinity;
}

void saturate_half(uint16_t* d, size_t n) { saturate(d, n, 0x7c00u); }
void saturate_bfloat16(uint16_t* d, size_t n) { saturate(d, n, 0x7f80u); }

}  // namespace dav::vec
