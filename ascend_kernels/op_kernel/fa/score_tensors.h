// Terms of the scores that come from tensors: an additive bias and a boolean mask, each repeated
// along the axes in which its stride is zero. Their tiles travel with the score tiles.
#ifndef ASCENDFA_FA_SCORE_TENSORS_H
#define ASCENDFA_FA_SCORE_TENSORS_H

#include "../flash_attention_tiling.h"
#include "forward_loop.h"
#include "ub_arena.h"
#include "vector_ops.h"

namespace ascendfa {

// Two tiles of a tensor in UB, and how they are filled.
template <typename T>
class TermTiles {
 public:
  __aicore__ inline void Init(GM_ADDR tensor, const FlashAttentionStrides& strides, UbArena& arena,
                              uint32_t slots, uint32_t elements) {
    tensor_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(tensor));
    strides_ = strides;
    elements_ = elements;
    tiles_ = arena.Take<T>(slots * elements);
  }

  // MTE2: rows [row, row + rows) of the sequence, keys of the step; one row if all are the same.
  __aicore__ inline void Load(const Step& step, uint32_t row, uint32_t rows, uint32_t width,
                              uint32_t slot) const {
    const int64_t start =
        strides_.batch * step.batch + strides_.head * step.q_head + strides_.row * row + step.key;
    const uint32_t bytes = step.keys * sizeof(T);
    const int64_t gap = strides_.row * static_cast<int64_t>(sizeof(T)) - bytes;
    const uint32_t padding = (width * sizeof(T) - AlignUp(bytes, kBlockBytes)) / kBlockBytes;
    const AscendC::DataCopyPadExtParams<T> pad;
    if (Repeated() || (gap >= 0 && gap <= kMaxGap)) {
      const AscendC::DataCopyExtParams params(static_cast<uint16_t>(Repeated() ? 1 : rows), bytes,
                                              static_cast<uint32_t>(Repeated() ? 0 : gap), padding,
                                              0);
      AscendC::DataCopyPad(Tile(slot), tensor_[start], params, pad);
      return;
    }
    // Rows that overlap, or that lie further apart than the copy can express.
    const AscendC::DataCopyExtParams params(1, bytes, 0, 0, 0);
    for (uint32_t i = 0; i < rows; ++i) {
      AscendC::DataCopyPad(Tile(slot)[i * width], tensor_[start + strides_.row * i], params, pad);
    }
  }

  __aicore__ inline AscendC::LocalTensor<T> Tile(uint32_t slot) const {
    return tiles_[slot * elements_];
  }
  // Every row is the same.
  __aicore__ inline bool Repeated() const { return strides_.row == 0; }

 private:
  static constexpr int64_t kMaxGap = 0xFFFFFFFF;

  AscendC::GlobalTensor<T> tensor_;
  FlashAttentionStrides strides_{};
  AscendC::LocalTensor<T> tiles_;
  uint32_t elements_ = 0;
};

// Element is the bias's type.
template <typename Element>
class ScoreTensors {
 public:
  // `elements`: of a slice of scores; `scratch` takes 64 columns of a slice of rows.
  __aicore__ inline void Init(const FlashAttentionTiling& tiling, GM_ADDR bias, GM_ADDR mask,
                              UbArena& arena, const FloatTensor& scratch, uint32_t slots,
                              uint32_t elements) {
    has_bias_ = tiling.has_bias != 0;
    has_mask_ = tiling.has_mask != 0;
    scratch_ = scratch;
    if (has_bias_) {
      bias_.Init(bias, tiling.bias, arena, slots, elements);
    }
    if (has_mask_) {
      mask_.Init(mask, tiling.mask, arena, slots, elements);
      narrow_ = arena.Take<half>(tiling.softmax_rows * kRepeatFloats);
    }
  }

  __aicore__ inline void Load(const Step& step, uint32_t row, uint32_t rows, uint32_t width,
                              uint32_t slot) const {
    if (has_bias_) {
      bias_.Load(step, row, rows, width, slot);
    }
    if (has_mask_) {
      mask_.Load(step, row, rows, width, slot);
    }
  }

  // Columns beyond `keys` keep their scores. Ends with a vector barrier where it does anything.
  __aicore__ inline void Apply(const FloatTensor& scores, const Rows& rows, uint32_t keys,
                               uint32_t slot) {
    if (has_bias_) {
      for (uint32_t column = 0; column < keys; column += kRepeatFloats) {
        AddBias(scores, rows, column, Smaller(kRepeatFloats, keys - column), slot);
      }
      AscendC::PipeBarrier<PIPE_V>();
    }
    if (has_mask_) {
      for (uint32_t column = 0; column < keys; column += kRepeatFloats) {
        HideMasked(scores, rows, column, Smaller(kRepeatFloats, keys - column), slot);
      }
      AscendC::PipeBarrier<PIPE_V>();
    }
  }

 private:
  __aicore__ inline void AddBias(const FloatTensor& scores, const Rows& rows, uint32_t column,
                                 uint32_t lanes, uint32_t slot) {
    const AscendC::LocalTensor<Element> tile = bias_.Tile(slot)[column];
    const uint8_t repeats = static_cast<uint8_t>(bias_.Repeated() ? 1 : rows.count);
    const uint8_t row_stride = static_cast<uint8_t>(rows.width * sizeof(Element) / kBlockBytes);
    if constexpr (sizeof(Element) == sizeof(float)) {
      AscendC::Add(scores[column], scores[column], tile, lanes, static_cast<uint8_t>(rows.count),
                   AscendC::BinaryRepeatParams(1, 1, 1, rows.Stride(), rows.Stride(),
                                               bias_.Repeated() ? 0 : row_stride));
    } else {
      AscendC::Cast(scratch_, tile, AscendC::RoundMode::CAST_NONE, lanes, repeats,
                    AscendC::UnaryRepeatParams(1, 1, kStripStride, row_stride));
      AscendC::PipeBarrier<PIPE_V>();
      AddStrip(scores[column], rows, scratch_, lanes, bias_.Repeated());
    }
  }

  // The logarithm of a truth value is what to add: 0 for true, minus infinity for false.
  __aicore__ inline void HideMasked(const FloatTensor& scores, const Rows& rows, uint32_t column,
                                    uint32_t lanes, uint32_t slot) {
    const uint8_t repeats = static_cast<uint8_t>(mask_.Repeated() ? 1 : rows.count);
    const uint8_t row_stride = static_cast<uint8_t>(rows.width / kBlockBytes);
    constexpr uint8_t kNarrowStride = kRepeatFloats * sizeof(half) / kBlockBytes;
    AscendC::Cast(narrow_, mask_.Tile(slot)[column], AscendC::RoundMode::CAST_NONE, lanes, repeats,
                  AscendC::UnaryRepeatParams(1, 1, kNarrowStride, row_stride));
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Cast(scratch_, narrow_, AscendC::RoundMode::CAST_NONE, lanes, repeats,
                  AscendC::UnaryRepeatParams(1, 1, kStripStride, kNarrowStride));
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Ln(scratch_, scratch_, lanes, repeats, DenseUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AddStrip(scores[column], rows, scratch_, lanes, mask_.Repeated());
  }

  TermTiles<Element> bias_;
  TermTiles<uint8_t> mask_;
  AscendC::LocalTensor<half> narrow_;
  FloatTensor scratch_;
  bool has_bias_ = false;
  bool has_mask_ = false;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_SCORE_TENSORS_H
