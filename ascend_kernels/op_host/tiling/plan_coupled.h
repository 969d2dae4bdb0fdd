// The part of a forward plan that differs where cube and vector unit are one core.
#pragma once

#include <string>

#include "capacities.h"
#include "problem.h"

namespace ascendfa {

// Completes a tiling that describes the problem: blocks, buffers, order of the tasks, cores.
// Returns an empty string, or why there is no plan.
std::string PlanCoupled(const ForwardProblem& problem, const Capacities& capacities,
                        FlashAttentionTiling& tiling);

// Bytes of L1 and UB the kernel occupies.
uint64_t CoupledL1Bytes(const FlashAttentionTiling& tiling);
uint64_t CoupledUbBytes(const FlashAttentionTiling& tiling);

}  // namespace ascendfa
