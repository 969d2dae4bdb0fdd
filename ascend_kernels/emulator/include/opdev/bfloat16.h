// bfloat16 for host code: storage that converts to and from every arithmetic type.
#pragma once

#include "dav/float16.h"

namespace op {

struct bfloat16 {
  uint16_t value = 0;

  // Takes the bits as they are.
  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }

  bfloat16() = default;
  constexpr bfloat16(uint16_t bits, from_bits_t) : value(bits) {}
  template <typename Number, std::enable_if_t<std::is_arithmetic<Number>::value, int> = 0>
  bfloat16(Number number) : value(dav::bfloat16_from_float(static_cast<float>(number))) {}

  operator float() const { return dav::bfloat16_to_float(value); }
};

}  // namespace op
