// Arithmetic and type helpers of the kernel library.
#pragma once

#include <type_traits>

#include "ascendc/base.h"

namespace AscendC {

__aicore__ constexpr inline int32_t CeilDivision(int32_t num1, int32_t num2) {
  return num2 == 0 ? 0 : (num1 + num2 - 1) / num2;
}
__aicore__ constexpr inline uint32_t DivCeil(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

// Bits of the scalar unit's registers: how many are countValue, and where the lowest such one is.
template <int countValue>
__aicore__ constexpr inline int64_t GetBitCount(uint64_t valueIn) {
  static_assert(countValue == 0 || countValue == 1, "a bit is 0 or 1");
  return __builtin_popcountll(countValue == 1 ? valueIn : ~valueIn);
}
template <int countValue>
__aicore__ constexpr inline int64_t GetSFFValue(uint64_t valueIn) {
  static_assert(countValue == 0 || countValue == 1, "a bit is 0 or 1");
  return __builtin_ffsll(static_cast<long long>(countValue == 1 ? valueIn : ~valueIn)) - 1;
}
__aicore__ constexpr inline int64_t CountLeadingZero(uint64_t valueIn) {
  return valueIn == 0 ? 64 : __builtin_clzll(valueIn);
}
// Bits below the sign bit that equal it; -1 when all do.
__aicore__ constexpr inline int64_t CountBitsCntSameAsSignBit(int64_t valueIn) {
  const auto bits = static_cast<uint64_t>(valueIn < 0 ? ~valueIn : valueIn);
  return bits == 0 ? -1 : __builtin_clzll(bits) - 1;
}

template <bool condition, class T1, class T2>
struct Conditional {
  using type = std::conditional_t<condition, T1, T2>;
};

}  // namespace AscendC
