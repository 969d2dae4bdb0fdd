// Scalar accesses to global memory past the data cache, by which cores may poll each other.
#pragma once

#include <type_traits>

#include "ascendc/base.h"
#include "dav/abi_scalar.h"

namespace AscendC {

template <typename T>
__aicore__ inline T ReadGmByPassDCache(__gm__ T* addr) {
  static_assert(dav::since_2201<T>, "ReadGmByPassDCache does not exist on this chip");
  static_assert(std::is_integral_v<T> && sizeof(T) <= 8, "it reads integers of 8 to 64 bits");
  return static_cast<T>(dav::signal_load(reinterpret_cast<uint64_t>(addr), sizeof(T)));
}

template <typename T>
__aicore__ inline void WriteGmByPassDCache(__gm__ T* addr, T value) {
  static_assert(dav::since_2201<T>, "WriteGmByPassDCache does not exist on this chip");
  static_assert(std::is_integral_v<T> && sizeof(T) <= 8, "it writes integers of 8 to 64 bits");
  dav::signal_store(reinterpret_cast<uint64_t>(addr), sizeof(T), static_cast<uint64_t>(value));
}

}  // namespace AscendC
