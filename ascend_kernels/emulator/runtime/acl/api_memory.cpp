// aclrtMalloc, aclrtFree, aclrtMemcpy, aclrtMemset and their relatives.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "acl/acl_rt.h"
#include "runtime/acl/contexts.h"
#include "runtime/acl/internal.h"
#include "runtime/acl/launch_support.h"
#include "runtime/acl/memory.h"

using dav::rt::fail;
using dav::rt::in_device_memory;

namespace {

struct HostMemory {
  std::mutex mutex;
  std::unordered_set<void*> live;
};
// Never destroyed: threads may still free while the process ends.
HostMemory& host_memory() {
  static auto* memory = new HostMemory;
  return *memory;
}

// Microseconds inside each asynchronous copy: exposes a missing wait between streams.
void copy_delay() {
  static const auto delay = dav::rt::delay_of(dav::Delay::Copy);
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
}

aclError check_device_range(const char* function, const char* operand, const void* ptr,
                            size_t bytes) {
  if (in_device_memory(ptr, bytes)) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %s [%p, +%zu) lies in no live device allocation",
              function, operand, ptr, bytes);
}

aclError check_copy(const char* function, const void* dst, size_t dst_max, const void* src,
                    size_t count, aclrtMemcpyKind kind) {
  if (count == 0) return ACL_SUCCESS;
  if (!dst || !src) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %s is null", function, dst ? "src" : "dst");
  }
  if (count > dst_max) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: count %zu exceeds destMax %zu", function, count,
                dst_max);
  }
  if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_DEFAULT) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: kind %d is none of aclrtMemcpyKind", function,
                static_cast<int>(kind));
  }
  if (kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE) {
    if (aclError error = check_device_range(function, "dst", dst, count)) return error;
  }
  if (kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE) {
    if (aclError error = check_device_range(function, "src", src, count)) return error;
  }
  return ACL_SUCCESS;
}

aclError check_set(const char* function, const void* ptr, size_t max, size_t count) {
  if (count > max) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: count %zu exceeds maxCount %zu", function, count,
                max);
  }
  return count == 0 ? ACL_SUCCESS : check_device_range(function, "devPtr", ptr, count);
}

}  // namespace

extern "C" {

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  if (!devPtr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtMalloc: devPtr is null");
  *devPtr = nullptr;
  if (size == 0) return fail(ACL_ERROR_INVALID_PARAM, "aclrtMalloc: size is 0");
  const int device = dav::rt::current_device();
  if (device < 0) {
    return fail(ACL_ERROR_RT_CONTEXT_NULL,
                "aclrtMalloc: this thread has no context; call aclrtSetDevice first");
  }
  return dav::rt::device_malloc(device, devPtr, size);
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return aclrtMalloc(devPtr, size, policy);
}

aclError aclrtFree(void* devPtr) {
  if (!devPtr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtFree: devPtr is null");
  return dav::rt::device_free(devPtr);
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  if (!hostPtr || size == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtMallocHost: %s",
                hostPtr ? "size is 0" : "hostPtr is null");
  }
  *hostPtr = std::aligned_alloc(64, (size + 63) / 64 * 64);
  if (!*hostPtr) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMallocHost: no %zu bytes left", size);
  }
  HostMemory& host = host_memory();
  std::lock_guard<std::mutex> lock(host.mutex);
  host.live.insert(*hostPtr);
  return ACL_SUCCESS;
}

aclError aclrtFreeHost(void* hostPtr) {
  if (!hostPtr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtFreeHost: hostPtr is null");
  HostMemory& host = host_memory();
  std::lock_guard<std::mutex> lock(host.mutex);
  if (host.live.erase(hostPtr) == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtFreeHost: %p is not from aclrtMallocHost", hostPtr);
  }
  std::free(hostPtr);
  return ACL_SUCCESS;
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  if (aclError error = check_set("aclrtMemset", devPtr, maxCount, count)) return error;
  if (count) std::memset(devPtr, value, count);
  return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  if (aclError error = check_set("aclrtMemsetAsync", devPtr, maxCount, count)) return error;
  return dav::rt::enqueue(stream, [=] {
    copy_delay();
    if (count) std::memset(devPtr, value, count);
  });
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  if (aclError error = check_copy("aclrtMemcpy", dst, destMax, src, count, kind)) return error;
  if (count) std::memmove(dst, src, count);
  return ACL_SUCCESS;
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  if (aclError error = check_copy("aclrtMemcpyAsync", dst, destMax, src, count, kind)) return error;
  return dav::rt::enqueue(stream, [=] {
    copy_delay();
    if (count) std::memmove(dst, src, count);
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t* freeBytes, size_t* totalBytes) {
  if (!freeBytes || !totalBytes) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo: free and total must not be null");
  }
  const int device = dav::rt::current_device();
  if (device < 0) {
    return fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtGetMemInfo: this thread has no context");
  }
  dav::rt::memory_info(device, freeBytes, totalBytes);
  return ACL_SUCCESS;
}

}  // extern "C"
