// The cube's half of a coupled core: products of strips, their operands on the way from L1, and the
// rings that tie it to the vector unit.
#ifndef ASCENDFA_FA_COUPLED_CUBE_H
#define ASCENDFA_FA_COUPLED_CUBE_H

#include "../arch/capacities.h"
#include "../arch/cube_vector_bridge.h"
#include "../arch/tile_copy.h"
#include "forward_loop.h"
#include "kernel_operator.h"
#include "slot_ring.h"
#include "strip_output.h"
#include "strip_softmax.h"
#include "tile_loader.h"

namespace ascendfa {

class CoupledCube {
 protected:
  __aicore__ inline CoupledCube(AscendC::TPipe& pipe, const FlashAttentionTiling& tiling)
      : pipe_(pipe),
        tiling_(tiling),
        loader_(pipe, tiling),
        dim_(tiling.head_dim_padded),
        value_dim_(tiling.value_dim_padded),
        strip_elements_(tiling.block_m * kStripKeys) {}

  __aicore__ inline void InitCube(GM_ADDR q, GM_ADDR k, GM_ADDR v, UbArena& arena) {
    pipe_.InitBuffer(l1_buffer_, tiling_.cube_bytes);
    pipe_.InitBuffer(l0a_buffer_, kL0aBytes);
    pipe_.InitBuffer(l0b_buffer_, kL0bBytes);
    pipe_.InitBuffer(l0c_buffer_, kL0cBytes);
    operand_ = l1_buffer_.Get<half>();
    loader_.Init(q, k, v, arena, operand_[strip_elements_]);
    queries_ = l0a_buffer_.Get<half>();
    row_reference_ = queries_[kQueryElements];
    weights_ = row_reference_[tiling_.block_m * kFractalRows];
    right_ = l0b_buffer_.Get<half>();
    ones_ = right_[kRightSlots * kRightElements];
    constants_ = ones_[kStripKeys * kFractalRows];
    products_ = l0c_buffer_.Get<float>();
    outputs_ = products_[kScoreSlots * strip_elements_];
    output_elements_ = tiling_.block_m * (value_dim_ + kFractalRows);
  }

  // Queries to L0A; what multiplies them waits for right operands that are loaded later. What
  // multiplied the ones before has ended with a release of the left ring.
  __aicore__ inline void LoadQueries(const Step& step, uint32_t slot) {
    const uint32_t m = AlignUp(step.rows, kFractalRows);
    left_ring_.Acquire();
    for (uint32_t col = 0; col < dim_; col += kCubeEdge) {
      LoadLeft(queries_[col * m], loader_.Queries(slot), m, col, Smaller(kCubeEdge, dim_ - col));
    }
    left_ring_.Release();
  }
  __aicore__ inline void ReleaseQueries() {
    left_ring_.Acquire();
    left_ring_.Release();
  }

  // S strip = Q block x K strip^T, minus the reference once there is one.
  __aicore__ inline void Scores(const Strip& strip, bool referred) {
    const AscendC::LocalTensor<float> product = products_[score_ring_.Acquire() * strip_elements_];
    const AscendC::LocalTensor<half> keys = loader_.Keys(strip.tile_slot, strip.index);
    for (uint32_t col = 0; col < dim_; col += kCubeEdge) {
      const uint32_t dims = Smaller(kCubeEdge, dim_ - col);
      LoadRightTransposed(right_[right_ring_.Acquire() * kRightElements], keys, strip.columns, col,
                          dims);
      right_ring_.Publish();
      Multiply(product, queries_[col * strip.rows], right_[right_ring_.Await() * kRightElements],
               strip.rows, strip.columns, dims, col != 0);
      right_ring_.Release();
    }
    if (referred) {
      Multiply(product, row_reference_, constants_, strip.rows, strip.columns, kFractalRows, true);
    }
    score_ring_.Publish();
  }

  __aicore__ inline void FetchScores(const AscendC::LocalTensor<float>& dst, const Strip& strip) {
    FetchProduct(dst, products_[score_ring_.Await() * strip_elements_], 0, strip.rows, strip.rows,
                 strip.columns);
    score_ring_.Release();
  }

  // MTE3: a staged left operand to L1.
  __aicore__ inline void HandOver(uint32_t rows, uint32_t columns) {
    operand_ring_.Acquire();
    HandOverLeft(operand_, staging_.Await(), rows, columns);
    staging_.Release();
    operand_ring_.Publish();
  }

  // MTE1, around the load of that operand to L0A.
  __aicore__ inline AscendC::LocalTensor<half> LoadHandedOver() {
    operand_ring_.Await();
    left_ring_.Acquire();
    return operand_;
  }
  __aicore__ inline void PublishLeft() {
    operand_ring_.Release();
    left_ring_.Publish();
    left_ring_.Await();
  }

  // O += P strip x V strip, and the sums of the weights' rows beside it.
  __aicore__ inline void Values(const Strip& strip, const AscendC::LocalTensor<float>& product) {
    HandOver(strip.rows, strip.columns);
    if (strip.index == 0) {
      loader_.AwaitValues();
    }
    const AscendC::LocalTensor<half> values = loader_.Values(strip.tile_slot);
    // The values first: the weights have to wait until those before them are used up.
    for (uint32_t col = 0; col < value_dim_; col += kCubeEdge) {
      const uint32_t dims = Smaller(kCubeEdge, value_dim_ - col);
      LoadRight(right_[right_ring_.Acquire() * kRightElements], values, strip.tile_rows,
                strip.index * kStripKeys, strip.columns, col, dims);
      right_ring_.Publish();
    }
    LoadStraight(weights_, LoadHandedOver(),
                 strip.rows / kFractalRows * (strip.columns / kFractalRows));
    PublishLeft();
    for (uint32_t col = 0; col < value_dim_; col += kCubeEdge) {
      const uint32_t dims = Smaller(kCubeEdge, value_dim_ - col);
      Multiply(product[col * strip.rows], weights_, right_[right_ring_.Await() * kRightElements],
               strip.rows, dims, strip.columns, !strip.first);
      right_ring_.Release();
    }
    Multiply(product[value_dim_ * strip.rows], weights_, ones_, strip.rows, kFractalRows,
             strip.columns, !strip.first);
    left_ring_.Release();
    if (strip.ends_tile) {
      loader_.ReleaseValues();
    }
  }

  // Right operands that never change: ones to sum by, and the reference's factors, which are
  // staged.
  __aicore__ inline void LoadConstants() {
    operand_ring_.Acquire();
    AscendC::DataCopy(operand_, staging_.Await(), kStripKeys * kFractalRows);
    staging_.Release();
    operand_ring_.Publish();
    LoadStraight(constants_, LoadHandedOver(), kStripKeys / kFractalRows);
    const AscendC::InitConstValueParams<half> one(kStripKeys / kFractalRows,
                                                  static_cast<half>(1.0f));
    AscendC::Fill(ones_, one);
    PublishLeft();
    left_ring_.Release();
  }

  __aicore__ inline void OpenRings() {
    left_ring_.Open(pipe_, 1);
    right_ring_.Open(pipe_, kRightSlots);
    operand_ring_.Open(pipe_, 1);
    score_ring_.Open(pipe_, kScoreSlots);
    output_ring_.Open(pipe_, kOutputSlots);
  }

  __aicore__ inline void CloseRings() {
    left_ring_.Close(pipe_);
    right_ring_.Close(pipe_);
    operand_ring_.Close(pipe_);
    score_ring_.Close(pipe_);
    output_ring_.Close(pipe_);
    staging_.Close(pipe_);
    loader_.Close();
  }

  static constexpr uint32_t kRightElements = kStripKeys * kCubeEdge;

  AscendC::TPipe& pipe_;
  const FlashAttentionTiling& tiling_;
  TileLoader loader_;
  StagingRing staging_;

  AscendC::TBuf<AscendC::TPosition::A1> l1_buffer_;
  AscendC::TBuf<AscendC::TPosition::A2> l0a_buffer_;
  AscendC::TBuf<AscendC::TPosition::B2> l0b_buffer_;
  AscendC::TBuf<AscendC::TPosition::CO1> l0c_buffer_;
  AscendC::LocalTensor<half> operand_;  // a left operand on its way from UB
  AscendC::LocalTensor<half> queries_;  // L0A, with the next two
  AscendC::LocalTensor<half> row_reference_;
  AscendC::LocalTensor<half> weights_;
  AscendC::LocalTensor<half> right_;  // L0B, with the next two
  AscendC::LocalTensor<half> ones_;
  AscendC::LocalTensor<half> constants_;
  AscendC::LocalTensor<float> products_;  // L0C, with the next
  AscendC::LocalTensor<float> outputs_;

  SlotRing<AscendC::HardEvent::MTE1_M, AscendC::HardEvent::M_MTE1> left_ring_;
  SlotRing<AscendC::HardEvent::MTE1_M, AscendC::HardEvent::M_MTE1> right_ring_;
  SlotRing<AscendC::HardEvent::MTE3_MTE1, AscendC::HardEvent::MTE1_MTE3> operand_ring_;
  SlotRing<AscendC::HardEvent::M_V, AscendC::HardEvent::V_M> score_ring_;
  SlotRing<AscendC::HardEvent::M_V, AscendC::HardEvent::V_M> output_ring_;

  uint32_t dim_;
  uint32_t value_dim_;
  uint32_t strip_elements_;
  uint32_t output_elements_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_COUPLED_CUBE_H
