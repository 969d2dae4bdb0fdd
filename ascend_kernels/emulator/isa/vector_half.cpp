#include "isa/vector_half.h"

#include "isa/vector_common.h"

namespace dav::vec {

HalfOverflow half_overflow(const Instruction& in) {
  return is_1001(in) ? HalfOverflow::Saturate : HalfOverflow::Infinity;
}

void saturate_half(uint16_t* d, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const uint16_t magnitude = d[i] & 0x7fffu;
    if (magnitude > 0x7c00u)
      d[i] = 0;
    else if (magnitude == 0x7c00u)
      d[i] = static_cast<uint16_t>((d[i] & 0x8000u) | 0x7bffu);
  }
}

}  // namespace dav::vec
