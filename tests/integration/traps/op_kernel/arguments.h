#pragma once

#include "kernel_operator.h"
#include "trap_case_tiling.h"

using AscendC::HardEvent;
using Floats = AscendC::LocalTensor<float>;
using GlobalFloats = AscendC::GlobalTensor<float>;

constexpr uint32_t kUbBytes = 192 * 1024;
constexpr uint32_t kL1Bytes = 512 * 1024;
constexpr uint32_t kL0cBytes = 128 * 1024;

struct Arguments {
  GlobalFloats x;
  AscendC::GlobalTensor<half> halves;  // x again
  GlobalFloats z;
  GlobalFloats workspace;
};

template <HardEvent kEvent>
__aicore__ inline void SetAndWait() {
  AscendC::SetFlag<kEvent>(EVENT_ID0);
  AscendC::WaitFlag<kEvent>(EVENT_ID0);
}
