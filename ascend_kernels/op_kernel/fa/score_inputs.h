// Optional tensors that add to the scores, or hide some of them.
#ifndef ASCENDFA_FA_SCORE_INPUTS_H
#define ASCENDFA_FA_SCORE_INPUTS_H

#include "kernel_operator.h"

namespace ascendfa {

// Addresses in global memory; null where the call has none.
struct ScoreInputs {
  GM_ADDR bias;
  GM_ADDR mask;
  GM_ADDR alibi_slopes;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_SCORE_INPUTS_H
