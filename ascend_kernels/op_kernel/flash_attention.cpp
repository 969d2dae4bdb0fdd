// Entry of the FlashAttention kernel: one launch on every cube core and its two vector cores, or on
// every core where they are one.
#include "kernel_operator.h"

#include "flash_attention_tiling.h"

#if __NPU_ARCH__ == 1001
#include "fa/forward_loop_coupled.h"
#else
#include "fa/forward_loop_cube.h"
#include "fa/forward_loop_cube_banded.h"
#include "fa/forward_loop_vector.h"

namespace ascendfa {

template <typename Loop>
__aicore__ inline void RunCube(const FlashAttentionTiling& plan, GM_ADDR q, GM_ADDR k, GM_ADDR v,
                               GM_ADDR workspace) {
  AscendC::TPipe pipe;
  Loop loop(pipe, plan);
  loop.Init(q, k, v, workspace, static_cast<uint32_t>(AscendC::GetBlockIdx()));
  loop.Run();
}

__aicore__ inline void RunVector(const FlashAttentionTiling& plan, const ScoreInputs& inputs,
                                 GM_ADDR out, GM_ADDR lse, GM_ADDR workspace) {
  AscendC::TPipe pipe;
  const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
  ForwardLoopVector<DTYPE_Q> loop(pipe, plan);
  loop.Init(inputs, out, lse, workspace, core / kVectorCores, core % kVectorCores);
  loop.Run();
}

}  // namespace ascendfa
#endif

extern "C" __global__ __aicore__ void flash_attention(GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR bias,
                                                      GM_ADDR mask, GM_ADDR alibi_slopes,
                                                      GM_ADDR out, GM_ADDR lse, GM_ADDR workspace,
                                                      GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(FlashAttentionTiling);
  GET_TILING_DATA(plan, tiling);
#if __NPU_ARCH__ == 1001
  // The plan refuses these terms, and needs no workspace.
  static_cast<void>(bias);
  static_cast<void>(mask);
  static_cast<void>(alibi_slopes);
  static_cast<void>(workspace);
  AscendC::TPipe pipe;
  ascendfa::ForwardLoopCoupled loop(pipe, plan);
  loop.Init(q, k, v, out, lse, static_cast<uint32_t>(AscendC::GetBlockIdx()));
  loop.Run();
#else
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  GM_ADDR user_workspace = AscendC::GetUserWorkspace(workspace);
  if ASCEND_IS_AIC {
    using ascendfa::RunCube;
    if (sizeof(DTYPE_Q) != sizeof(half) || plan.piece_keys == 0) {
      RunCube<ascendfa::ForwardLoopCube<DTYPE_Q> >(plan, q, k, v, user_workspace);
    } else {
      RunCube<ascendfa::ForwardLoopCubeBanded<DTYPE_Q> >(plan, q, k, v, user_workspace);
    }
  }
  if ASCEND_IS_AIV {
    const ascendfa::ScoreInputs inputs{bias, mask, alibi_slopes};
    ascendfa::RunVector(plan, inputs, out, lse, user_workspace);
  }
#endif
}
