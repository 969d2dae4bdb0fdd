// What the Ascend C headers call to synchronise, to know which core they run on, and to keep the
// state that the hardware keeps per core.
#pragma once

#include <cstdint>

#include "dav/api.h"
#include "dav/types.h"

namespace dav {

// Where the running core stands. On a group with AIC and AIVs block_idx() is the group's number on
// the AIC and group * AIVs + AIV number on an AIV; block_num() is the launch's block count on both.
DAV_API int64_t block_idx();
DAV_API int64_t block_num();
DAV_API int64_t sub_block_idx();
DAV_API int64_t sub_block_num();
DAV_API int64_t group_idx();     // the same on all cores of a group
DAV_API int64_t system_cycle();  // nanoseconds of a steady clock
DAV_API uint32_t arch_version();

// In-core flags, one bit per source pipe, destination pipe and id.
DAV_API void set_flag(Pipe src, Pipe dst, int32_t id);
DAV_API void wait_flag(Pipe src, Pipe dst, int32_t id);
DAV_API void pipe_barrier(Pipe pipe);
// Orders the scalar unit's own accesses; the emulator has no store buffer, so it is only counted.
DAV_API void data_sync_barrier();

// Event ids as TPipe hands them out: the lowest free one of the pipe pair. -1 when all are taken.
DAV_API int32_t alloc_event_id(Pipe src, Pipe dst);
DAV_API void release_event_id(Pipe src, Pipe dst, int32_t id);
// The lowest free id without taking it.
DAV_API int32_t fetch_event_id(Pipe src, Pipe dst);

// Cross-core flags.
DAV_API void cross_core_set(int mode, Pipe pipe, uint32_t id);
// `mode` is what the kernel states; the counter does not know it.
DAV_API void cross_core_wait(int mode, Pipe pipe, uint32_t id);
// The hardware barrier over all cores of the launch.
DAV_API void sync_all(bool aiv_only);
// The software barrier: the first `used` AIVs (0 = all) meet through global memory.
DAV_API void soft_sync_all(uint64_t gm_workspace, int32_t used, bool aiv_only);
// Core-to-core events kept in global memory: set waits until the slot is free.
// The working memory in UB of these: of `have` bytes, `need` get overwritten.
DAV_API void sync_workspace(const char* name, Local ub, uint64_t have, uint64_t need);
DAV_API void ib_set(uint64_t gm_workspace, int32_t block, int32_t event, bool aiv_only);
DAV_API void ib_wait(uint64_t gm_workspace, int32_t block, int32_t event, bool aiv_only);
// Blocks one after another (WaitPreBlock, NotifyNextBlock), over words in global memory.
DAV_API void order_blocks_init(uint64_t gm_workspace, uint32_t ub_offset);
DAV_API void order_blocks_wait(uint64_t gm_workspace);
DAV_API void order_blocks_notify(uint64_t gm_workspace);
// Lets other cores run: a kernel polls memory that another one writes.
DAV_API void poll();

// Cache maintenance of the scalar unit's data cache over [addr, addr + bytes); 0 bytes = all of it.
DAV_API void data_cache_clean_invalidate(uint64_t addr, uint64_t bytes);

// Variables that the device compiler keeps block-local.
enum class Slot : uint8_t { TPipe, SysWorkspace, UserWorkspace, Tiling, Kfc, Count };
DAV_API void* slot(Slot slot);
DAV_API void set_slot(Slot slot, void* value);

// Vector mask. In counter mode `low` is the number of elements.
DAV_API void set_mask_mode(bool counter);
DAV_API void set_vector_mask(uint64_t high, uint64_t low);
// Atomic stores to global memory.
enum class Atomic : uint8_t { None, Add, Max, Min };
DAV_API void set_atomic(Atomic op, DType type);
// The state a kernel begins in: no atomics, full mask, normal mask mode.
DAV_API void init_soc_state();
DAV_API uint64_t ctrl();
DAV_API void set_ctrl(uint64_t value);

// Refuses something the kernel did; the report names core and call site. printf-style.
[[noreturn]] DAV_API void raise_unbalanced(const char* what, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
[[noreturn]] DAV_API void raise_illegal(const char* what, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
// AscendC::Trap().
[[noreturn]] DAV_API void raise_trap();

}  // namespace dav
