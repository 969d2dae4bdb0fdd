// Plans one forward launch: block sizes, buffers, workspace. Pure: no device, no CANN types.
#pragma once

#include <cstdint>
#include <string>

#include "../../op_kernel/flash_attention_tiling.h"
#include "capacities.h"
#include "problem.h"

namespace ascendfa {

struct ForwardPlan {
  FlashAttentionTiling tiling{};
  uint32_t block_dim = 0;        // cube cores to launch on
  uint64_t workspace_bytes = 0;  // the kernel's own, beside what the toolchain reserves
  std::string error;             // why there is no plan; empty when there is one

  bool ok() const { return error.empty(); }
};

// Never throws. A plan that would not fit is refused with a message that names the buffer, what it
// would take and what there is.
ForwardPlan PlanForward(const ForwardProblem& problem, const Capacities& capacities);

// Bytes of L1 and UB a plan's kernel occupies.
uint64_t CubeBytes(const FlashAttentionTiling& tiling, uint32_t element_bytes);
uint64_t VectorBytes(const FlashAttentionTiling& tiling, uint32_t element_bytes);

}  // namespace ascendfa
