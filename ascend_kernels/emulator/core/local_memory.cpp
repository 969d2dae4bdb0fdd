#include "core/local_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace dav {
namespace {

constexpr size_t kPage = 4096;

using Shape = std::array<uint32_t, kBufferCount>;

struct Pool {
  std::mutex mutex;
  std::map<Shape, std::vector<std::byte*>> free;
};

Pool& pool() {
  static Pool* p = new Pool;  // leaked: cores may end after static destruction began
  return *p;
}

size_t round_up(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

bool belongs(Buffer b, CoreKind kind) {
  if (b == Buffer::GM) return false;
  if (kind == CoreKind::Coupled) return true;
  return (kind == CoreKind::AIV) == (b == Buffer::UB);
}

}  // namespace

LocalMemory::LocalMemory(const Chip& chip, CoreKind kind) {
  for (int i = 0; i < kBufferCount; ++i) {
    const auto b = static_cast<Buffer>(i);
    if (belongs(b, kind)) bytes_[i] = chip.size_of(b);
    if (bytes_[i] != 0) mapped_ += round_up(bytes_[i]) + kPage;
  }
  {
    std::lock_guard<std::mutex> lock(pool().mutex);
    auto& free = pool().free[bytes_];
    if (!free.empty()) {
      mapping_ = free.back();
      free.pop_back();
    }
  }
  const bool fresh = mapping_ == nullptr;
  if (fresh) {
    void* p = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    mapping_ = static_cast<std::byte*>(p);
  }
  std::byte* next = mapping_;
  for (int i = 0; i < kBufferCount; ++i) {
    if (bytes_[i] == 0) continue;
    base_[i] = next;
    next += round_up(bytes_[i]);
    if (fresh) mprotect(next, kPage, PROT_NONE);
    next += kPage;
  }
}

LocalMemory::~LocalMemory() {
  std::lock_guard<std::mutex> lock(pool().mutex);
  pool().free[bytes_].push_back(mapping_);
}

void LocalMemory::poison() {
  for (int i = 0; i < kBufferCount; ++i) {
    if (bytes_[i] != 0) std::memset(base_[i], 0xff, bytes_[i]);
  }
}

}  // namespace dav
