// Kernels that do not come back in an orderly way.
#pragma once

#include <stdexcept>

#include "arguments.h"

__attribute__((noinline)) inline int Recurse(volatile int* depth) {
  volatile int frame[1024] = {};
  *depth = *depth + 1;
  return frame[*depth % 1024] + Recurse(depth) + 1;
}

__aicore__ inline void Crash(uint64_t which, Arguments& args) {
  volatile int zero = 0;
  switch (which) {
    case CaseId("endless_instructions"):
      for (;;) AscendC::PipeBarrier<PIPE_ALL>();
    case CaseId("endless_loop"):
      for (;;) zero = zero + 1;
    case CaseId("throws"):
      throw std::runtime_error("thrown on purpose");
    case CaseId("null_pointer"):
      *reinterpret_cast<volatile int*>(static_cast<uintptr_t>(zero)) = 1;
      break;
    case CaseId("stack_overflow"):
      zero = Recurse(&zero);
      break;
    case CaseId("trap_called"):
      AscendC::Trap();
      break;
    case CaseId("scalar_past_output"):
      args.z.SetValue(kElements, 1.0f);
      break;
    default:
      break;
  }
}
