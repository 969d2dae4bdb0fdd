#include "runtime/acl/memory.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <vector>

#include "core/chip.h"
#include "core/settings.h"
#include "dav/launch.h"
#include "runtime/acl/internal.h"

namespace dav::rt {
namespace {

constexpr size_t kAlignment = 512;
// The runtime rounds a request up to 32 bytes and appends 32 more, so that block-wise access to
// the last element stays inside (API reference of aclrtMalloc).
constexpr size_t kPadding = 32;
// Fresh memory holds NaN in every float format: a kernel that relies on zeros shows at once.
constexpr int kPattern = 0xFF;
// 910B: 64 GB of HBM per device (product sheet); the chip table has no figure for every chip.
constexpr uint64_t kDefaultHbm = 64ULL << 30;

struct Allocation {
  size_t requested = 0;
  size_t padded = 0;
  int device = 0;
};

struct Memory {
  std::mutex mutex;
  std::map<uintptr_t, Allocation> live;
  std::map<int, size_t> used;
  std::map<int, uint64_t> pending;  // queued or running tasks
  std::map<int, std::vector<void*>> condemned;
};

// Never destroyed: streams of other static objects may outlive any order we could choose.
Memory& memory() {
  static Memory* instance = new Memory;
  return *instance;
}

uint64_t capacity() {
  try {
    if (const uint64_t set = setting_memory()) return set;
  } catch (const std::exception&) {
    return 0;  // aclInit says why
  }
  const uint64_t published = default_chip().hbm_bytes;
  return published ? published : kDefaultHbm;
}

bool fast_mode() {
  try {
    return setting_mode() == Mode::Fast;
  } catch (const std::exception&) {
    return false;  // aclInit says why
  }
}

void release(void* ptr) {
  gm_unregister(ptr);
  std::free(ptr);
}

}  // namespace

aclError device_malloc(int device, void** out, size_t bytes) {
  const size_t padded = (bytes + 31) / 32 * 32 + kPadding;
  Memory& m = memory();
  {
    std::lock_guard<std::mutex> lock(m.mutex);
    if (bytes > capacity() || m.used[device] + padded > capacity()) {
      return fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  "aclrtMalloc: %zu bytes requested, %zu of %llu bytes in use on device %d", bytes,
                  m.used[device], static_cast<unsigned long long>(capacity()), device);
    }
    m.used[device] += padded;
  }
  const size_t size = (padded + kAlignment - 1) / kAlignment * kAlignment;
  void* ptr = std::aligned_alloc(kAlignment, size);
  if (!ptr) {
    std::lock_guard<std::mutex> lock(m.mutex);
    m.used[device] -= padded;
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMalloc: the host has no %zu bytes left",
                size);
  }
  if (!fast_mode()) std::memset(ptr, kPattern, size);
  gm_register(ptr, padded);
  std::lock_guard<std::mutex> lock(m.mutex);
  m.live[reinterpret_cast<uintptr_t>(ptr)] = {bytes, padded, device};
  *out = ptr;
  return ACL_SUCCESS;
}

aclError device_free(void* ptr) {
  Memory& m = memory();
  {
    std::lock_guard<std::mutex> lock(m.mutex);
    const auto it = m.live.find(reinterpret_cast<uintptr_t>(ptr));
    if (it == m.live.end()) {
      return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFree: %p is no live device allocation", ptr);
    }
    const Allocation allocation = it->second;
    m.live.erase(it);
    m.used[allocation.device] -= allocation.padded;
    if (m.pending[allocation.device] > 0) {
      m.condemned[allocation.device].push_back(ptr);
      return ACL_SUCCESS;
    }
  }
  release(ptr);
  return ACL_SUCCESS;
}

bool in_device_memory(const void* ptr, size_t bytes) {
  Memory& m = memory();
  const auto addr = reinterpret_cast<uintptr_t>(ptr);
  std::lock_guard<std::mutex> lock(m.mutex);
  auto it = m.live.upper_bound(addr);
  if (it == m.live.begin()) return false;
  --it;
  return addr + bytes <= it->first + it->second.padded;
}

void memory_info(int device, size_t* free_bytes, size_t* total_bytes) {
  Memory& m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  *total_bytes = capacity();
  *free_bytes = *total_bytes - m.used[device];
}

void task_queued(int device) {
  Memory& m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  ++m.pending[device];
}

void task_finished(int device) {
  Memory& m = memory();
  std::vector<void*> free_now;
  {
    std::lock_guard<std::mutex> lock(m.mutex);
    if (--m.pending[device] == 0) free_now.swap(m.condemned[device]);
  }
  for (void* ptr : free_now) release(ptr);
}

}  // namespace dav::rt
