// Lets a profiler see every launch. One observer per process; while it is set, launches record
// their traces.
#pragma once

#include <functional>

#include "dav/api.h"
#include "dav/launch.h"

namespace dav::rt {

using LaunchObserver = std::function<void(const LaunchSpec&, const LaunchResult&)>;

// An empty function removes it. Called on the stream's worker thread.
DAV_API void set_launch_observer(LaunchObserver observer);

}  // namespace dav::rt
