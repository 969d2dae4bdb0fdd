// Queries of a banded task in L1, band by band, and the order of everything else there, for
// products whose rows are queries.
#ifndef ASCENDFA_FA_BAND_QUERIES_H
#define ASCENDFA_FA_BAND_QUERIES_H

#include "../arch/capacities.h"
#include "../arch/cube_vector_bridge.h"
#include "../arch/tile_copy.h"
#include "forward_loop.h"
#include "kernel_operator.h"
#include "slot_ring.h"

namespace ascendfa {

// Queries and weights are left operands, which lie in rows of fractals.
template <typename Element>
struct QueryRowTiles {
  using Bridge = CubeVectorBridge<Element>;
  using Tile = AscendC::LocalTensor<Element>;
  using Tensor = AscendC::GlobalTensor<Element>;

  __aicore__ constexpr static uint32_t BandRows(uint32_t rows) { return rows; }
  // Keys whose weights are fetched at a time, and where in them a column begins.
  __aicore__ constexpr static uint32_t WeightKeys(uint32_t piece_keys) { return piece_keys; }
  __aicore__ inline static uint32_t WeightOffset(const Bridge& bridge, uint32_t col) {
    return bridge.PanelOffset(col);
  }

  __aicore__ inline static void LoadKeys(const Tile& dst, const Tensor& src, uint32_t count,
                                         uint32_t dim, int64_t row_stride) {
    for (uint32_t key = 0; key < count; key += kCubeEdge) {
      LoadTile(dst[key * AlignUp(dim, kFractalRows)], src[row_stride * key],
               Smaller(kCubeEdge, count - key), dim, row_stride);
    }
  }
  __aicore__ inline static void LoadWeights(const Tile& dst, const Bridge& bridge, const Step& step,
                                            uint32_t first, uint32_t count) {
    const Tensor weights = bridge.Weights(step.slot);
    for (uint32_t key = 0; key < count; key += kCubeEdge) {
      LoadTileByRows(dst[bridge.PanelOffset(key)], weights[bridge.PanelOffset(first + key)],
                     step.rows, AlignUp(Smaller(kCubeEdge, count - key), kFractalRows), kCubeEdge);
    }
  }
};

// The current band's queries and the next one's.
template <typename Element>
class BandQueries {
 public:
  using Tile = AscendC::LocalTensor<Element>;

  __aicore__ inline BandQueries(AscendC::TPipe& pipe, const FlashAttentionTiling& tiling)
      : pipe_(pipe), tiling_(tiling) {}

  __aicore__ inline void Init(GM_ADDR q) {
    q_.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(q));
    elements_ = Smaller(tiling_.block_m, kCubeEdge) * tiling_.head_dim_padded;
    pipe_.InitBuffer(buffer_, kQuerySlots * elements_ * sizeof(Element));
    tiles_ = buffer_.template Get<Element>();
  }

  // Begins with the queries of the first of the group's steps.
  __aicore__ inline void Open(const StepCursor& steps) {
    ring_.Open(pipe_, kQuerySlots);
    next_ = steps;
    for (uint32_t i = 0; i < kQuerySlots; ++i) {
      Load();
    }
  }
  __aicore__ inline void Close() { ring_.Close(pipe_); }

  // MTE1: the queries of the step's band.
  __aicore__ inline Tile Get(const Step& step) {
    if (step.first) {
      slots_[step.band] = ring_.Await();
    }
    return tiles_[slots_[step.band] * elements_];
  }
  __aicore__ inline void Done(const Step& step) {
    if (step.last) {
      ring_.Release();
      Load();
    }
  }

 private:
  // MTE2: the queries of the next band.
  __aicore__ inline void Load() {
    for (; next_.Valid(); next_.Next()) {
      const Step& step = next_.Current();
      if (!step.first) {
        continue;
      }
      LoadTileByRows(tiles_[ring_.Acquire() * elements_],
                     q_[TensorOffset(tiling_.q, step, step.q_head, step.row)], step.rows,
                     tiling_.head_dim, tiling_.q.row);
      ring_.Publish();
      next_.Next();
      return;
    }
  }

  AscendC::TPipe& pipe_;
  const FlashAttentionTiling& tiling_;
  AscendC::GlobalTensor<Element> q_;
  AscendC::TBuf<AscendC::TPosition::A1> buffer_;
  Tile tiles_;
  SlotRing<AscendC::HardEvent::MTE2_MTE1, AscendC::HardEvent::MTE1_MTE2> ring_;
  StepCursor next_;
  uint32_t slots_[kMaxBands] = {};
  uint32_t elements_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_BAND_QUERIES_H
