// One element of a tensor as a number, whatever its type.
#pragma once

#include <cstdint>

#include "acl/acl_base.h"

namespace dav::opapi {

// Integers of 64 bits survive; `real` is set for every type.
struct Number {
  bool integral = false;
  int64_t integer = 0;
  double real = 0;
};

// Whether elements of the type are single numbers.
bool is_number(aclDataType type);
Number load(aclDataType type, const uint8_t* from);
// Out of range becomes the nearest limit, NaN 0 where the type has none.
void store(aclDataType type, const Number& number, uint8_t* to);

}  // namespace dav::opapi
