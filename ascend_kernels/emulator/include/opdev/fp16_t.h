// IEEE binary16 for host code: storage that converts to and from every arithmetic type.
#pragma once

#include "dav/float16.h"

namespace op {

struct fp16_t {
  uint16_t val = 0;

  fp16_t() = default;
  template <typename Number, std::enable_if_t<std::is_arithmetic<Number>::value, int> = 0>
  fp16_t(Number value) : val(dav::half_from_float(static_cast<float>(value))) {}

  operator float() const { return dav::half_to_float(val); }
  float toFloat() const { return *this; }
};

}  // namespace op
