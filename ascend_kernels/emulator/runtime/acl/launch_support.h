// What launches have in common, whichever way the kernel came in.
#pragma once

#include "core/trap.h"
#include "dav/api.h"
#include "dav/launch.h"
#include "runtime/acl/internal.h"

namespace dav::rt {

// ASCENDFA_EMULATOR_MODE, else check. Throws TaskError when it has an unknown value.
DAV_API Mode launch_mode();

// The code a stream reports for a kernel that trapped.
DAV_API aclError trap_code(TrapKind kind, KernelType type);

}  // namespace dav::rt
