// assert() and __trap() in kernels.
#pragma once

#include <cassert>

#include "ascendc/debug.h"
#include "dav/abi_sync.h"

__aicore__ inline void __trap() { dav::raise_trap(); }
