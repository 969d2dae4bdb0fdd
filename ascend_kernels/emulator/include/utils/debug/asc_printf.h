// printf in kernels.
#pragma once

#include "ascendc/base.h"
#include "ascendc/debug.h"

#ifdef DAV_ASC_DEVICE
// Preferred to the C library's: that one cannot take 16-bit floats.
template <class Arg, class... Args>
__aicore__ static inline void printf(__gm__ const char* fmt, Arg&& arg, Args&&... args) {
  AscendC::printf(fmt, std::forward<Arg>(arg), std::forward<Args>(args)...);
}
#endif
