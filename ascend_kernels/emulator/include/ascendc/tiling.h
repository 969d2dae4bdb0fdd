// What ties a kernel to its host side: tiling data, tiling keys, kernel type, workspace.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ascendc/base.h"
#include "dav/abi_sync.h"

namespace dav {

// Set by the entry of a kernel object for the launch that runs on this thread.
inline thread_local uint64_t kernel_tiling_key = 0;

template <typename T>
__aicore__ inline void copy_tiling(T* destination, const uint8_t* source) {
  static_assert(std::is_trivially_copyable<T>::value, "tiling data is copied byte by byte");
  std::memcpy(static_cast<void*>(destination), source, sizeof(T));
}

}  // namespace dav

// Kernel types are read by the kernel compiler, which scans the preprocessed source for them.
#ifdef __DAV_KERNEL_SCAN__
#define KERNEL_TASK_TYPE_DEFAULT(type) __dav_kernel_type_default(type)
#define KERNEL_TASK_TYPE(key, type) __dav_kernel_type(key, type)
#else
#define KERNEL_TASK_TYPE_DEFAULT(type) static_assert(true, "")
#define KERNEL_TASK_TYPE(key, type) static_assert(true, "")
#endif

// The struct GET_TILING_DATA copies into.
#define REGISTER_TILING_DEFAULT(type) using DavTilingDefault = type
// A kernel with structs per key names them at each GET_TILING_DATA_WITH_STRUCT.
#define REGISTER_TILING_FOR_TILINGKEY(condition, type) static_assert(sizeof(type) > 0, "")

#define GET_TILING_DATA_WITH_STRUCT(type, name, address) \
  type name;                                             \
  dav::copy_tiling(&name, address)
#define GET_TILING_DATA(name, address) GET_TILING_DATA_WITH_STRUCT(DavTilingDefault, name, address)
#define GET_TILING_DATA_MEMBER(type, member, name, address)                         \
  decltype(type::member) name;                                                      \
  do {                                                                              \
    type dav_whole_##name;                                                          \
    dav::copy_tiling(&dav_whole_##name, address);                                   \
    std::memcpy(static_cast<void*>(&name), &dav_whole_##name.member, sizeof(name)); \
  } while (false)
#define GET_TILING_DATA_PTR_WITH_STRUCT(type, name, address) \
  const type* name = reinterpret_cast<const type*>(address)

#define TILING_KEY_VAR (dav::kernel_tiling_key)
#define TILING_KEY_IS(key) (dav::kernel_tiling_key == static_cast<uint64_t>(key))

namespace AscendC {

// What the kernel library keeps for itself in front of the user's workspace (API reference).
#if __NPU_ARCH__ == 1001
constexpr uint64_t RESERVED_WORKSPACE = 2ULL << 20;
#else
constexpr uint64_t RESERVED_WORKSPACE = 16ULL << 20;
#endif

__aicore__ inline void SetSysWorkspaceForce(GM_ADDR workspace) {
  dav::set_slot(dav::Slot::SysWorkspace, workspace);
}
__aicore__ inline void SetSysWorkspace(GM_ADDR workspace) {
  if (dav::slot(dav::Slot::SysWorkspace) == nullptr) SetSysWorkspaceForce(workspace);
}
__aicore__ inline GM_ADDR GetSysWorkSpacePtr() {
  return static_cast<GM_ADDR>(dav::slot(dav::Slot::SysWorkspace));
}
// The user's part of the workspace a kernel was handed.
__aicore__ inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) {
  if (workspace == nullptr) return nullptr;
  return workspace + RESERVED_WORKSPACE;
}

}  // namespace AscendC
