// From raw products to scores: scale, soft cap, distance penalty, bias and masks, in this order.
#ifndef ASCENDFA_FA_SCORE_TERMS_H
#define ASCENDFA_FA_SCORE_TERMS_H

#include "../flash_attention_tiling.h"
#include "alibi.h"
#include "mask.h"
#include "score_inputs.h"
#include "score_tensors.h"
#include "softcap.h"

namespace ascendfa {

template <typename Element>
class ScoreTerms {
 public:
  // `elements`: of a slice of scores; `scratch` takes 64 columns of it. The caller owes a vector
  // barrier.
  __aicore__ inline void Init(const FlashAttentionTiling& tiling, const ScoreInputs& inputs,
                              UbArena& arena, const FloatTensor& scratch, uint32_t slots,
                              uint32_t elements) {
    coordinates_.Init(arena, AlignUp(tiling.block_n, kRepeatFloats));
    window_.Init(arena, coordinates_, scratch);
    tensors_.Init(tiling, inputs.bias, inputs.mask, arena, scratch, slots, elements);
    // Scores that nothing but limits is added to are scaled as they are normalised. The factor
    // must not turn the largest score into the smallest, nor the most negative number into minus
    // infinity.
    later_ = tiling.scale > 0.0f && tiling.scale <= 1.0f && tiling.softcap == 0.0f &&
             tiling.has_alibi == 0 && tiling.has_bias == 0;
    factor_ = tiling.scale;
    capped_ = tiling.softcap != 0.0f;
    if (capped_) {
      softcap_.Init(arena, tiling.softcap);
      factor_ = softcap_.Factor(tiling.scale);
    }
    sloped_ = tiling.has_alibi != 0;
    if (sloped_) {
      alibi_.Init(inputs.alibi_slopes, tiling.alibi_batch_stride, arena, coordinates_, scratch);
    }
  }

  // Whether Apply begins with all columns of the scores, without a vector barrier before.
  __aicore__ inline bool StartsAtOnce() const { return !later_; }
  // What is left to multiply the result of Apply by.
  __aicore__ inline float Remaining() const { return later_ ? factor_ : 1.0f; }

  // MTE2: what belongs to a slice of scores, rows [row, row + rows) of the sequence.
  __aicore__ inline void Load(const Step& step, uint32_t row, uint32_t rows, uint32_t width,
                              uint32_t slot) const {
    tensors_.Load(step, row, rows, width, slot);
  }

  // Once per step, for its rows [row, row + rows). Ends with a vector barrier where it does
  // anything.
  __aicore__ inline void Prepare(const SeqLen& seqlen, const Step& step, uint32_t row,
                                 uint32_t rows, uint32_t width) {
    masked_ = step.ends_early || step.starts_late || step.keys != width;
    if (masked_) {
      window_.Prepare(seqlen, step, row, rows, width);
    }
    if (sloped_) {
      alibi_.Prepare(seqlen, step, row, rows);
    }
    if (masked_ || sloped_) {
      AscendC::PipeBarrier<PIPE_V>();
    }
  }

  // Dense scores of `rows`, the first of them `offset` behind Prepare's. Ends with a barrier.
  __aicore__ inline void Apply(const FloatTensor& scores, const Rows& rows, uint32_t offset,
                               uint32_t keys, uint32_t slot) {
    if (!later_) {
      AscendC::Muls(scores, scores, factor_, kRepeatFloats, DenseRepeats(rows), DenseUnary());
      AscendC::PipeBarrier<PIPE_V>();
    }
    if (capped_) {
      softcap_.Apply(scores, rows);
      AscendC::PipeBarrier<PIPE_V>();
    }
    if (sloped_) {
      alibi_.Apply(scores, rows, offset);
      AscendC::PipeBarrier<PIPE_V>();
    }
    tensors_.Apply(scores, rows, keys, slot);
    if (masked_) {
      window_.Apply(scores, rows, offset);
      AscendC::PipeBarrier<PIPE_V>();
    }
  }

 private:
  TileCoordinates coordinates_;
  WindowMask window_;
  ScoreTensors<Element> tensors_;
  Softcap softcap_;
  Alibi alibi_;
  float factor_ = 1.0f;
  bool later_ = false;
  bool capped_ = false;
  bool sloped_ = false;
  bool masked_ = false;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_SCORE_TERMS_H
