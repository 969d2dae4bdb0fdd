// What launches have in common, whichever way the kernel came in.
#pragma once

#include <chrono>

#include "core/settings.h"
#include "core/trap.h"
#include "dav/api.h"
#include "dav/launch.h"
#include "runtime/acl/internal.h"

namespace dav::rt {

// ASCENDFA_EMULATOR_MODE, else check. Throws TaskError when it has an unknown value.
DAV_API Mode launch_mode();

// What aclInit and aclrtSetDevice refuse is no delay.
std::chrono::microseconds delay_of(Delay delay);

// The code a stream reports for a kernel that trapped.
DAV_API aclError trap_code(TrapKind kind, KernelType type);

}  // namespace dav::rt
