#pragma once

#include <cstdint>

struct ScaleAddTiling {
  uint32_t elements;
  uint32_t tile;  // elements per tile, a multiple of 32 bytes
  float alpha;
  uint32_t misbehave;  // 0, or which mistake the kernel should make: see the kernel
};
