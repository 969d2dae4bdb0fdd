// What the plans of the anchor kernels tell them.
#ifndef ANCHOR_TILING_H
#define ANCHOR_TILING_H

#include <cstdint>

struct AnchorMatmulTiling {
  uint32_t batch;
  uint32_t m, n, k;
  uint32_t tile_n;          // 256, or 128 where n is no multiple
  uint32_t step_a, step_b;  // depths of L0, 64 each, that one load brings to L1
  // Cores in a grid, grid_m of them side by side along m, each with a rectangle of C; the grid
  // passes over all of m in so many rounds. grid_m 0: output tiles are dealt to the cores one by
  // one, a few rows of tiles at a time.
  uint32_t grid_m, rounds;
  uint32_t single_rows, single_columns;  // of a core's rectangle, in tiles; the last may have less
  uint32_t ahead;                        // a load is asked for while the one before it is used
  uint32_t unit_flag;                    // orders cube and Fixpipe; else a pair of flags does
};

struct AnchorAddTiling {
  uint32_t rows, columns;  // whole rows to each core, one more to the first ones
  uint32_t tile;           // elements per Add
  uint32_t slots;          // 2: what is loaded, added and stored overlaps
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
