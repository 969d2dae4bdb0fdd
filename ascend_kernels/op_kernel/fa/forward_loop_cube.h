// The cube core's half of the forward pass: S = Q K^T for the step at the head of the pipeline,
// then O = P V for the step `lag` behind it. One band per task, any head dimension.
#ifndef ASCENDFA_FA_FORWARD_LOOP_CUBE_H
#define ASCENDFA_FA_FORWARD_LOOP_CUBE_H

#include "../arch/capacities.h"
#include "../arch/cube_vector_bridge.h"
#include "../arch/tile_copy.h"
#include "forward_loop.h"
#include "kernel_operator.h"
#include "slot_ring.h"

namespace ascendfa {

template <typename Element>
class ForwardLoopCube {
 public:
  __aicore__ inline ForwardLoopCube(AscendC::TPipe& pipe, const FlashAttentionTiling& tiling)
      : pipe_(pipe), tiling_(tiling) {}

  __aicore__ inline void Init(GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR workspace, uint32_t group) {
    q_.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(q));
    k_.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(k));
    v_.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(v));
    bridge_.Init(tiling_, workspace, group);
    tasks_ = ForwardTasks(tiling_, group);

    if constexpr (sizeof(Element) == sizeof(float)) {
      AscendC::SetHF32Mode(AscendC::HF32Mode::DISABLE);
    }
    key_parts_ = CeilDiv(tiling_.head_dim_padded, kDepth);
    value_parts_ = CeilDiv(tiling_.value_dim_padded, kCubeEdge);
    query_elements_ = tiling_.block_m * tiling_.head_dim_padded;
    key_elements_ = tiling_.key_chunk * tiling_.head_dim_padded;
    value_elements_ = tiling_.key_chunk * tiling_.value_dim_padded;
    weight_elements_ = tiling_.block_m * tiling_.key_chunk;
    product_elements_ = kL0cBytes / sizeof(float) / tiling_.product_slots;
    const uint32_t slots = tiling_.kv_slots;
    const uint32_t l1_elements = kQuerySlots * query_elements_ +
                                 slots * (key_elements_ + value_elements_ + weight_elements_);
    pipe_.InitBuffer(l1_buffer_, l1_elements * sizeof(Element));
    pipe_.InitBuffer(l0a_buffer_, kL0aBytes);
    pipe_.InitBuffer(l0b_buffer_, kL0bBytes);
    pipe_.InitBuffer(l0c_buffer_, kL0cBytes);
    queries_ = l1_buffer_.template Get<Element>();
    keys_ = queries_[kQuerySlots * query_elements_];
    values_ = keys_[slots * key_elements_];
    weights_ = values_[slots * value_elements_];
    left_ = l0a_buffer_.template Get<Element>();
    right_ = l0b_buffer_.template Get<Element>();
    product_ = l0c_buffer_.template Get<float>();
  }

  __aicore__ inline void Run(const Rounds& rounds = Rounds()) {
    tasks_.Select(rounds);
    OpenRings();
    StepCursor head(tiling_, tasks_);
    StepCursor tail = head;
    for (uint32_t step = 0; tail.Valid(); ++step) {
      if (head.Valid()) {
        Scores(head.Current());
        head.Next();
      }
      if (step >= tiling_.lag) {
        Values(tail.Current());
        tail.Next();
      }
    }
    CloseRings();
  }

 private:
  // S tile = Q block x K tile^T, a chunk of keys at a time.
  __aicore__ inline void Scores(const Step& step) {
    if (step.first) {
      const uint32_t slot = query_ring_.Acquire();
      LoadTile(queries_[slot * query_elements_],
               q_[Offset(tiling_.q, step.batch, step.q_head, step.row)], step.rows,
               tiling_.head_dim, tiling_.q.row);
      query_ring_.Publish();
      query_slot_ = query_ring_.Await();
    }
    const uint32_t m = AlignUp(step.rows, kFractalRows);
    // Slices of a wide query block come anew for each chunk, few enough stay for the tile.
    uint32_t left_slots[kL0Slots];
    const bool kept = key_parts_ <= kL0Slots;
    for (uint32_t part = 0; kept && part < key_parts_; ++part) {
      left_slots[part] = LoadQueries(m, part);
    }
    const AscendC::GlobalTensor<float> scores = bridge_.Scores(step.slot);
    for (uint32_t col = 0; col < step.keys; col += tiling_.key_chunk) {
      const uint32_t keys = Smaller(tiling_.key_chunk, step.keys - col);
      ScoreChunk(step, scores[bridge_.PanelOffset(col)], kept ? left_slots : nullptr, m, col, keys);
    }
    if (step.last) {
      query_ring_.Release();
    }
    bridge_.ScoresReady();
  }

  // A slice of the query block to L0A.
  __aicore__ inline uint32_t LoadQueries(uint32_t m, uint32_t part) {
    const uint32_t slot = left_ring_.Acquire();
    LoadLeft(left_[slot * kOperandElements], queries_[query_slot_ * query_elements_], m,
             part * kDepth, KeyDims(part));
    return slot;
  }

  // `left_slots`: where the slices of the query block are, null if they come chunk by chunk.
  __aicore__ inline void ScoreChunk(const Step& step, const AscendC::GlobalTensor<float>& scores,
                                    const uint32_t* left_slots, uint32_t m, uint32_t col,
                                    uint32_t keys) {
    const uint32_t n = AlignUp(keys, kFractalRows);
    const bool last_use = left_slots == nullptr || col + keys == step.keys;
    LoadTile(keys_[key_ring_.Acquire() * key_elements_],
             k_[Offset(tiling_.k, step.batch, step.kv_head, step.key + col)], keys,
             tiling_.head_dim, tiling_.k.row);
    key_ring_.Publish();
    const AscendC::LocalTensor<Element> chunk = keys_[key_ring_.Await() * key_elements_];
    const uint32_t product = product_ring_.Acquire();
    for (uint32_t part = 0; part < key_parts_; ++part) {
      const uint32_t left = left_slots != nullptr ? left_slots[part] : LoadQueries(m, part);
      LoadRightTransposed(right_[right_ring_.Acquire() * kOperandElements], chunk, n, part * kDepth,
                          KeyDims(part));
      right_ring_.Publish();
      const uint32_t right = right_ring_.Await();
      Multiply(product_[product * product_elements_], left_[left * kOperandElements],
               right_[right * kOperandElements], m, n, KeyDims(part), part != 0);
      right_ring_.Release();
      if (last_use) {
        left_ring_.Release();
      }
    }
    key_ring_.Release();
    product_ring_.Publish();
    StoreProduct(scores, product_[product_ring_.Await() * product_elements_], step.rows, n,
                 kCubeEdge);
    product_ring_.Release();
  }

  // Partial O = P tile x V tile, summed over the tile's keys in L0C.
  __aicore__ inline void Values(const Step& step) {
    const uint32_t m = AlignUp(step.rows, kFractalRows);
    const AscendC::GlobalTensor<Element> weights = bridge_.Weights(step.slot);
    uint32_t products[kMaxValueParts];
    for (uint32_t part = 0; part < value_parts_; ++part) {
      products[part] = product_ring_.Acquire();
    }
    for (uint32_t col = 0; col < step.keys; col += tiling_.key_chunk) {
      const uint32_t keys = Smaller(tiling_.key_chunk, step.keys - col);
      ValueChunk(step, weights[bridge_.PanelOffset(col)], products, m, col, keys);
    }
    const AscendC::GlobalTensor<float> partials = bridge_.Partials(step.slot);
    for (uint32_t part = 0; part < value_parts_; ++part) {
      product_ring_.Publish();
      StoreProduct(partials[part * kCubeEdge], product_[product_ring_.Await() * product_elements_],
                   step.rows, ValueDims(part), tiling_.value_dim_padded);
      product_ring_.Release();
    }
    bridge_.PartialsReady();
  }

  __aicore__ inline void ValueChunk(const Step& step, const AscendC::GlobalTensor<Element>& weights,
                                    const uint32_t* products, uint32_t m, uint32_t col,
                                    uint32_t keys) {
    const uint32_t k = AlignUp(keys, kFractalRows);
    const uint32_t loading = value_ring_.Acquire();
    LoadTurnableTile(values_[loading * value_elements_],
                     v_[Offset(tiling_.v, step.batch, step.kv_head, step.key + col)], keys,
                     tiling_.value_dim, tiling_.v.row);
    if (col == 0) {
      bridge_.AwaitWeights();
    }
    LoadTile(weights_[loading * weight_elements_], weights, step.rows, k, kCubeEdge);
    value_ring_.Publish();
    const uint32_t chunk = value_ring_.Await();
    const uint32_t left = left_ring_.Acquire();
    LoadLeft(left_[left * kOperandElements], weights_[chunk * weight_elements_], m, 0, k);
    for (uint32_t part = 0; part < value_parts_; ++part) {
      LoadRight(right_[right_ring_.Acquire() * kOperandElements], values_[chunk * value_elements_],
                k, tiling_.value_dim_padded, part * kCubeEdge, ValueDims(part));
      right_ring_.Publish();
      const uint32_t right = right_ring_.Await();
      Multiply(product_[products[part] * product_elements_], left_[left * kOperandElements],
               right_[right * kOperandElements], m, ValueDims(part), k, col != 0);
      right_ring_.Release();
    }
    left_ring_.Release();
    value_ring_.Release();
  }

  __aicore__ inline void OpenRings() {
    query_ring_.Open(pipe_, kQuerySlots);
    key_ring_.Open(pipe_, tiling_.kv_slots);
    value_ring_.Open(pipe_, tiling_.kv_slots);
    left_ring_.Open(pipe_, kL0Slots);
    right_ring_.Open(pipe_, kL0Slots);
    product_ring_.Open(pipe_, tiling_.product_slots);
  }

  __aicore__ inline void CloseRings() {
    query_ring_.Close(pipe_);
    key_ring_.Close(pipe_);
    value_ring_.Close(pipe_);
    left_ring_.Close(pipe_);
    right_ring_.Close(pipe_);
    product_ring_.Close(pipe_);
  }

  // Columns of the part-th slice of keys, and of values.
  __aicore__ inline uint32_t KeyDims(uint32_t part) const {
    return Smaller(kDepth, tiling_.head_dim_padded - part * kDepth);
  }
  __aicore__ inline uint32_t ValueDims(uint32_t part) const {
    return Smaller(kCubeEdge, tiling_.value_dim_padded - part * kCubeEdge);
  }

  __aicore__ inline static int64_t Offset(const FlashAttentionStrides& strides, uint32_t batch,
                                          uint32_t head, uint32_t row) {
    return strides.batch * batch + strides.head * head + strides.row * row;
  }

  static constexpr uint32_t kDepth = kCubeDepthBytes / sizeof(Element);
  static constexpr uint32_t kMaxValueParts = 4;
  static constexpr uint32_t kOperandElements = kL0aBytes / kL0Slots / sizeof(Element);

  AscendC::TPipe& pipe_;
  const FlashAttentionTiling& tiling_;
  ForwardTasks tasks_;
  CubeVectorBridge<Element> bridge_;
  AscendC::GlobalTensor<Element> q_;
  AscendC::GlobalTensor<Element> k_;
  AscendC::GlobalTensor<Element> v_;

  AscendC::TBuf<AscendC::TPosition::A1> l1_buffer_;
  AscendC::TBuf<AscendC::TPosition::A2> l0a_buffer_;
  AscendC::TBuf<AscendC::TPosition::B2> l0b_buffer_;
  AscendC::TBuf<AscendC::TPosition::CO1> l0c_buffer_;
  AscendC::LocalTensor<Element> queries_;
  AscendC::LocalTensor<Element> keys_;
  AscendC::LocalTensor<Element> values_;
  AscendC::LocalTensor<Element> weights_;
  AscendC::LocalTensor<Element> left_;
  AscendC::LocalTensor<Element> right_;
  AscendC::LocalTensor<float> product_;

  SlotRing<AscendC::HardEvent::MTE2_MTE1, AscendC::HardEvent::MTE1_MTE2> query_ring_;
  SlotRing<AscendC::HardEvent::MTE2_MTE1, AscendC::HardEvent::MTE1_MTE2> key_ring_;
  SlotRing<AscendC::HardEvent::MTE2_MTE1, AscendC::HardEvent::MTE1_MTE2> value_ring_;
  // Left operands are loaded before the right ones that each product waits for.
  ReuseRing<AscendC::HardEvent::M_MTE1> left_ring_;
  SlotRing<AscendC::HardEvent::MTE1_M, AscendC::HardEvent::M_MTE1> right_ring_;
  SlotRing<AscendC::HardEvent::M_FIX, AscendC::HardEvent::FIX_M> product_ring_;

  uint32_t key_parts_ = 0;
  uint32_t value_parts_ = 0;
  uint32_t query_elements_ = 0;
  uint32_t key_elements_ = 0;
  uint32_t value_elements_ = 0;
  uint32_t weight_elements_ = 0;
  uint32_t product_elements_ = 0;
  uint32_t query_slot_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_FORWARD_LOOP_CUBE_H
