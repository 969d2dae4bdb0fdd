// Entry of the FlashAttention kernel: one launch on every cube core and its two vector cores, or on
// every core where they are one.
#include "kernel_operator.h"

#include "flash_attention_tiling.h"

#if __NPU_ARCH__ == 1001
#include "fa/forward_loop_coupled.h"
#else
#include "fa/forward_pass.h"
#endif

extern "C" __global__ __aicore__ void flash_attention(GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR bias,
                                                      GM_ADDR mask, GM_ADDR alibi_slopes,
                                                      GM_ADDR out, GM_ADDR lse, GM_ADDR workspace,
                                                      GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(FlashAttentionTiling);
  GET_TILING_DATA(plan, tiling);
#if __NPU_ARCH__ == 1001
  static_cast<void>(workspace);  // the plan needs none
  AscendC::TPipe pipe;
  ascendfa::ForwardLoopCoupled loop(pipe, plan);
  loop.Init(q, k, v, ascendfa::ScoreInputs{bias, mask, alibi_slopes}, out, lse,
            static_cast<uint32_t>(AscendC::GetBlockIdx()));
  loop.Run();
#else
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  GM_ADDR user_workspace = AscendC::GetUserWorkspace(workspace);
  if ASCEND_IS_AIC {
    ascendfa::ForwardCube<DTYPE_Q>(plan, q, k, v, user_workspace);
  }
  if ASCEND_IS_AIV {
    const ascendfa::ScoreInputs inputs{bias, mask, alibi_slopes};
    ascendfa::ForwardVector<DTYPE_Q>(plan, inputs, out, lse, user_workspace);
  }
#endif
}
