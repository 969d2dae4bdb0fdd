// The local buffers of one core: one mapping, each buffer of its real size on its own pages with an
// inaccessible page behind it, reused from launch to launch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/chip.h"
#include "dav/types.h"

namespace dav {

class LocalMemory {
 public:
  // Takes a mapping of this shape from the pool, or makes one. Contents are undefined.
  LocalMemory(const Chip& chip, CoreKind kind);
  ~LocalMemory();
  LocalMemory(const LocalMemory&) = delete;
  LocalMemory& operator=(const LocalMemory&) = delete;

  std::byte* base(Buffer b) const { return base_[static_cast<size_t>(b)]; }
  // 0 when this kind of core lacks the buffer.
  uint32_t bytes(Buffer b) const { return bytes_[static_cast<size_t>(b)]; }
  // Fills every buffer with a NaN in all float types, so that a use of what was never written is
  // reproducible.
  void poison();

 private:
  std::array<uint32_t, kBufferCount> bytes_{};
  std::array<std::byte*, kBufferCount> base_{};
  std::byte* mapping_ = nullptr;
  size_t mapped_ = 0;
};

}  // namespace dav
