// Integer division by zero in kernel code.
#pragma once

namespace dav {

// The scalar unit of the chips has no such fault: catlass's matrix products divide by the number of
// tiles of a block that does not exist, in every core's last round, and never use the result. An
// x86 host does fault. Given the context of its signal, steps over the division with what an Arm
// host computes (quotient 0, remainder the dividend; the smallest integer by -1 stays itself).
// False when the instruction is none, or the host no x86.
bool step_over_division(void* context);

}  // namespace dav
