// Once in every kernel image: the list of its entries, and printf, which an image resolves here
// before the C library.
#pragma once

#include <cstdarg>

#include "dav/abi_debug.h"
#include "dav/asc_launch.h"

extern "C" {

__attribute__((visibility("default"), used)) inline const dav::asc::Record* dav_asc_records() {
  return dav::asc::records;
}

__attribute__((visibility("hidden"), weak, used)) int printf(const char* format, ...) {
  va_list args;
  va_start(args, format);
  dav::print(format, args);
  va_end(args);
  return 0;
}
}

// What a kernel calls when the condition of assert() does not hold.
[[noreturn]] inline void dav_asc_assert_failed(const char* condition, const char* file,
                                               unsigned line, const char* function) {
  (void)function;
  dav::assert_failed(condition, file, line);
}
