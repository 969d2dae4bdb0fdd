// Block-local variables of kernels. Kernel objects declare them thread_local; as several cores
// share a thread, each core's copy of the kernel object's thread-local storage is exchanged when
// the core is switched in and out.
#pragma once

#include <cstddef>
#include <vector>

namespace dav {

// The thread-local storage template of the shared object that holds an entry point.
struct BlockLocalImage {
  const std::byte* initial = nullptr;
  size_t initial_bytes = 0;
  size_t bytes = 0;  // 0: the object has no such variables
  size_t module = 0;
};

// Nothing for an entry in the main program, whose thread-locals are the host's own.
BlockLocalImage find_block_locals(const void* entry);

class BlockLocals {
 public:
  // On the thread that will run the core.
  void start(const BlockLocalImage& image);
  void switch_in();
  void switch_out();

 private:
  std::vector<std::byte> saved_;
  std::byte* live_ = nullptr;
};

}  // namespace dav
