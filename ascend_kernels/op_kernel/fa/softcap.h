// score -> cap * tanh(score / cap), as cap - 2 cap / (exp(2 score / cap) + 1): exact at the ends,
// where the exponential is infinite or zero, and off by a few roundings of cap in between.
#ifndef ASCENDFA_FA_SOFTCAP_H
#define ASCENDFA_FA_SOFTCAP_H

#include "ub_arena.h"
#include "vector_ops.h"

namespace ascendfa {

class Softcap {
 public:
  // The caller owes a vector barrier.
  __aicore__ inline void Init(UbArena& arena, float cap) {
    cap_ = cap;
    numerator_ = arena.Take<float>(kBlockFloats);
    AscendC::Duplicate(numerator_, -2.0f * cap, kBlockFloats, 1, 1, 8);
  }

  // What unscaled scores are multiplied by before Apply.
  __aicore__ inline float Factor(float scale) const { return 2.0f * scale / cap_; }

  // Dense scores, multiplied by Factor. The caller owes a vector barrier.
  __aicore__ inline void Apply(const FloatTensor& scores, const Rows& rows) const {
    const uint8_t repeats = DenseRepeats(rows);
    AscendC::Exp(scores, scores, kRepeatFloats, repeats, DenseUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(scores, scores, 1.0f, kRepeatFloats, repeats, DenseUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(scores, numerator_, scores, kRepeatFloats, repeats,
                 AscendC::BinaryRepeatParams(1, 0, 1, kStripStride, 0, kStripStride));
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(scores, scores, cap_, kRepeatFloats, repeats, DenseUnary());
  }

 private:
  FloatTensor numerator_;  // one block
  float cap_ = 1.0f;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_SOFTCAP_H
