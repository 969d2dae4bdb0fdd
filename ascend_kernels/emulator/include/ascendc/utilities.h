// Arithmetic and type helpers of the kernel library.
#pragma once

#include <type_traits>

#include "ascendc/base.h"

namespace AscendC {

__aicore__ constexpr inline int32_t CeilDivision(int32_t num1, int32_t num2) {
  return num2 == 0 ? 0 : (num1 + num2 - 1) / num2;
}
__aicore__ constexpr inline uint32_t DivCeil(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

template <bool condition, class T1, class T2>
struct Conditional {
  using type = std::conditional_t<condition, T1, T2>;
};

}  // namespace AscendC
