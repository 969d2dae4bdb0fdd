// Carves the unified buffer into tensors, once, at the start of the kernel.
#ifndef ASCENDFA_FA_UB_ARENA_H
#define ASCENDFA_FA_UB_ARENA_H

#include "../arch/capacities.h"
#include "kernel_operator.h"
#include "seqlen.h"

namespace ascendfa {

class UbArena {
 public:
  __aicore__ inline void Init(AscendC::TPipe& pipe, uint32_t bytes) {
    pipe.InitBuffer(buffer_, bytes);
  }

  template <typename T>
  __aicore__ inline AscendC::LocalTensor<T> Take(uint32_t count) {
    const uint32_t offset = used_;
    used_ += AlignUp(count * sizeof(T), kBlockBytes);
    return buffer_.GetWithOffset<T>(count, offset);
  }

 private:
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer_;
  uint32_t used_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_UB_ARENA_H
