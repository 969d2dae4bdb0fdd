#include "runtime/opapi/element.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "dav/float16.h"

namespace dav::opapi {
namespace {

// Calls `use` with a value of the type; false when the type is no number.
template <typename Use>
bool with_type(aclDataType type, Use use) {
  switch (type) {
    case ACL_FLOAT:
      return use(float{}), true;
    case ACL_FLOAT16:
      return use(Half(0.0f)), true;
    case ACL_BF16:
      return use(Bfloat16(0.0f)), true;
    case ACL_DOUBLE:
      return use(double{}), true;
    case ACL_INT8:
      return use(int8_t{}), true;
    case ACL_UINT8:
      return use(uint8_t{}), true;
    case ACL_INT16:
      return use(int16_t{}), true;
    case ACL_UINT16:
      return use(uint16_t{}), true;
    case ACL_INT32:
      return use(int32_t{}), true;
    case ACL_UINT32:
      return use(uint32_t{}), true;
    case ACL_INT64:
      return use(int64_t{}), true;
    case ACL_UINT64:
      return use(uint64_t{}), true;
    case ACL_BOOL:
      return use(bool{}), true;
    default:
      return false;
  }
}

template <typename Integer>
Integer saturate(double value) {
  if (std::isnan(value)) return 0;
  const double truncated = std::trunc(value);
  // Of 64-bit types, the limit as a double is one too many.
  if (truncated >= static_cast<double>(std::numeric_limits<Integer>::max())) {
    return std::numeric_limits<Integer>::max();
  }
  if (truncated <= static_cast<double>(std::numeric_limits<Integer>::lowest())) {
    return std::numeric_limits<Integer>::lowest();
  }
  return static_cast<Integer>(truncated);
}

template <typename T>
T convert(const Number& number) {
  if constexpr (std::is_same<T, bool>::value) {
    return number.integral ? number.integer != 0 : number.real != 0;
  } else if constexpr (std::is_integral<T>::value) {
    return number.integral ? static_cast<T>(number.integer) : saturate<T>(number.real);
  } else {
    return T(number.real);
  }
}

}  // namespace

bool is_number(aclDataType type) {
  return with_type(type, [](auto) {});
}

Number load(aclDataType type, const uint8_t* from) {
  Number number;
  with_type(type, [&](auto value) {
    using T = decltype(value);
    std::memcpy(&value, from, sizeof(value));
    number.integral = std::is_integral<T>::value;
    if constexpr (std::is_integral<T>::value) number.integer = static_cast<int64_t>(value);
    number.real = static_cast<double>(value);
  });
  return number;
}

void store(aclDataType type, const Number& number, uint8_t* to) {
  with_type(type, [&](auto value) {
    value = convert<decltype(value)>(number);
    std::memcpy(to, &value, sizeof(value));
  });
}

}  // namespace dav::opapi
