// What the headers call for output and assertions of kernels.
#pragma once

#include <cstdarg>
#include <cstdint>

#include "dav/api.h"
#include "dav/types.h"

namespace dav {

// One message of the running core, headed by its kind and block. printf-style.
DAV_API void print(const char* format, va_list args) __attribute__((format(printf, 1, 0)));
[[noreturn]] DAV_API void assert_failed(const char* condition, const char* file, unsigned line);

// Elements of a tensor as a list of numbers.
struct DumpShape {
  uint32_t dims = 0;  // 0: one row
  const uint32_t* extent = nullptr;
};
DAV_API void dump_tensor(Buffer buffer, uint64_t address, DType type, uint32_t description,
                         uint32_t count, DumpShape shape);

}  // namespace dav
