// What operator() of a tensor returns: an element that is loaded and stored by the scalar unit.
#pragma once

#include <cstring>

#include "ascendc/base.h"
#include "dav/abi_scalar.h"

namespace dav {

template <typename T>
T load_element(Buffer buffer, uint64_t addr) {
  const uint64_t raw = scalar_load(buffer, addr, sizeof(T));
  T value;
  std::memcpy(&value, &raw, sizeof(T));
  return value;
}

template <typename T>
void store_element(Buffer buffer, uint64_t addr, T value) {
  uint64_t raw = 0;
  std::memcpy(&raw, &value, sizeof(T));
  scalar_store(buffer, addr, sizeof(T), raw);
}

template <typename T>
class ScalarRef {
 public:
  ScalarRef(Buffer buffer, uint64_t addr) : buffer_(buffer), addr_(addr) {}
  operator T() const { return load_element<T>(buffer_, addr_); }
  const ScalarRef& operator=(T value) const {
    store_element<T>(buffer_, addr_, value);
    return *this;
  }
  const ScalarRef& operator=(const ScalarRef& other) const { return *this = static_cast<T>(other); }
  const ScalarRef& operator+=(T value) const { return *this = static_cast<T>(T(*this) + value); }
  const ScalarRef& operator-=(T value) const { return *this = static_cast<T>(T(*this) - value); }
  const ScalarRef& operator*=(T value) const { return *this = static_cast<T>(T(*this) * value); }

 private:
  Buffer buffer_;
  uint64_t addr_;
};

}  // namespace dav
