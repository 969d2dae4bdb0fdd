// How cube and vector cores of the chip the kernel is compiled for hand tiles to each other.
#ifndef ASCENDFA_ARCH_CUBE_VECTOR_BRIDGE_H
#define ASCENDFA_ARCH_CUBE_VECTOR_BRIDGE_H

#if __NPU_ARCH__ == 1001
#include "dav_1001/cube_vector_bridge.h"
#elif __NPU_ARCH__ == 2201
#include "dav_2201/cube_vector_bridge.h"
#else
#error "flash attention has no kernel for this architecture"
#endif

#endif  // ASCENDFA_ARCH_CUBE_VECTOR_BRIDGE_H
