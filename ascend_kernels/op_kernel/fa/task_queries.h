// Queries of a task in L1, with the keys that its references are sampled from, and the order of
// everything else there, for products whose rows are keys.
#ifndef ASCENDFA_FA_TASK_QUERIES_H
#define ASCENDFA_FA_TASK_QUERIES_H

#include "../arch/capacities.h"
#include "../arch/dav_2201/reference_bridge.h"
#include "../arch/tile_copy.h"
#include "forward_loop.h"
#include "kernel_operator.h"
#include "slot_ring.h"

namespace ascendfa {

// Keys are left operands, which lie in rows of fractals. Weights come as [keys][64 queries] for
// each vector core, are turned on their way to L0A, and for that lie in columns of fractals.
template <typename Element>
struct KeyRowTiles {
  using Bridge = ReferenceBridge<Element>;
  using Tile = AscendC::LocalTensor<Element>;
  using Tensor = AscendC::GlobalTensor<Element>;

  __aicore__ constexpr static uint32_t BandRows(uint32_t rows) {
    return AlignUp(rows, kProductRows);
  }
  __aicore__ constexpr static uint32_t WeightKeys(uint32_t) { return kCubeEdge; }
  __aicore__ constexpr static uint32_t WeightOffset(const Bridge&, uint32_t) { return 0; }

  __aicore__ inline static void LoadKeys(const Tile& dst, const Tensor& src, uint32_t count,
                                         uint32_t dim, int64_t row_stride) {
    LoadTileByRows(dst, src, count, dim, row_stride);
  }
  __aicore__ inline static void LoadWeights(const Tile& dst, const Bridge& bridge, const Step& step,
                                            uint32_t first, uint32_t count) {
    const uint32_t tile = AlignUp(count, kFractalRows) * kProductRows;
    for (uint32_t row = 0; row < step.rows; row += kProductRows) {
      const uint32_t member = row / kProductRows;
      LoadTile(dst[member * tile], bridge.Weights(step.slot, member)[first * kProductRows], count,
               kProductRows, kProductRows);
    }
  }
};

// The current task's queries and the next one's, 64 to a tile, and the next one's sample keys.
template <typename Element>
class TaskQueries {
 public:
  using Tile = AscendC::LocalTensor<Element>;

  __aicore__ inline TaskQueries(AscendC::TPipe& pipe, const FlashAttentionTiling& tiling)
      : pipe_(pipe), tiling_(tiling) {}

  __aicore__ inline void Init(GM_ADDR q, GM_ADDR k) {
    q_.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(q));
    k_.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(k));
    band_elements_ =
        Smaller(AlignUp(tiling_.block_m, kProductRows), kBandRows) * tiling_.head_dim_padded;
    slot_elements_ = CeilDiv(tiling_.block_m, kBandRows) * band_elements_;
    pipe_.InitBuffer(
        buffer_,
        (kTaskSlots * slot_elements_ + kMaxSampleKeys * tiling_.head_dim_padded) * sizeof(Element));
    queries_ = buffer_.template Get<Element>();
    sample_keys_ = queries_[kTaskSlots * slot_elements_];
  }

  // Begins with the first of the group's tasks. The sample keys of each take the place of the
  // last one's. Follow comes after the first task's samples, Advance after the wait for their
  // references, and so after the keys have been read.
  __aicore__ inline void Open(const StepCursor& steps) {
    ring_.Open(pipe_, kTaskSlots);
    here_ = pipe_.AllocEventID<AscendC::HardEvent::MTE2_MTE1>();
    next_ = steps;
    Begin();
    Finish();
  }
  __aicore__ inline void Follow() { Begin(); }

  // MTE2: one more piece of the next task, of which nothing is urgent: what is comes in between.
  __aicore__ inline void Advance() {
    if (loading_) {
      LoadPiece();
    }
  }
  __aicore__ inline void Close() {
    ring_.Close(pipe_);
    pipe_.ReleaseEventID<AscendC::HardEvent::MTE2_MTE1>(here_);
  }

  // MTE1: the queries and keys of a sample. Both of the task's bands have to be asked for before
  // the next task's.
  __aicore__ inline Tile Sampled(const Step& step) {
    if (step.band == 0) {
      Finish();
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_MTE1>(here_);
      ++sampled_;
    }
    return Band((sampled_ - 1) % kTaskSlots, step.band);
  }
  __aicore__ inline Tile SampleKeys() const { return sample_keys_; }

  // MTE1: the queries of the step's band.
  __aicore__ inline Tile Get(const Step& step) const {
    return Band(current_ % kTaskSlots, step.band);
  }
  // After the last step of a task, before which the next one has been sampled: what Begin waits for
  // then includes that its sample keys have been read.
  __aicore__ inline void Done() {
    ring_.Release();
    ++current_;
    Begin();
  }

 private:
  static constexpr uint32_t kTaskSlots = 2;

  __aicore__ inline Tile Band(uint32_t slot, uint32_t band) const {
    return queries_[slot * slot_elements_ + band * band_elements_];
  }

  // Begins to load the next task, whose bands all begin in its first tile.
  __aicore__ inline void Begin() {
    while (next_.Valid() && !(next_.Current().first && next_.Current().band == 0)) {
      next_.Next();
    }
    loading_ = next_.Valid();
    if (loading_) {
      slot_ = ring_.Acquire();
      band_ = next_.Current();
      task_ = band_;
      row_ = 0;
    }
  }

  __aicore__ inline void Finish() {
    while (loading_) {
      LoadPiece();
    }
  }

  // 64 queries; last, the sample keys. Queries no row of the tensor provides are zero.
  __aicore__ inline void LoadPiece() {
    if (row_ < band_.rows) {
      LoadTile(Band(slot_, band_.band)[row_ * tiling_.head_dim_padded],
               q_[TensorOffset(tiling_.q, band_, band_.q_head, band_.row + row_)],
               Smaller(kProductRows, band_.rows - row_), tiling_.head_dim, tiling_.q.row,
               kProductRows);
      row_ += kProductRows;
    }
    if (row_ < band_.rows) {
      return;
    }
    next_.Next();
    if (!band_.closes) {
      band_ = next_.Current();
      row_ = 0;
      return;
    }
    LoadTileByRows(sample_keys_, k_[TensorOffset(tiling_.k, task_, task_.kv_head, task_.key)],
                   Smaller(tiling_.referenced.sample_keys, task_.fetched), tiling_.head_dim,
                   tiling_.k.row);
    AscendC::SetFlag<AscendC::HardEvent::MTE2_MTE1>(here_);
    loading_ = false;
  }

  AscendC::TPipe& pipe_;
  const FlashAttentionTiling& tiling_;
  AscendC::GlobalTensor<Element> q_;
  AscendC::GlobalTensor<Element> k_;
  AscendC::TBuf<AscendC::TPosition::A1> buffer_;
  Tile queries_;
  Tile sample_keys_;
  ReuseRing<AscendC::HardEvent::MTE1_MTE2> ring_;
  // Set anew only after it has been waited for: one task at a time is loaded and then sampled.
  AscendC::TEventID here_ = 0;
  StepCursor next_;
  Step task_{};  // the first step of what is being loaded; of its band
  Step band_{};
  uint32_t row_ = 0;  // of the band
  uint32_t slot_ = 0;
  bool loading_ = false;
  uint32_t sampled_ = 0;  // tasks
  uint32_t current_ = 0;
  uint32_t band_elements_ = 0;
  uint32_t slot_elements_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_TASK_QUERIES_H
