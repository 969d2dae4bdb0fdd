#pragma once

#include <cstdint>

namespace ascendfa {

constexpr uint64_t AlignUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace ascendfa
