// Whether a forward launch hands its scores over as fp16, relative to a reference per row, and how.
#pragma once

#include "problem.h"

namespace ascendfa {

// Completes a plan with bands: enables the referenced loop where it suits the problem, and places
// what it needs at the same addresses as the other loops', which never run at the same time.
// Returns the bytes of a core group's part of the workspace.
uint64_t PlanReferenced(const ForwardProblem& problem, FlashAttentionTiling& tiling);

}  // namespace ascendfa
