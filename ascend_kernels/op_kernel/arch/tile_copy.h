// Tile movement around the cube of the chip the kernel is compiled for.
#ifndef ASCENDFA_ARCH_TILE_COPY_H
#define ASCENDFA_ARCH_TILE_COPY_H

#if __NPU_ARCH__ == 1001
#include "dav_1001/tile_copy.h"
#elif __NPU_ARCH__ == 2201
#include "dav_2201/tile_copy.h"
#else
#error "flash attention has no kernel for this architecture"
#endif

#endif  // ASCENDFA_ARCH_TILE_COPY_H
