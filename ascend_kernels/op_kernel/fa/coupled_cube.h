// The cube's half of a coupled core: products of strips, their operands on the way from L1, and the
// rings that tie it to the vector unit.
#ifndef ASCENDFA_FA_COUPLED_CUBE_H
#define ASCENDFA_FA_COUPLED_CUBE_H

#include "../arch/capacities.h"
#include "../arch/cube_vector_bridge.h"
#include "../arch/tile_copy.h"
#include "forward_loop.h"
#include "kernel_operator.h"
#include "ready_ring.h"
#include "slot_ring.h"
#include "strip_output.h"
#include "strip_softmax.h"
#include "task_cursor.h"
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
    totals_ = products_[kScoreSlots * strip_elements_];
  }

  // Nothing of the event's second pipe before all that its first has been given.
  template <AscendC::HardEvent kEvent>
  __aicore__ inline void Sync() {
    const AscendC::TEventID id = pipe_.FetchEventID<kEvent>();
    AscendC::SetFlag<kEvent>(id);
    AscendC::WaitFlag<kEvent>(id);
  }

  // Strip `index` of a tile in `slot`.
  __aicore__ inline static Strip Describe(const Step& step, uint32_t slot, uint32_t index) {
    Strip strip{};
    strip.batch = step.batch;
    strip.head = step.q_head;
    strip.queries = step.rows;
    strip.rows = AlignUp(step.rows, kFractalRows);
    strip.keys = Smaller(kStripKeys, step.keys - index * kStripKeys);
    strip.columns = AlignUp(strip.keys, kFractalRows);
    strip.key = step.key + index * kStripKeys;
    strip.row = step.row;
    strip.ends_early = step.ends_early;
    strip.starts_late = step.starts_late;
    strip.tile_slot = slot;
    strip.index = index;
    strip.tile_keys = step.keys;
    strip.first = step.first && index == 0;
    strip.ends_tile = (index + 1) * kStripKeys >= step.keys;
    strip.last = step.last && strip.ends_tile;
    return strip;
  }

  // A strip of which each row sees a key, if the tile has one; the closest to the rows' own keys if
  // that matters.
  __aicore__ inline static Strip DescribeShared(const Step& step, uint32_t slot,
                                                const SeqLen& seqlen, Opening opening) {
    uint32_t index = 0;
    // From where on the last row sees keys, and up to where the first one does.
    const int64_t first = seqlen.FirstKey(step.row + step.rows - 1) - step.key;
    const int64_t last = Sooner(seqlen.LastKey(step.row) - step.key, step.keys - 1);
    const int64_t own = Sooner(OwnKeyOfBlock(seqlen, step) - step.key, step.keys - 1);
    if (opening == Opening::kOwn && own > 0 && own >= first && own <= last) {
      index = static_cast<uint32_t>(own / kStripKeys);
    } else if (step.starts_late) {
      const int64_t whole = (first + kStripKeys - 1) / kStripKeys;
      const int64_t part = first / kStripKeys;
      index = static_cast<uint32_t>(whole * kStripKeys <= last ? whole : part);
      index = part * kStripKeys <= last ? index : 0;
    }
    return Describe(step, slot, index);
  }

  // Queries to L0A; what multiplies them waits for right operands that are loaded later.
  __aicore__ inline void LoadQueries(const Step& step, uint32_t slot) {
    const uint32_t m = AlignUp(step.rows, kFractalRows);
    query_ring_.Acquire();
    for (uint32_t col = 0; col < dim_; col += kCubeEdge) {
      LoadLeft(queries_[col * m], loader_.Queries(slot), m, col, Smaller(kCubeEdge, dim_ - col));
    }
  }
  // The vector unit has fetched the last product of a task's queries.
  __aicore__ inline void ReleaseQueries() { query_ring_.Release(); }

  // S strip = Q block x K strip^T, minus the reference once there is one.
  __aicore__ inline void Scores(const Strip& strip, bool referred) {
    const AscendC::LocalTensor<float> product = products_[score_ring_.Acquire() * strip_elements_];
    const AscendC::LocalTensor<half> keys = loader_.Keys(strip.tile_slot, strip.index);
    for (uint32_t col = 0; col < dim_; col += kCubeEdge) {
      const uint32_t dims = Smaller(kCubeEdge, dim_ - col);
      LoadRightTransposed(right_[right_ring_.Acquire() * kRightElements], keys, strip.columns, col,
                          dims);
      right_ready_.Publish();
      right_ready_.Await();
      Multiply(product, queries_[col * strip.rows], right_[right_ring_.Next() * kRightElements],
               strip.rows, strip.columns, dims, col != 0);
      right_ring_.Release();
    }
    if (referred) {
      Multiply(product, row_reference_, constants_, strip.rows, strip.columns, kFractalRows, true);
    }
    score_ring_.Publish();
  }

  __aicore__ inline void FetchScores(const AscendC::LocalTensor<float>& dst, const Strip& strip) {
    FetchProduct(dst, products_[score_ring_.Await() * strip_elements_], strip.blind,
                 strip.rows - strip.blind, strip.rows, strip.columns);
    score_ring_.Release();
  }

  // MTE3: a staged left operand to L1.
  __aicore__ inline void HandOver(uint32_t rows, uint32_t columns) {
    operand_ring_.Acquire();
    HandOverLeft(operand_, staging_.Await(), rows, columns);
    staging_.Release();
    operand_ring_.Publish();
  }

  // MTE1: that operand to where the cube takes it from.
  __aicore__ inline void LoadHandedOver(const AscendC::LocalTensor<half>& dst, uint32_t fractals) {
    operand_ring_.Await();
    LoadStraight(dst, operand_, fractals);
    operand_ring_.Release();
  }

  // O += P strip x V strip, and the sums of the weights' rows beside it.
  __aicore__ inline void Values(const Strip& strip) {
    HandOver(strip.rows, strip.columns);
    if (strip.index == 0) {
      loader_.AwaitValues(strip.tile_keys);
    }
    const AscendC::LocalTensor<half> values = loader_.Values(strip.tile_slot);
    // The values first: the weights have to wait until those before them are used up.
    for (uint32_t col = 0; col < value_dim_; col += kCubeEdge) {
      const uint32_t dims = Smaller(kCubeEdge, value_dim_ - col);
      LoadRight(right_[right_ring_.Acquire() * kRightElements], values,
                AlignUp(strip.tile_keys, kFractalRows), strip.index * kStripKeys, strip.columns,
                col, dims);
    }
    weight_ring_.Acquire();
    LoadHandedOver(weights_, strip.rows / kFractalRows * (strip.columns / kFractalRows));
    weight_ring_.Publish();
    weight_ring_.Await();
    for (uint32_t col = 0; col < value_dim_; col += kCubeEdge) {
      const uint32_t dims = Smaller(kCubeEdge, value_dim_ - col);
      Multiply(totals_[col * strip.rows], weights_, right_[right_ring_.Next() * kRightElements],
               strip.rows, dims, strip.columns, !strip.first);
      right_ring_.Release();
    }
    Multiply(totals_[value_dim_ * strip.rows], weights_, ones_, strip.rows, kFractalRows,
             strip.columns, !strip.first);
    weight_ring_.Release();
    if (strip.ends_tile) {
      loader_.ReleaseValues();
    }
  }

  // Right operands that never change: ones to sum by, and the reference's factors, from UB.
  __aicore__ inline void LoadConstants(const AscendC::LocalTensor<half>& factors) {
    operand_ring_.Acquire();
    AscendC::DataCopy(operand_, factors, kStripKeys * kFractalRows);
    operand_ring_.Publish();
    LoadHandedOver(constants_, kStripKeys / kFractalRows);
    const AscendC::InitConstValueParams<half> one(kStripKeys / kFractalRows,
                                                  static_cast<half>(1.0f));
    AscendC::Fill(ones_, one);
  }

  __aicore__ inline void OpenRings() {
    query_ring_.Open(pipe_, 1);
    weight_ring_.Open(pipe_, 1);
    right_ring_.Open(pipe_, kRightSlots);
    right_ready_.Open(pipe_, kRightSlots);
    operand_ring_.Open(pipe_, 1);
    score_ring_.Open(pipe_, kScoreSlots);
    totals_ready_.Open(pipe_, 1);
  }

  __aicore__ inline void CloseRings() {
    query_ring_.Close(pipe_);
    weight_ring_.Close(pipe_);
    right_ring_.Close(pipe_);
    right_ready_.Close(pipe_);
    operand_ring_.Close(pipe_);
    score_ring_.Close(pipe_);
    totals_ready_.Close(pipe_);
    staging_.Close(pipe_);
    loader_.Close();
  }

  __aicore__ inline static int64_t Sooner(int64_t a, int64_t b) { return a < b ? a : b; }

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
  AscendC::LocalTensor<float> totals_;    // of a task: weighted values, then weights

  // The reference's operand needs no ring: the vector unit has fetched all that was multiplied
  // with the one before, and what is multiplied with it waits for right operands loaded later.
  ReuseRing<AscendC::HardEvent::V_MTE1> query_ring_;
  SlotRing<AscendC::HardEvent::MTE1_M, AscendC::HardEvent::M_MTE1> weight_ring_;
  ReuseRing<AscendC::HardEvent::M_MTE1> right_ring_;
  ReadyRing<AscendC::HardEvent::MTE1_M> right_ready_;  // of keys: values come before weights
  SlotRing<AscendC::HardEvent::MTE3_MTE1, AscendC::HardEvent::MTE1_MTE3> operand_ring_;
  SlotRing<AscendC::HardEvent::M_V, AscendC::HardEvent::V_M> score_ring_;
  // The next task's weights leave the vector unit after it has fetched this one's totals.
  ReadyRing<AscendC::HardEvent::M_V> totals_ready_;

  uint32_t dim_;
  uint32_t value_dim_;
  uint32_t strip_elements_;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_COUPLED_CUBE_H
