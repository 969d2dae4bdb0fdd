// The AIVs of a launch one after another, in the order of their numbers: every block runs what
// stands between WaitPreBlock and NotifyNextBlock before the next one does, round by round.
#pragma once

#include "ascendc/sync.h"
#include "ascendc/tensor.h"

namespace AscendC {
namespace emulator_detail {

inline void OrderWorkspace(const char* name, const LocalTensor<int32_t>& ub) {
  dav::sync_workspace(name, ub.Operand(), uint64_t{ub.GetSize()} * 4,
                      static_cast<uint64_t>(GetBlockNum()) * 32 + 32);
}

}  // namespace emulator_detail

// Clears the blocks' words of the workspace, which need not hold anything defined before.
__aicore__ inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t>& gmWorkspace,
                                                     LocalTensor<int32_t>& ubWorkspace) {
  if constexpr (g_coreType == AIC) return;
  emulator_detail::OrderWorkspace("InitDetermineComputeWorkspace", ubWorkspace);
  dav::order_blocks_init(gmWorkspace.Operand(), ubWorkspace.Operand().addr);
}
__aicore__ inline void WaitPreBlock(GlobalTensor<int32_t>& gmWorkspace,
                                    LocalTensor<int32_t>& ubWorkspace) {
  if constexpr (g_coreType == AIC) return;
  emulator_detail::OrderWorkspace("WaitPreBlock", ubWorkspace);
  dav::order_blocks_wait(gmWorkspace.Operand());
}
__aicore__ inline void NotifyNextBlock(GlobalTensor<int32_t>& gmWorkspace,
                                       LocalTensor<int32_t>& ubWorkspace) {
  if constexpr (g_coreType == AIC) return;
  emulator_detail::OrderWorkspace("NotifyNextBlock", ubWorkspace);
  dav::order_blocks_notify(gmWorkspace.Operand());
}

}  // namespace AscendC
