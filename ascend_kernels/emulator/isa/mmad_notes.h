// What one Mmad reads and writes, for check mode.
#pragma once

#include "core/instruction.h"
#include "dav/types.h"
#include "isa/mmad_panels.h"

namespace dav::cube {

// Records the accesses to the valid lanes of A, B and C; `accumulates` when C is read too.
//
// Kernels round m up to whole fractals and never read the surplus rows of C (catlass's matrix
// products do). So a row of A or a column of B without values is no error here: it takes the value
// from its row or column of C, and reading that is one. Where nothing of C would have a value,
// this Mmad is reported.
void note_mmad(Instruction& in, const MmadShape& shape, Local a, Local b, Local c,
               bool accumulates);

}  // namespace dav::cube
