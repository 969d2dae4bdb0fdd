// Buffer geometry of the chip the kernel is compiled for.
#ifndef ASCENDFA_ARCH_CAPACITIES_H
#define ASCENDFA_ARCH_CAPACITIES_H

#if __NPU_ARCH__ == 1001
#include "dav_1001/capacities.h"
#elif __NPU_ARCH__ == 2201
#include "dav_2201/capacities.h"
#else
#error "flash attention has no kernel for this architecture"
#endif

#endif  // ASCENDFA_ARCH_CAPACITIES_H
