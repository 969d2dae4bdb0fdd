// Scalar-unit accesses to tensors: GetValue, SetValue and operator(). They run on pipe S and are
// tracked like any other instruction, so reading what a vector instruction still writes is a race.
#pragma once

#include <cstdint>

#include "dav/api.h"
#include "dav/types.h"

namespace dav {

// The little-endian value of `bytes` (1, 2, 4 or 8) bytes at `addr`, an offset in a local buffer or
// a device address. Traps when the core's scalar unit cannot reach the buffer.
DAV_API uint64_t scalar_load(Buffer buffer, uint64_t addr, uint32_t bytes);
DAV_API void scalar_store(Buffer buffer, uint64_t addr, uint32_t bytes, uint64_t value);

// As above on GM, past the data cache. A load lets the other cores run: kernels poll with it.
DAV_API uint64_t signal_load(uint64_t addr, uint32_t bytes);
DAV_API void signal_store(uint64_t addr, uint32_t bytes, uint64_t value);

}  // namespace dav
