// The cube core's half of the forward pass for 16-bit elements and head dimensions up to 128, where
// a key tile fits L1 as a whole: S = Q K^T for the step at the head of the pipeline and O = P V for
// the step `lag` behind it, 128 keys of one and 128 keys of the other in turn, so that Fixpipe
// stores the scores of one while the cube works on the other.
#ifndef ASCENDFA_FA_FORWARD_LOOP_CUBE_BANDED_H
#define ASCENDFA_FA_FORWARD_LOOP_CUBE_BANDED_H

#include "band_queries.h"
#include "banded_operands.h"

namespace ascendfa {

template <typename Element>
class ForwardLoopCubeBanded {
 public:
  __aicore__ inline ForwardLoopCubeBanded(AscendC::TPipe& pipe, const FlashAttentionTiling& tiling)
      : pipe_(pipe),
        tiling_(tiling),
        band_queries_(pipe, tiling),
        operands_(pipe, tiling, bridge_) {}

  __aicore__ inline void Init(GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR workspace, uint32_t group) {
    bridge_.Init(tiling_, workspace, group);
    tasks_ = ForwardTasks(tiling_, group);
    band_queries_.Init(q);
    operands_.Init(k, v);
    pipe_.InitBuffer(l0a_buffer_, kL0aBytes);
    pipe_.InitBuffer(l0b_buffer_, kL0bBytes);
    pipe_.InitBuffer(l0c_buffer_, kL0cBytes);
    queries_ = l0a_buffer_.template Get<Element>();
    weights_ = queries_[kOperandElements];
    right_ = l0b_buffer_.template Get<Element>();
    outputs_ = l0c_buffer_.template Get<float>();
    scores_ = outputs_[kRowParts * kProductElements];
  }

  __aicore__ inline void Run(const Rounds& rounds = Rounds()) {
    tasks_.Select(rounds);
    StepCursor head(tiling_, tasks_);
    StepCursor tail = head;
    OpenRings();
    band_queries_.Open(head);
    operands_.Open(head);
    uint32_t ahead = 0;
    bool opened = false;
    while (tail.Valid()) {
      const bool scores = head.Valid();
      const bool values = ahead == tiling_.lag || !scores;
      if (scores) {
        BeginScores(head.Current());
      }
      if (values) {
        if (!opened) {
          operands_.OpenValues();
          opened = true;
        }
        BeginValues(tail.Current());
      }
      for (uint32_t col = 0; col < tiling_.block_n; col += kCubeEdge) {
        if (scores && col < head.Current().keys) {
          ScoreChunk(head.Current(), col);
        }
        if (values && col < tail.Current().keys) {
          ValueChunk(tail.Current(), col);
        }
      }
      if (scores) {
        head.Next();
        ++ahead;
      }
      if (values) {
        EndValues(tail.Current());
        tail.Next();
        --ahead;
      }
    }
    band_queries_.Close();
    operands_.Close();
    CloseRings();
  }

 private:
  __aicore__ inline void BeginScores(const Step& step) {
    query_ring_.Acquire();
    LoadLeftByRows(queries_, band_queries_.Get(step), AlignUp(step.rows, kFractalRows),
                   tiling_.head_dim_padded);
    band_queries_.Done(step);
  }

  // 128 columns of S = Q band x K tile^T.
  __aicore__ inline void ScoreChunk(const Step& step, uint32_t col) {
    // Keys that only later bands see are worth less than a product cut to size.
    const uint32_t n = AlignUp(Smaller(kCubeEdge, step.fetched - col), kFractalRows);
    LoadRightTransposed(right_[right_ring_.Acquire() * kOperandElements], operands_.Keys(step, col),
                        n, 0, tiling_.head_dim_padded);
    operands_.DoneWithKeys(step, col);
    right_ring_.Publish();
    const uint32_t right = right_ring_.Await();
    const AscendC::GlobalTensor<float> scores = bridge_.Scores(step.slot)[bridge_.PanelOffset(col)];
    for (uint32_t row = 0; row < step.rows; row += kProductRows) {
      const uint32_t product = score_ring_.Acquire() * kProductElements;
      Multiply(scores_[product], queries_[row * tiling_.head_dim_padded],
               right_[right * kOperandElements], ProductRows(step, row), n, tiling_.head_dim_padded,
               false);
      score_ring_.Publish();
      score_ring_.Await();
      StoreProduct(scores[row * kCubeEdge], scores_[product],
                   Smaller(kProductRows, step.rows - row), n, kCubeEdge);
      score_ring_.Release();
    }
    right_ring_.Release();
    if (col + kCubeEdge >= step.keys) {
      query_ring_.Release();
      bridge_.ScoresReady();
    }
  }

  __aicore__ inline void BeginValues(const Step& step) {
    for (uint32_t row = 0; row < step.rows; row += kProductRows) {
      output_slots_[row / kProductRows] = output_ring_.Acquire();
    }
  }

  // 128 keys' share of partial O = P tile x V tile, which sums over the tile's keys in L0C.
  __aicore__ inline void ValueChunk(const Step& step, uint32_t col) {
    const uint32_t k = AlignUp(Smaller(kCubeEdge, step.keys - col), kFractalRows);
    const AscendC::LocalTensor<Element> values = operands_.Values(step, col);
    const AscendC::LocalTensor<Element> weights = operands_.Weights(col);
    uint32_t left[kRowParts] = {};
    for (uint32_t row = 0; row < step.rows; row += kProductRows) {
      const uint32_t slot = weight_ring_.Acquire();
      left[row / kProductRows] = slot * kOperandElements / kRowParts;
      LoadLeftByRows(weights_[left[row / kProductRows]], weights[row * k], ProductRows(step, row),
                     k);
    }
    LoadRightByRows(right_[right_ring_.Acquire() * kOperandElements], values, k,
                    tiling_.value_dim_padded);
    operands_.DoneWithValues(step, col);
    right_ring_.Publish();
    const uint32_t right = right_ring_.Await();
    for (uint32_t row = 0; row < step.rows; row += kProductRows) {
      Multiply(outputs_[output_slots_[row / kProductRows] * kProductElements],
               weights_[left[row / kProductRows]], right_[right * kOperandElements],
               ProductRows(step, row), tiling_.value_dim_padded, k, col != 0);
      weight_ring_.Release();
    }
    right_ring_.Release();
  }

  __aicore__ inline void EndValues(const Step& step) {
    const uint32_t width = tiling_.value_dim_padded;
    const AscendC::GlobalTensor<float> partials = bridge_.Partials(step.slot);
    for (uint32_t row = 0; row < step.rows; row += kProductRows) {
      output_ring_.Publish();
      StoreProduct(partials[row * width], outputs_[output_ring_.Await() * kProductElements],
                   Smaller(kProductRows, step.rows - row), width, width);
      output_ring_.Release();
    }
    bridge_.PartialsReady();
  }

  // Rows of the product that starts at `row`, in whole fractals.
  __aicore__ inline static uint32_t ProductRows(const Step& step, uint32_t row) {
    return AlignUp(Smaller(kProductRows, step.rows - row), kFractalRows);
  }

  __aicore__ inline void OpenRings() {
    query_ring_.Open(pipe_, 1);
    weight_ring_.Open(pipe_, kRowParts);
    right_ring_.Open(pipe_, kL0Slots);
    score_ring_.Open(pipe_, kRowParts);
    output_ring_.Open(pipe_, kRowParts);
  }

  __aicore__ inline void CloseRings() {
    query_ring_.Close(pipe_);
    weight_ring_.Close(pipe_);
    right_ring_.Close(pipe_);
    score_ring_.Close(pipe_);
    output_ring_.Close(pipe_);
  }

  static constexpr uint32_t kRowParts = kCubeEdge / kProductRows;
  static constexpr uint32_t kOperandElements = kL0aBytes / kL0Slots / sizeof(Element);
  static constexpr uint32_t kProductElements = kProductRows * kCubeEdge;

  AscendC::TPipe& pipe_;
  const FlashAttentionTiling& tiling_;
  ForwardTasks tasks_;
  CubeVectorBridge<Element> bridge_;
  BandQueries<Element> band_queries_;
  BandedOperands<Element, QueryRowTiles> operands_;

  AscendC::TBuf<AscendC::TPosition::A2> l0a_buffer_;
  AscendC::TBuf<AscendC::TPosition::B2> l0b_buffer_;
  AscendC::TBuf<AscendC::TPosition::CO1> l0c_buffer_;
  AscendC::LocalTensor<Element> queries_;  // half of L0A each
  AscendC::LocalTensor<Element> weights_;
  AscendC::LocalTensor<Element> right_;
  AscendC::LocalTensor<float> outputs_;  // half of L0C each
  AscendC::LocalTensor<float> scores_;

  // Left operands are loaded before the right ones that each product waits for.
  ReuseRing<AscendC::HardEvent::M_MTE1> query_ring_;
  ReuseRing<AscendC::HardEvent::M_MTE1> weight_ring_;
  SlotRing<AscendC::HardEvent::MTE1_M, AscendC::HardEvent::M_MTE1> right_ring_;
  SlotRing<AscendC::HardEvent::M_FIX, AscendC::HardEvent::FIX_M> score_ring_;
  SlotRing<AscendC::HardEvent::M_FIX, AscendC::HardEvent::FIX_M> output_ring_;

  uint32_t output_slots_[kRowParts] = {};
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_FORWARD_LOOP_CUBE_BANDED_H
