// Where results go: rows of the output, and their log-sum-exps (MTE3).
#ifndef ASCENDFA_FA_RESULT_TENSORS_H
#define ASCENDFA_FA_RESULT_TENSORS_H

#include "../arch/capacities.h"
#include "../flash_attention_tiling.h"
#include "forward_loop.h"
#include "kernel_operator.h"

namespace ascendfa {

template <typename Element>
class ResultTensors {
 public:
  __aicore__ inline explicit ResultTensors(const FlashAttentionTiling& tiling) : tiling_(tiling) {}

  __aicore__ inline void Init(GM_ADDR out, GM_ADDR lse) {
    out_.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(out));
    lse_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(lse));
  }

  // `row` is counted from the step's first.
  __aicore__ inline void StoreLse(const Step& step, uint32_t row, uint32_t rows,
                                  const AscendC::LocalTensor<float>& staged) const {
    const uint64_t head = static_cast<uint64_t>(step.batch) * tiling_.q_heads + step.q_head;
    const AscendC::DataCopyExtParams params(1, rows * sizeof(float), 0, 0, 0);
    AscendC::DataCopyPad(lse_[head * tiling_.seq_q + step.row + row], staged, params);
  }

  // Staged rows are value_dim_padded elements apart.
  __aicore__ inline void StoreOutput(const Step& step, uint32_t row, uint32_t rows,
                                     const AscendC::LocalTensor<Element>& staged) const {
    const int64_t offset = TensorOffset(tiling_.out, step, step.q_head, step.row + row);
    const uint32_t bytes = tiling_.value_dim * sizeof(Element);
    const uint32_t gap = static_cast<uint32_t>(tiling_.out.row) * sizeof(Element) - bytes;
    const uint32_t width = tiling_.value_dim_padded * sizeof(Element);
    const AscendC::DataCopyExtParams params(static_cast<uint16_t>(rows), bytes,
                                            (width - AlignUp(bytes, kBlockBytes)) / kBlockBytes,
                                            gap, 0);
    AscendC::DataCopyPad(out_[offset], staged, params);
  }

 private:
  const FlashAttentionTiling& tiling_;
  AscendC::GlobalTensor<Element> out_;
  AscendC::GlobalTensor<float> lse_;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_RESULT_TENSORS_H
