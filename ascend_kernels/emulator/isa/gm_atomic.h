// Read-modify-write stores to GM (SetAtomicAdd, SetAtomicMax, SetAtomicMin).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/instruction.h"

namespace dav::cube {

// Combines `data` with what lies at `addr`, element by element in the type the core has set.
// Elements are indivisible with respect to other cores; their order is the host's.
void atomic_store(Instruction& in, uint64_t addr, const std::byte* data, uint64_t bytes);

}  // namespace dav::cube
