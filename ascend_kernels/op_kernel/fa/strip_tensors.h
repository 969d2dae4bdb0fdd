// Bias and mask on the coupled core, whose copies take whole blocks: a row's share of a strip comes
// as it lies in memory, with the last block's surplus, and is put in the strip's order on its way
// to fp32.
#ifndef ASCENDFA_FA_STRIP_TENSORS_H
#define ASCENDFA_FA_STRIP_TENSORS_H

#include "../arch/capacities.h"
#include "../flash_attention_tiling.h"
#include "kernel_operator.h"
#include "score_inputs.h"
#include "slot_ring.h"
#include "strip_softmax.h"
#include "ub_arena.h"
#include "vector_ops.h"

namespace ascendfa {

// Strips of a tensor in UB: rows of 64 elements, or one row where all are the same.
template <typename T>
class StripTiles {
 public:
  // The caller owes a vector barrier.
  __aicore__ inline void Init(GM_ADDR tensor, const FlashAttentionStrides& strides,
                              const FlashAttentionTiling& tiling, UbArena& arena) {
    tensor_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(tensor));
    strides_ = strides;
    end_ = strides.batch * (tiling.batch - 1) + strides.head * (tiling.q_heads - 1) +
           strides.row * (static_cast<int64_t>(tiling.seq_q) - 1) + tiling.seq_k;
    elements_ = tiling.block_m * kStripKeys;
    tiles_ = arena.Take<T>(kTermSlots * elements_);
    // Rows that pad a task are read, too.
    AscendC::Duplicate(tiles_.template ReinterpretCast<half>(), static_cast<half>(0.0f),
                       static_cast<int32_t>(kTermSlots * elements_ * sizeof(T) / sizeof(half)));
  }

  // MTE2: what belongs to a strip.
  __aicore__ inline void Load(const Strip& strip, uint32_t slot) const {
    const uint32_t rows = Repeated() ? 1 : strip.queries;
    const uint32_t blocks = CeilDiv(strip.keys, kBlockElements);
    const int64_t start = strides_.batch * strip.batch + strides_.head * strip.head +
                          strides_.row * strip.row + strip.key;
    // Rows whose last block would end beyond the tensor.
    const int64_t beyond =
        start + strides_.row * (rows - 1) + static_cast<int64_t>(blocks * kBlockElements) - end_;
    uint32_t whole = rows;
    for (int64_t over = beyond; whole != 0 && over > 0; over -= strides_.row) {
      --whole;
    }
    LoadBlocks(Tile(slot), start, whole, blocks);
    if (whole != rows) {
      LoadElements(strip, slot, start, whole, rows);
    }
  }

  __aicore__ inline AscendC::LocalTensor<T> Tile(uint32_t slot) const {
    return tiles_[slot * elements_];
  }
  // Every row is the same.
  __aicore__ inline bool Repeated() const { return strides_.row == 0; }

 private:
  static constexpr uint32_t kBlockElements = kBlockBytes / sizeof(T);
  static constexpr int64_t kMaxGap = 65535;  // blocks between the bursts of a copy

  __aicore__ inline void LoadBlocks(const AscendC::LocalTensor<T>& tile, int64_t start,
                                    uint32_t rows, uint32_t blocks) const {
    const int64_t gap = strides_.row / kBlockElements - blocks;
    if (rows > 1 && strides_.row % kBlockElements == 0 && gap >= 0 && gap <= kMaxGap) {
      AscendC::DataCopy(
          tile, tensor_[start],
          AscendC::DataCopyParams(static_cast<uint16_t>(rows), static_cast<uint16_t>(blocks),
                                  static_cast<uint16_t>(gap),
                                  static_cast<uint16_t>(kStripKeys / kBlockElements - blocks)));
      return;
    }
    for (uint32_t row = 0; row < rows; ++row) {
      AscendC::DataCopy(tile[row * kStripKeys], tensor_[start + strides_.row * row],
                        AscendC::DataCopyParams(1, static_cast<uint16_t>(blocks), 0, 0));
    }
  }

  __aicore__ inline void LoadElements(const Strip& strip, uint32_t slot, int64_t start,
                                      uint32_t row, uint32_t rows) const {
    const AscendC::LocalTensor<T> tile = Tile(slot);
    AscendC::PipeBarrier<PIPE_ALL>();
    for (; row < rows; ++row) {
      for (uint32_t key = 0; key < strip.keys; ++key) {
        tile.SetValue(row * kStripKeys + key, tensor_.GetValue(start + strides_.row * row + key));
      }
    }
    AscendC::PipeBarrier<PIPE_ALL>();
  }

  AscendC::GlobalTensor<T> tensor_;
  FlashAttentionStrides strides_{};
  int64_t end_ = 0;  // elements from the tensor's first to behind its last
  AscendC::LocalTensor<T> tiles_;
  uint32_t elements_ = 0;
};

class StripTensors {
 public:
  // `scratch` takes a strip. The caller owes a vector barrier.
  __aicore__ inline void Init(const FlashAttentionTiling& tiling, const ScoreInputs& inputs,
                              UbArena& arena, const FloatTensor& scratch) {
    has_bias_ = tiling.has_bias != 0;
    has_mask_ = tiling.has_mask != 0;
    scratch_ = scratch;
    if (has_bias_) {
      bias_.Init(inputs.bias, tiling.bias, tiling, arena);
    }
    if (has_mask_) {
      mask_.Init(inputs.mask, tiling.mask, tiling, arena);
      narrow_ = arena.Take<half>(tiling.block_m * kStripKeys);
    }
  }
  __aicore__ inline bool Any() const { return has_bias_ || has_mask_; }

  __aicore__ inline void Open(AscendC::TPipe& pipe) {
    if (Any()) {
      ring_.Open(pipe, kTermSlots);
    }
  }
  __aicore__ inline void Close(AscendC::TPipe& pipe) {
    if (Any()) {
      ring_.Close(pipe);
    }
  }

  // MTE2: asks for what belongs to a strip. Strips are applied in the order they are asked for.
  __aicore__ inline void Load(const Strip& strip) {
    if (!Any()) {
      return;
    }
    const uint32_t slot = ring_.Acquire();
    if (has_bias_) {
      bias_.Load(strip, slot);
    }
    if (has_mask_) {
      mask_.Load(strip, slot);
    }
    ring_.Publish();
  }

  // Columns beyond the strip's keys become anything. Has a barrier before it touches the scores,
  // the caller owes one.
  __aicore__ inline void Apply(const FloatTensor& scores, const Strip& strip) {
    const uint32_t slot = ring_.Await();
    const int32_t count = static_cast<int32_t>(strip.Elements());
    if (has_mask_) {
      AscendC::Cast(narrow_, mask_.Tile(slot), AscendC::RoundMode::CAST_NONE,
                    (mask_.Repeated() ? 1 : strip.rows) * kStripKeys);
    }
    if (has_bias_) {
      Widen(strip, bias_.Tile(slot), bias_.Repeated());
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Add(scores, scores, scratch_, count);
    }
    if (has_mask_) {
      // The logarithm of a truth value is what to add: 0 for true, minus infinity for false, which
      // halves would make a number.
      AscendC::PipeBarrier<PIPE_V>();
      Widen(strip, narrow_, mask_.Repeated());
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Ln(scratch_, scratch_, count);
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Add(scores, scores, scratch_, count);
    }
    ring_.Release();
  }

 private:
  // Rows of 64 to the scratch strip's columns of 16, four rows per repeat.
  __aicore__ inline void Widen(const Strip& strip, const AscendC::LocalTensor<half>& rows,
                               bool repeated) const {
    constexpr uint32_t kRowBlocks = kStripKeys / kFractalRows;
    constexpr uint32_t kRowsPerRepeat = kRepeatFloats / kFractalRows;
    const AscendC::UnaryRepeatParams params(
        1, static_cast<uint16_t>(repeated ? 0 : kRowBlocks), 8,
        static_cast<uint8_t>(repeated ? 0 : kRowsPerRepeat * kRowBlocks));
    for (uint32_t column = 0; column < strip.columns; column += kFractalRows) {
      AscendC::Cast(scratch_[column * strip.rows], rows[column], AscendC::RoundMode::CAST_NONE,
                    kRepeatFloats, static_cast<uint8_t>(strip.rows / kRowsPerRepeat), params);
    }
  }

  StripTiles<half> bias_;
  StripTiles<uint8_t> mask_;
  AscendC::LocalTensor<half> narrow_;
  FloatTensor scratch_;
  SlotRing<AscendC::HardEvent::MTE2_V, AscendC::HardEvent::V_MTE2> ring_;
  bool has_bias_ = false;
  bool has_mask_ = false;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_STRIP_TENSORS_H
