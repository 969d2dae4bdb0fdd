// What the plans of the anchor kernels tell them.
#ifndef ANCHOR_TILING_H
#define ANCHOR_TILING_H

#include <cstdint>

struct AnchorMatmulTiling {
  uint32_t batch;
  uint32_t m, n, k;
  uint32_t tile_n;   // 256, or 128 where n is no multiple
  uint32_t piece_k;  // of k in L1: 256, or 128 likewise
  // Cores in a grid of grid_m x grid_n, each with one rectangle of C; 0: output tiles are dealt to
  // the cores one by one, a few rows of tiles at a time.
  uint32_t grid_m, grid_n;
};

struct AnchorAddTiling {
  uint32_t rows, columns;  // whole rows to each core, one more to the first ones
  uint32_t tile;           // elements per Add
  uint32_t second_from;    // byte offset of the second operand in UB
};

struct AnchorSoftmaxTiling {
  uint64_t rows;
  uint32_t columns;  // 512 to 4096, a power of two
  float scale;
};

struct AnchorLockstepTiling {
  uint32_t heads, seq;
  float scale;
};

#endif  // ANCHOR_TILING_H
