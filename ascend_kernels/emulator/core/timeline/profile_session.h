// Where launches leave their traces while somebody is profiling.
#pragma once

#include <string>
#include <vector>

#include "core/chip.h"
#include "core/trace.h"

namespace dav {

// Whether launches should record traces and hand them over. One relaxed load.
DAV_API bool profile_active();
// Whether the session wants the time alone, so that launches need not compute anything.
DAV_API bool profile_timing_only();
// Replays a finished launch and keeps it for the session; never throws, so that a launch's outcome
// does not depend on who watches. Ignored when no session is open.
DAV_API void profile_record(const std::string& name, const Chip& chip,
                            std::vector<CoreTrace> traces);

}  // namespace dav
