// From raw products to scores on the coupled core: scale, soft cap, distance penalty, bias and
// mask, in the order of score_terms.h. Limits of causal mask and window come after them
// (StripMask).
#ifndef ASCENDFA_FA_STRIP_TERMS_H
#define ASCENDFA_FA_STRIP_TERMS_H

#include "alibi_slopes.h"
#include "softcap.h"
#include "strip_tensors.h"

namespace ascendfa {

// A penalty that grows with the distance between a query's own key and the key it looks at.
class StripAlibi {
 public:
  // `scratch` takes a strip. The caller owes a vector barrier.
  __aicore__ inline void Init(GM_ADDR slopes, const FlashAttentionTiling& tiling, UbArena& arena,
                              const FloatTensor& scratch) {
    slopes_.Init(slopes, tiling.alibi_batch_stride);
    scratch_ = scratch;
    distances_ = arena.Take<float>(tiling.block_m * kSide);
    for (uint32_t lane = 0; lane < kSide; ++lane) {
      uint64_t lanes[2] = {1ULL << lane, 0};
      AscendC::Duplicate(distances_, -static_cast<float>(lane), lanes, 1, 1, 8);
    }
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t rows = 1; rows < tiling.block_m; rows *= 2) {
      const uint32_t more = Smaller(rows, tiling.block_m - rows);
      AscendC::Adds(distances_[rows * kSide], distances_, static_cast<float>(rows),
                    static_cast<int32_t>(more * kSide));
      AscendC::PipeBarrier<PIPE_V>();
    }
  }

  // Has a barrier before it touches the scores, the caller owes one.
  __aicore__ inline void Apply(const FloatTensor& scores, const Strip& strip,
                               const SeqLen& seqlen) const {
    const int32_t count = static_cast<int32_t>(strip.rows * kSide);
    const int64_t own = seqlen.OwnKey(strip.row) - strip.key;
    for (uint32_t column = 0; column < strip.columns; column += kSide) {
      AscendC::Adds(scratch_[column * strip.rows], distances_, static_cast<float>(own - column),
                    count);
    }
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Abs(scratch_, scratch_, static_cast<int32_t>(strip.Elements()));
    AscendC::PipeBarrier<PIPE_V>();
    ScaleStrip(scratch_, strip, -slopes_.Of(strip.batch, strip.head));
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(scores, scores, scratch_, static_cast<int32_t>(strip.Elements()));
  }

 private:
  static constexpr uint32_t kSide = 16;

  AlibiSlopes slopes_;
  FloatTensor distances_;  // row i, lane j: i - j
  FloatTensor scratch_;
};

class StripTerms {
 public:
  // The caller owes a vector barrier.
  __aicore__ inline void Init(const FlashAttentionTiling& tiling, const ScoreInputs& inputs,
                              UbArena& arena) {
    factor_ = tiling.scale;
    capped_ = tiling.softcap != 0.0f;
    sloped_ = tiling.has_alibi != 0;
    any_ = capped_ || sloped_ || tiling.has_bias != 0 || tiling.has_mask != 0;
    if (!any_) {
      return;
    }
    const FloatTensor scratch = arena.Take<float>(tiling.block_m * kStripKeys);
    tensors_.Init(tiling, inputs, arena, scratch);
    if (capped_) {
      softcap_.Init(arena, tiling.softcap);
      factor_ = softcap_.Factor(tiling.scale);
    }
    if (sloped_) {
      alibi_.Init(inputs.alibi_slopes, tiling, arena, scratch);
    }
  }
  // Whether there is more to scores than scale and limits.
  __aicore__ inline bool Any() const { return any_; }

  __aicore__ inline void Open(AscendC::TPipe& pipe) { tensors_.Open(pipe); }
  __aicore__ inline void Close(AscendC::TPipe& pipe) { tensors_.Close(pipe); }

  // MTE2: asks for what belongs to a strip. Strips are applied in the order they are asked for.
  __aicore__ inline void Load(const Strip& strip) { tensors_.Load(strip); }

  // Wants a barrier before, the caller owes one.
  __aicore__ inline void Apply(const FloatTensor& scores, const Strip& strip,
                               const SeqLen& seqlen) {
    ScaleStrip(scores, strip, factor_);
    if (capped_) {
      AscendC::PipeBarrier<PIPE_V>();
      softcap_.Apply(scores, Rows{strip.Elements() / kRepeatFloats, kRepeatFloats});
    }
    // What follows begins with work of its own, and a barrier.
    if (sloped_) {
      alibi_.Apply(scores, strip, seqlen);
    }
    if (tensors_.Any()) {
      tensors_.Apply(scores, strip);
    }
  }

 private:
  Softcap softcap_;
  StripAlibi alibi_;
  StripTensors tensors_;
  float factor_ = 1.0f;
  bool any_ = false;
  bool capped_ = false;
  bool sloped_ = false;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_STRIP_TERMS_H
