// Output of kernels and assertions. ASCENDC_DUMP=0 compiles them out.
#pragma once

#include <cassert>
#include <cstdarg>
#include <type_traits>
#include <utility>

#include "ascendc/shape_info.h"
#include "ascendc/tensor.h"
#include "dav/abi_debug.h"

#ifndef ASCENDC_DUMP
#define ASCENDC_DUMP 1
#endif

namespace AscendC {
namespace emulator_detail {

// 16-bit floats cannot travel through an ellipsis.
template <typename T>
auto Printable(T value) {
  if constexpr (std::is_same_v<T, half>) {
    return static_cast<double>(float(value));
#if __NPU_ARCH__ != 1001
  } else if constexpr (std::is_same_v<T, bfloat16_t>) {
    return static_cast<double>(float(value));
#endif
  } else {
    return value;
  }
}

inline void PrintList(const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  dav::print(fmt, args);
  va_end(args);
}

inline dav::DumpShape ShapeOf(const ShapeInfo& info) { return {info.shapeDim, info.shape}; }

template <typename T>
inline void Dump(dav::Buffer buffer, uint64_t address, uint32_t desc, uint32_t dumpSize,
                 dav::DumpShape shape = {}) {
  if constexpr (ASCENDC_DUMP != 0)
    dav::dump_tensor(buffer, address, dav::dtype_of<T>, desc, dumpSize, shape);
}

}  // namespace emulator_detail

template <class... Args>
__aicore__ inline void printf(__gm__ const char* fmt, Args&&... args) {
  if constexpr (ASCENDC_DUMP != 0)
    emulator_detail::PrintList(fmt, emulator_detail::Printable<std::decay_t<Args>>(args)...);
}
template <class... Args>
__aicore__ inline void PRINTF(__gm__ const char* fmt, Args&&... args) {
  AscendC::printf(fmt, std::forward<Args>(args)...);
}

template <typename T>
__aicore__ inline void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize) {
  emulator_detail::Dump<T>(tensor.Operand().buffer, tensor.Operand().addr, desc, dumpSize);
}
template <typename T>
__aicore__ inline void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize) {
  emulator_detail::Dump<T>(dav::Buffer::GM, tensor.Operand(), desc, dumpSize);
}
template <typename T>
__aicore__ inline void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize,
                                  const ShapeInfo& shapeInfo) {
  emulator_detail::Dump<T>(tensor.Operand().buffer, tensor.Operand().addr, desc, dumpSize,
                           emulator_detail::ShapeOf(shapeInfo));
}
template <typename T>
__aicore__ inline void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize,
                                  const ShapeInfo& shapeInfo) {
  emulator_detail::Dump<T>(dav::Buffer::GM, tensor.Operand(), desc, dumpSize,
                           emulator_detail::ShapeOf(shapeInfo));
}

}  // namespace AscendC

namespace dav {
inline void assert_message() {}
template <class... Args>
inline void assert_message(const char* fmt, Args&&... args) {
  AscendC::printf(fmt, std::forward<Args>(args)...);
}
}  // namespace dav

#if ASCENDC_DUMP != 0
#define ascendc_assert(expr, ...)                    \
  do {                                               \
    if (!(expr)) {                                   \
      dav::assert_message(__VA_ARGS__);              \
      dav::assert_failed(#expr, __FILE__, __LINE__); \
    }                                                \
  } while (false)
#else
#define ascendc_assert(expr, ...) \
  do {                            \
  } while (false)
#endif
