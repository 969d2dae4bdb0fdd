// Call sites: a compact number for "where in the kernel", captured cheaply at every instruction in
// check mode (frame-pointer walk) and symbolised only when a report needs it.
#pragma once

#include <cstdint>
#include <string>

#include "dav/api.h"

namespace dav {

// The memory a frame-pointer walk on this thread may read: to be called with the fiber's stack at
// each switch, and with nulls when the thread is back on its own.
DAV_API void set_call_stack(const void* low, const void* high);

// Number of the current call stack, inner frames of the emulator left out; 0 when unknown.
DAV_API uint32_t capture_site();
// "forward_loop.h:123 in ascendfa::ForwardLoop::Step" lines, innermost first; "" for 0.
DAV_API std::string describe_site(uint32_t site);

}  // namespace dav
