// z = x + 1, unless the case says otherwise.
#include "kernel_operator.h"

#include "crashes.h"
#include "cube_mistakes.h"
#include "group_mistakes.h"
#include "vector_mistakes.h"

extern "C" __global__ __aicore__ void trap_case(GM_ADDR x, GM_ADDR z, GM_ADDR workspace,
                                                GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  KERNEL_TASK_TYPE(1, KERNEL_TYPE_AIV_ONLY);
  REGISTER_TILING_DEFAULT(TrapCaseTiling);
  GET_TILING_DATA(plan, tiling);

  Arguments arguments;
  arguments.x.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), kElements);
  arguments.halves.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(x), kElements * 2);
  arguments.z.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(z), kElements);
  arguments.workspace.SetGlobalBuffer(
      reinterpret_cast<__gm__ float*>(AscendC::GetUserWorkspace(workspace)), kWorkspaceElements);
  AscendC::TPipe pipe;
  if (GroupMistakes(plan.which, arguments)) return;
  if ASCEND_IS_AIC {
    CubeMistakes(arguments).Run(plan.which);
  }
  if ASCEND_IS_AIV {
    if (AscendC::GetSubBlockIdx() == 0) {
      Crash(plan.which, arguments);
      VectorMistakes(pipe, arguments).Run(plan.which);
    }
  }
}
