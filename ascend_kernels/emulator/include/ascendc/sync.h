// Synchronisation inside a core and between cores, under AscendC's names.
#pragma once

#include "ascendc/base.h"
#include "ascendc/enums.h"
#include "ascendc/system_variables.h"
#include "ascendc/tensor.h"
#include "dav/abi_sync.h"

namespace AscendC {
namespace emulator_detail {

struct EventPipes {
  dav::Pipe src;
  dav::Pipe dst;
};

constexpr EventPipes PipesOf(HardEvent event) {
  using dav::Pipe;
  switch (event) {
    case HardEvent::MTE2_MTE1:
      return {Pipe::MTE2, Pipe::MTE1};
    case HardEvent::MTE1_MTE2:
      return {Pipe::MTE1, Pipe::MTE2};
    case HardEvent::MTE1_M:
      return {Pipe::MTE1, Pipe::M};
    case HardEvent::M_MTE1:
      return {Pipe::M, Pipe::MTE1};
    case HardEvent::MTE2_V:
      return {Pipe::MTE2, Pipe::V};
    case HardEvent::V_MTE2:
      return {Pipe::V, Pipe::MTE2};
    case HardEvent::MTE3_V:
      return {Pipe::MTE3, Pipe::V};
    case HardEvent::V_MTE3:
      return {Pipe::V, Pipe::MTE3};
    case HardEvent::M_V:
      return {Pipe::M, Pipe::V};
    case HardEvent::V_M:
      return {Pipe::V, Pipe::M};
    case HardEvent::V_V:
      return {Pipe::V, Pipe::V};
    case HardEvent::MTE3_MTE1:
      return {Pipe::MTE3, Pipe::MTE1};
    case HardEvent::MTE1_MTE3:
      return {Pipe::MTE1, Pipe::MTE3};
    case HardEvent::MTE1_V:
      return {Pipe::MTE1, Pipe::V};
    case HardEvent::MTE2_M:
      return {Pipe::MTE2, Pipe::M};
    case HardEvent::M_MTE2:
      return {Pipe::M, Pipe::MTE2};
    case HardEvent::V_MTE1:
      return {Pipe::V, Pipe::MTE1};
    case HardEvent::M_FIX:
      return {Pipe::M, Pipe::FIX};
    case HardEvent::FIX_M:
      return {Pipe::FIX, Pipe::M};
    case HardEvent::MTE3_MTE2:
      return {Pipe::MTE3, Pipe::MTE2};
    case HardEvent::MTE2_MTE3:
      return {Pipe::MTE2, Pipe::MTE3};
    case HardEvent::S_V:
      return {Pipe::S, Pipe::V};
    case HardEvent::V_S:
      return {Pipe::V, Pipe::S};
    case HardEvent::S_MTE2:
      return {Pipe::S, Pipe::MTE2};
    case HardEvent::MTE2_S:
      return {Pipe::MTE2, Pipe::S};
    case HardEvent::S_MTE3:
      return {Pipe::S, Pipe::MTE3};
    case HardEvent::MTE3_S:
      return {Pipe::MTE3, Pipe::S};
    case HardEvent::MTE2_FIX:
      return {Pipe::MTE2, Pipe::FIX};
    case HardEvent::FIX_MTE2:
      return {Pipe::FIX, Pipe::MTE2};
    case HardEvent::FIX_S:
      return {Pipe::FIX, Pipe::S};
    case HardEvent::M_S:
      return {Pipe::M, Pipe::S};
    case HardEvent::FIX_MTE3:
      return {Pipe::FIX, Pipe::MTE3};
    case HardEvent::MTE1_FIX:
      return {Pipe::MTE1, Pipe::FIX};
    case HardEvent::FIX_MTE1:
      return {Pipe::FIX, Pipe::MTE1};
    case HardEvent::FIX_FIX:
      return {Pipe::FIX, Pipe::FIX};
    default:
      return {Pipe::ALL, Pipe::ALL};
  }
}

// On a split chip the reference drops events that only the other kind of core can have, so that
// one source serves both.
constexpr bool BelongsToOtherCore(HardEvent event) {
  const EventPipes p = PipesOf(event);
  if (g_coreType == AIC) {
    return event == HardEvent::MTE2_V || event == HardEvent::V_MTE2 || event == HardEvent::MTE3_V ||
           event == HardEvent::V_MTE3 || event == HardEvent::V_V || event == HardEvent::S_V ||
           event == HardEvent::V_S;
  }
  if (g_coreType == AIV) {
    const bool cube_load = (p.src == dav::Pipe::MTE2 && p.dst == dav::Pipe::MTE1) ||
                           (p.src == dav::Pipe::MTE1 && p.dst == dav::Pipe::MTE2);
    const bool cube_feed = (p.src == dav::Pipe::MTE1 && p.dst == dav::Pipe::M) ||
                           (p.src == dav::Pipe::M && p.dst == dav::Pipe::MTE1);
    const bool cube_out = (p.src == dav::Pipe::M && p.dst == dav::Pipe::FIX) ||
                          (p.src == dav::Pipe::FIX && p.dst == dav::Pipe::M);
    return cube_load || cube_feed || cube_out;
  }
  return false;
}

}  // namespace emulator_detail

template <HardEvent event>
__aicore__ inline void SetFlag(int32_t eventID) {
  static_assert(event < HardEvent::MAX, "no such event");
  if constexpr (!emulator_detail::BelongsToOtherCore(event)) {
    constexpr auto p = emulator_detail::PipesOf(event);
    dav::set_flag(p.src, p.dst, eventID);
  }
}

template <HardEvent event>
__aicore__ inline void WaitFlag(int32_t eventID) {
  static_assert(event < HardEvent::MAX, "no such event");
  if constexpr (!emulator_detail::BelongsToOtherCore(event)) {
    constexpr auto p = emulator_detail::PipesOf(event);
    dav::wait_flag(p.src, p.dst, eventID);
  }
}

template <pipe_t src, pipe_t dst>
class TQueSync {
 public:
  __aicore__ inline void SetFlag(uint8_t id) {
    static_assert(src != dst, "a queue does not wait for itself");
    dav::set_flag(dav::pipe_of(src), dav::pipe_of(dst), id);
  }
  __aicore__ inline void WaitFlag(uint8_t id) {
    static_assert(src != dst, "a queue does not wait for itself");
    dav::wait_flag(dav::pipe_of(src), dav::pipe_of(dst), id);
  }
};

template <pipe_t pipe>
__aicore__ inline void PipeBarrier() {
  // A kernel source for both kinds of core may name the other's pipes.
  if constexpr (g_coreType == AIC && pipe == PIPE_V) return;
  if constexpr (g_coreType == AIV && (pipe == PIPE_M || pipe == PIPE_MTE1 || pipe == PIPE_FIX))
    return;
  dav::pipe_barrier(dav::pipe_of(pipe));
}

#if __NPU_ARCH__ != 1001
template <MemDsbT arg0>
__aicore__ inline void DataSyncBarrier() {
  dav::data_sync_barrier();
}
#endif

template <uint8_t modeId, pipe_t pipe>
__aicore__ inline void CrossCoreSetFlag(uint16_t flagId) {
  dav::cross_core_set(modeId, dav::pipe_of(pipe), flagId);
}

// On 2201 the wait holds back the whole core, whatever pipe is named.
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
__aicore__ inline void CrossCoreWaitFlag(uint16_t flagId) {
  dav::cross_core_wait(modeId, dav::Pipe::S, flagId);
}

template <bool isAIVOnly = true>
__aicore__ inline void SyncAll() {
  dav::sync_all(isAIVOnly);
}

template <bool isAIVOnly = true>
__aicore__ inline void SyncAll(const GlobalTensor<int32_t>& gmWorkspace,
                               const LocalTensor<int32_t>& ubWorkspace,
                               const int32_t usedCores = 0) {
  // A block of 32 bytes for each core.
  const int64_t all = isAIVOnly ? GetBlockNum() : GetBlockNum() * GetTaskRatio();
  dav::sync_workspace("SyncAll", ubWorkspace.Operand(), uint64_t{ubWorkspace.GetSize()} * 4,
                      static_cast<uint64_t>(usedCores > 0 ? usedCores : all) * 32);
  dav::soft_sync_all(gmWorkspace.Operand(), usedCores, isAIVOnly);
}

template <bool isAIVOnly = true>
__aicore__ inline void IBSet(const GlobalTensor<int32_t>& gmWorkspace,
                             const LocalTensor<int32_t>& ubWorkspace, int32_t blockIdx,
                             int32_t eventID) {
  dav::sync_workspace("IBSet", ubWorkspace.Operand(), uint64_t{ubWorkspace.GetSize()} * 4, 32);
  dav::ib_set(gmWorkspace.Operand(), blockIdx, eventID, isAIVOnly);
}

template <bool isAIVOnly = true>
__aicore__ inline void IBWait(const GlobalTensor<int32_t>& gmWorkspace,
                              const LocalTensor<int32_t>& ubWorkspace, int32_t blockIdx,
                              int32_t eventID) {
  dav::sync_workspace("IBWait", ubWorkspace.Operand(), uint64_t{ubWorkspace.GetSize()} * 4, 32);
  dav::ib_wait(gmWorkspace.Operand(), blockIdx, eventID, isAIVOnly);
}

// Hand-over between kernels of one super kernel; alone, there is no neighbour to wait for.
template <pipe_t AIV_PIPE = PIPE_MTE3,
          pipe_t AIC_PIPE = __NPU_ARCH__ == 1001 ? PIPE_MTE3 : PIPE_FIX, bool FORCE = false>
__aicore__ inline void SetNextTaskStart() {}
template <bool FORCE = false>
__aicore__ inline void WaitPreTaskEnd() {}

// The base address of the flag unit; the emulator's needs none.
__aicore__ inline void SetSyncBaseAddr(uint64_t config) { (void)config; }

}  // namespace AscendC

// Built-ins of the device compiler that kernels call directly.
__aicore__ inline void set_flag(pipe_t src, pipe_t dst, int32_t id) {
  dav::set_flag(dav::pipe_of(src), dav::pipe_of(dst), id);
}
__aicore__ inline void wait_flag(pipe_t src, pipe_t dst, int32_t id) {
  dav::wait_flag(dav::pipe_of(src), dav::pipe_of(dst), id);
}
__aicore__ inline void pipe_barrier(pipe_t pipe) { dav::pipe_barrier(dav::pipe_of(pipe)); }
