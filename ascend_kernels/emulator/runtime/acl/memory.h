// Device memory is host memory that is accounted for: who owns it, how large it is, and whether a
// queued task may still use it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"

namespace dav::rt {

aclError device_malloc(int device, void** out, size_t bytes);
aclError device_free(void* ptr);
// True when [ptr, ptr + bytes) lies within one live device allocation.
bool in_device_memory(const void* ptr, size_t bytes);
void memory_info(int device, size_t* free_bytes, size_t* total_bytes);

// Streams report their tasks, because memory freed while tasks are queued must outlive them.
void task_queued(int device);
void task_finished(int device);

}  // namespace dav::rt
