// Call sites: a compact number for "where in the kernel", captured cheaply at every instruction in
// check mode (frame-pointer walk) and symbolised only when a report needs it.
#pragma once

#include <cstdint>
#include <string>

namespace dav {

// Number of the current call stack, inner frames of the emulator left out; 0 when unknown.
uint32_t capture_site();
// "forward_loop.h:123 in ascendfa::ForwardLoop::Step" lines, innermost first; "" for 0.
std::string describe_site(uint32_t site);

}  // namespace dav
