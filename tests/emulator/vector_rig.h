// Runs a piece of AIV code in both modes on data in UB. Included once per test file, before
// anything else of AscendC: the namespace is renamed so that files for other cores can share the
// executable.
#pragma once

#define __NPU_ARCH__ 2201
#define __DAV_VEC__
#define AscendC AscendC_vector_test
#include "kernel_operator.h"

#include <vector>

#include "core_launch.h"

namespace {

using namespace AscendC;

template <typename T>
LocalTensor<T> ub(uint32_t byte_offset, uint32_t elements) {
  return LocalTensor<T>(TPosition::VECCALC, byte_offset, elements);
}

inline void scalar_to_vector() {
  SetFlag<HardEvent::S_V>(0);
  WaitFlag<HardEvent::S_V>(0);
}
inline void vector_to_scalar() {
  SetFlag<HardEvent::V_S>(0);
  WaitFlag<HardEvent::V_S>(0);
}

// Writes values by the scalar unit, ordered before the vector unit.
template <typename T>
LocalTensor<T> put(uint32_t byte_offset, const std::vector<T>& values) {
  LocalTensor<T> tensor = ub<T>(byte_offset, static_cast<uint32_t>(values.size()));
  for (uint32_t i = 0; i < values.size(); ++i) tensor.SetValue(i, values[i]);
  scalar_to_vector();
  return tensor;
}
template <typename T>
std::vector<T> take(const LocalTensor<T>& tensor, uint32_t n) {
  vector_to_scalar();
  std::vector<T> values(n);
  for (uint32_t i = 0; i < n; ++i) values[i] = tensor.GetValue(i);
  scalar_to_vector();
  return values;
}
template <typename T>
std::vector<float> floats(const std::vector<T>& values) {
  return std::vector<float>(values.begin(), values.end());
}

template <typename T>
std::vector<T> iota(uint32_t n, float first = 0, float step = 1) {
  std::vector<T> values(n);
  for (uint32_t i = 0; i < n; ++i) values[i] = static_cast<T>(first + step * static_cast<float>(i));
  return values;
}
template <typename T>
std::vector<T> constant(uint32_t n, float value) {
  return std::vector<T>(n, static_cast<T>(value));
}

inline dav_test::Kernel vector_kernel(dav_test::Body body, dav::Mode mode = dav::Mode::Check,
                                      const char* soc = "Ascend910B3") {
  dav_test::Kernel kernel(dav::KernelType::AivOnly, 1, soc);
  kernel.spec.mode = mode;
  kernel.aiv = std::move(body);
  return kernel;
}

// The body runs once in each mode and must come to the same results.
inline void on_aiv(const dav_test::Body& body) {
  for (dav::Mode mode : {dav::Mode::Check, dav::Mode::Fast}) {
    SCOPED_TRACE(mode == dav::Mode::Check ? "check mode" : "fast mode");
    dav_test::Kernel kernel = vector_kernel(body, mode);
    try {
      kernel.run();
    } catch (const dav::Trap& trap) {
      ADD_FAILURE() << trap.what();
    }
  }
}

}  // namespace
