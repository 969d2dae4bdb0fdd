// What a key of distance is worth: one slope per head, or per head of each batch.
#ifndef ASCENDFA_FA_ALIBI_SLOPES_H
#define ASCENDFA_FA_ALIBI_SLOPES_H

#include "kernel_operator.h"

namespace ascendfa {

class AlibiSlopes {
 public:
  __aicore__ inline void Init(GM_ADDR slopes, uint32_t batch_stride) {
    slopes_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(slopes));
    batch_stride_ = batch_stride;
  }
  __aicore__ inline float Of(uint32_t batch, uint32_t head) const {
    return slopes_.GetValue(static_cast<uint64_t>(batch) * batch_stride_ + head);
  }

 private:
  AscendC::GlobalTensor<float> slopes_;
  uint32_t batch_stride_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_ALIBI_SLOPES_H
