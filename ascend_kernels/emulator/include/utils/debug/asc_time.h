// The running core's cycle counter.
#pragma once

#include <ctime>

#include "ascendc/base.h"
#include "dav/abi_sync.h"

#ifdef DAV_ASC_DEVICE
// A better match than the C library's for a call in kernel code is impossible, so it is replaced.
#define clock() static_cast<uint64_t>(dav::system_cycle())
#endif
