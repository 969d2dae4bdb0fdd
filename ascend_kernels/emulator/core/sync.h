// Ends and reports of synchronisation: what the scheduler needs from flags.
#pragma once

#include "core/trap.h"

namespace dav {

class Core;
class LaunchState;

// The core's entry returned: its flags and event ids must be balanced.
void end_core(Core& core);
// All cores returned: no cross-core counter and no unmatched set may be left.
void check_left_over(LaunchState& launch);
// Every core is blocked or has ended; says who waits for what.
Trap deadlock_trap(LaunchState& launch);

}  // namespace dav
