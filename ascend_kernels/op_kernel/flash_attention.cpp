// Entry of the FlashAttention kernel, one launch on every cube core and its two vector cores.
#include "kernel_operator.h"

#include "flash_attention_tiling.h"

#include "fa/forward_loop_cube.h"
#include "fa/forward_loop_vector.h"

extern "C" __global__ __aicore__ void flash_attention(GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR bias,
                                                      GM_ADDR mask, GM_ADDR alibi_slopes,
                                                      GM_ADDR out, GM_ADDR lse, GM_ADDR workspace,
                                                      GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  REGISTER_TILING_DEFAULT(FlashAttentionTiling);
  GET_TILING_DATA(plan, tiling);

  GM_ADDR user_workspace = AscendC::GetUserWorkspace(workspace);
  AscendC::TPipe pipe;
  if ASCEND_IS_AIC {
    ascendfa::ForwardLoopCube<DTYPE_Q> loop(pipe, plan);
    loop.Init(q, k, v, user_workspace, static_cast<uint32_t>(AscendC::GetBlockIdx()));
    loop.Run();
  }
  if ASCEND_IS_AIV {
    const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    ascendfa::ForwardLoopVector<DTYPE_Q> loop(pipe, plan);
    loop.Init({bias, mask, alibi_slopes}, out, lse, user_workspace, core / ascendfa::kVectorCores,
              core % ascendfa::kVectorCores);
    loop.Run();
  }
}
