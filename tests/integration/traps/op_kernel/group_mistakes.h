// What cores can do wrong together. Tells whether it knows the case.
#pragma once

#include "arguments.h"

__aicore__ inline bool GroupMistakes(uint64_t which, const Arguments& args) {
  const bool first = AscendC::GetSubBlockIdx() == 0;
  switch (which) {
    case CaseId("race_between_cores"):
      if ASCEND_IS_AIV {
        Floats ub(AscendC::TPosition::VECCALC, 0, 64);
        if (first) {
          AscendC::Duplicate(ub, 1.0f, 64);
          SetAndWait<HardEvent::V_MTE3>();
          AscendC::DataCopy(args.workspace, ub, 64);
        } else {
          AscendC::DataCopy(ub, args.workspace, 64);
        }
      }
      return true;
    case CaseId("deadlock"):
      if ASCEND_IS_AIC {
        AscendC::CrossCoreWaitFlag(5);
      } else if (first) {
        // The other vector core of the pair never does.
        AscendC::CrossCoreSetFlag<2, PIPE_MTE3>(5);
      }
      return true;
    case CaseId("cross_flag_id"):
      if ASCEND_IS_AIV {
        AscendC::CrossCoreSetFlag<2, PIPE_MTE3>(16);
      }
      return true;
    case CaseId("cross_flag_left"):
      if ASCEND_IS_AIC {
        AscendC::CrossCoreSetFlag<2, PIPE_FIX>(6);
      }
      return true;
    case CaseId("cross_flag_overflow"):
      if ASCEND_IS_AIC {
        for (int i = 0; i < 16; ++i) AscendC::CrossCoreSetFlag<2, PIPE_FIX>(7);
      }
      return true;
    case CaseId("flag_in_vector_kernel"):
      AscendC::CrossCoreSetFlag<0, PIPE_MTE3>(4);
      return true;
    default:
      return false;
  }
}
