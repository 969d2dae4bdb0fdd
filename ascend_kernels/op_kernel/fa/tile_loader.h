// Brings queries, keys and values to L1 on the coupled core, ahead of their use and piece by piece.
// Queries and keys come by UB, where whole rows arrive at full speed, on the pipe that also carries
// the weights. Values, of which every use turns single fractals anyway, come straight, column by
// column, unless a tile's rows are no multiple of 16 or lie too oddly: then they come by UB too.
// A tile in L1 is a task's queries, if it is its first, its keys in strips of 64, and its values.
#ifndef ASCENDFA_FA_TILE_LOADER_H
#define ASCENDFA_FA_TILE_LOADER_H

#include "../arch/tile_copy.h"
#include "forward_loop.h"
#include "kernel_operator.h"
#include "ready_ring.h"
#include "slot_ring.h"
#include "task_cursor.h"
#include "ub_arena.h"

namespace ascendfa {

// Queries, keys or values in global memory.
struct LoadSource {
  AscendC::GlobalTensor<half> tensor;
  FlashAttentionStrides strides;
  uint32_t columns;
  uint32_t padded;
};

class TileLoader {
 public:
  __aicore__ inline TileLoader(AscendC::TPipe& pipe, const FlashAttentionTiling& tiling)
      : pipe_(pipe), tiling_(tiling) {}

  __aicore__ inline void Init(GM_ADDR q, GM_ADDR k, GM_ADDR v, UbArena& arena,
                              const AscendC::LocalTensor<half>& tiles) {
    SetSource(q_, q, tiling_.q, tiling_.head_dim, tiling_.head_dim_padded);
    SetSource(k_, k, tiling_.k, tiling_.head_dim, tiling_.head_dim_padded);
    SetSource(v_, v, tiling_.v, tiling_.value_dim, tiling_.value_dim_padded);
    const uint32_t width = q_.padded > v_.padded ? q_.padded : v_.padded;
    piece_elements_ = kStripKeys * width;
    pieces_ = arena.Take<half>(kLoadSlots * piece_elements_);
    tiles_ = tiles;
    load_ring_.Open(pipe_, kLoadSlots);
    tile_ring_.Open(pipe_, kTileSlots);
    value_ring_.Open(pipe_, kTileSlots);
    values_ready_.Open(pipe_, kTileSlots);
  }

  __aicore__ inline void Close() {
    load_ring_.Close(pipe_);
    tile_ring_.Close(pipe_);
    value_ring_.Close(pipe_);
    values_ready_.Close(pipe_);
  }

  // From now on loads the cursor's tiles, those of tasks before `end`.
  __aicore__ inline void Start(const TaskCursor& cursor, uint32_t end) {
    cursor_ = cursor;
    end_ = end;
    EnterTile();
  }

  // One more piece under way, if there is room for it, and the oldest handed on to L1.
  __aicore__ inline void Advance() {
    if (pending_ == kLoadSlots || (pending_ != 0 && !CanLoad())) {
      HandOn();
    }
    if (CanLoad()) {
      Load();
    }
  }

  // Issues all the next tile takes. False if it waits for a tile to be released first.
  __aicore__ inline bool Prepare() {
    while (published_ == awaited_) {
      if (pending_ == 0 && !CanLoad()) {
        return false;
      }
      Advance();
    }
    return true;
  }

  // Consumer (MTE1): waits for the next tile's queries and keys; its slot. Prepare comes first.
  __aicore__ inline uint32_t AwaitTile() {
    ++awaited_;
    return tile_ring_.Await();
  }
  // For the values of the oldest tile that still lacks them; it has `keys` keys.
  __aicore__ inline void AwaitValues(uint32_t keys) {
    if (Straight(keys)) {
      values_ready_.Await();
    }
  }
  // Queries and keys of the oldest tile are done with; its values.
  __aicore__ inline void ReleaseKeys() {
    tile_ring_.Release();
    ++released_;
  }
  __aicore__ inline void ReleaseValues() {
    value_ring_.Release();
    ++released_values_;
  }

  // Parts of the tile in a slot.
  __aicore__ inline AscendC::LocalTensor<half> Queries(uint32_t slot) const {
    return tiles_[slot * TileElements()];
  }
  __aicore__ inline AscendC::LocalTensor<half> Keys(uint32_t slot, uint32_t strip) const {
    return Queries(slot)[tiling_.block_m * q_.padded + strip * kStripKeys * k_.padded];
  }
  __aicore__ inline AscendC::LocalTensor<half> Values(uint32_t slot) const {
    return Keys(slot, Strips());
  }

  __aicore__ inline uint32_t TileElements() const {
    return tiling_.block_m * q_.padded + Strips() * kStripKeys * (k_.padded + v_.padded);
  }

 private:
  struct Piece {
    AscendC::LocalTensor<half> target;
    uint32_t rows;         // whole fractals
    uint32_t width;        // elements
    uint32_t column_rows;  // of the target
    bool completes;        // what of its tile comes by UB
  };

  __aicore__ inline static void SetSource(LoadSource& source, GM_ADDR address,
                                          const FlashAttentionStrides& strides, uint32_t columns,
                                          uint32_t padded) {
    source.tensor.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(address));
    source.strides = strides;
    source.columns = columns;
    source.padded = padded;
  }

  __aicore__ inline uint32_t Strips() const { return CeilDiv(tiling_.block_n, kStripKeys); }

  __aicore__ inline bool CanLoad() const {
    return cursor_.Valid() && cursor_.Round() < end_ &&
           (piece_ != 0 || started_ - released_ < kTileSlots) &&
           (piece_ + strips_ != piece_count_ || started_ - released_values_ <= kTileSlots);
  }

  // The pieces of the cursor's tile: queries, strips of keys, and as many shares of the values,
  // which are needed last.
  __aicore__ inline void EnterTile() {
    piece_ = 0;
    if (!cursor_.Valid()) {
      return;
    }
    const Step& step = cursor_.Current();
    query_pieces_ = step.first ? CeilDiv(step.rows, kStripKeys) : 0;
    strips_ = CeilDiv(step.keys, kStripKeys);
    piece_count_ = query_pieces_ + 2 * strips_;
    straight_ = Straight(step.keys);
  }

  // Whether a tile's values come straight; otherwise they are complete when its keys are.
  __aicore__ inline bool Straight(uint32_t keys) const {
    return keys % kFractalRows == 0 && LoadsColumns(v_.columns, v_.strides.row);
  }

  __aicore__ inline void Load() {
    const Step& step = cursor_.Current();
    if (piece_ == 0) {
      ++started_;
      next_slot_ = tile_ring_.Acquire();
    }
    Piece piece{};
    const uint32_t left = piece_count_ - piece_;
    const bool values = left <= strips_;
    if (left == strips_) {
      value_ring_.Acquire();
    }
    if (straight_ && values) {
      LoadColumns(step, strips_ - left);
      NextPiece();
      return;
    }
    piece.completes = left == (straight_ ? strips_ + 1 : 1);
    if (piece_ < query_pieces_) {
      const uint32_t row = piece_ * kStripKeys;
      const uint32_t rows = Smaller(kStripKeys, step.rows - row);
      piece.target = Queries(next_slot_)[row * kBlockHalves];
      piece.column_rows = AlignUp(step.rows, kFractalRows);
      Fetch(q_, step.batch, step.q_head, step.row + row, rows, true, piece);
    } else {
      const uint32_t strip = (values ? 1 : 2) * strips_ - left;
      const uint32_t key = strip * kStripKeys;
      const uint32_t rows = Smaller(kStripKeys, step.keys - key);
      piece.target = values ? Values(next_slot_)[key * kBlockHalves] : Keys(next_slot_, strip);
      piece.column_rows = AlignUp(values ? step.keys : rows, kFractalRows);
      Fetch(values ? v_ : k_, step.batch, step.kv_head, step.key + key, rows, false, piece);
    }
    queue_[(oldest_ + pending_) % kLoadSlots] = piece;
    ++pending_;
    NextPiece();
  }

  __aicore__ inline void NextPiece() {
    if (++piece_ == piece_count_) {
      cursor_.Next();
      EnterTile();
    }
  }

  // MTE2: the strip-th share of the tile's columns of values.
  __aicore__ inline void LoadColumns(const Step& step, uint32_t strip) {
    const uint32_t columns = v_.padded / kBlockHalves;
    const uint32_t share = CeilDiv(columns, strips_);
    const int64_t start =
        v_.strides.batch * step.batch + v_.strides.head * step.kv_head + v_.strides.row * step.key;
    const uint32_t end = Smaller((strip + 1) * share, columns);
    for (uint32_t column = strip * share; column < end; ++column) {
      LoadColumn(Values(next_slot_), v_.tensor[start], step.keys, v_.columns, column,
                 v_.strides.row);
    }
    if (piece_ + 1 == piece_count_) {
      values_ready_.Publish();
    }
  }

  // MTE2: rows to the next slot in UB.
  __aicore__ inline void Fetch(const LoadSource& source, uint32_t batch, uint32_t head,
                               uint32_t row, uint32_t rows, bool queries, Piece& piece) {
    piece.width = source.padded;
    piece.rows = AlignUp(rows, kFractalRows);
    const uint32_t slot = load_ring_.Acquire();
    const AscendC::LocalTensor<half> target = pieces_[slot * piece_elements_];
    const int64_t start =
        source.strides.batch * batch + source.strides.head * head + source.strides.row * row;
    if (source.columns < kBlockHalves) {
      FetchNarrow(target, source, start, rows);
    } else {
      LoadRows(target, source.tensor[start], rows, source.columns, source.strides.row);
      Complete(target, source, rows, queries);
    }
    load_ring_.Publish();
  }

  // Rows up to the next multiple of 16 become zero; so do, in queries, the columns that the last
  // block repeats, which must not count twice in a product.
  __aicore__ inline void Complete(const AscendC::LocalTensor<half>& target,
                                  const LoadSource& source, uint32_t rows, bool queries) {
    const uint32_t padded_rows = AlignUp(rows, kFractalRows);
    const uint32_t repeated = queries ? source.padded - source.columns : 0;
    if (rows == padded_rows && repeated == 0) {
      return;
    }
    AscendC::PipeBarrier<PIPE_ALL>();
    if (rows != padded_rows) {
      AscendC::Duplicate(target[rows * source.padded], static_cast<half>(0.0f),
                         static_cast<int32_t>((padded_rows - rows) * source.padded));
    }
    if (repeated != 0) {
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Duplicate(target[source.padded - kBlockHalves], static_cast<half>(0.0f), repeated,
                         static_cast<uint8_t>(padded_rows), 1,
                         static_cast<uint8_t>(source.padded / kBlockHalves));
    }
    AscendC::PipeBarrier<PIPE_ALL>();
  }

  // Rows shorter than a copy's smallest unit come element by element.
  __aicore__ inline void FetchNarrow(const AscendC::LocalTensor<half>& target,
                                     const LoadSource& source, int64_t start, uint32_t rows) {
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::Duplicate(target, static_cast<half>(0.0f),
                       static_cast<int32_t>(AlignUp(rows, kFractalRows) * source.padded));
    AscendC::PipeBarrier<PIPE_ALL>();
    for (uint32_t row = 0; row < rows; ++row) {
      for (uint32_t column = 0; column < source.columns; ++column) {
        target.SetValue(row * source.padded + column,
                        source.tensor.GetValue(start + source.strides.row * row + column));
      }
    }
    AscendC::PipeBarrier<PIPE_ALL>();
  }

  // MTE3: the oldest piece to its place in L1.
  __aicore__ inline void HandOn() {
    const Piece& piece = queue_[oldest_];
    SplitColumns(piece.target, pieces_[load_ring_.Await() * piece_elements_], piece.rows,
                 piece.width, piece.column_rows);
    load_ring_.Release();
    if (piece.completes) {
      tile_ring_.Publish();
      ++published_;
    }
    oldest_ = (oldest_ + 1) % kLoadSlots;
    --pending_;
  }

  AscendC::TPipe& pipe_;
  const FlashAttentionTiling& tiling_;
  LoadSource q_{};
  LoadSource k_{};
  LoadSource v_{};
  AscendC::LocalTensor<half> pieces_;
  AscendC::LocalTensor<half> tiles_;
  SlotRing<AscendC::HardEvent::MTE2_MTE3, AscendC::HardEvent::MTE3_MTE2> load_ring_;
  // Of queries and keys, and values, in L1. Values that come by UB are stored after they were
  // fetched to it, which waits for the values before.
  SlotRing<AscendC::HardEvent::MTE3_MTE1, AscendC::HardEvent::MTE1_MTE3> tile_ring_;
  ReuseRing<AscendC::HardEvent::MTE1_MTE2> value_ring_;
  ReadyRing<AscendC::HardEvent::MTE2_MTE1> values_ready_;  // of those that come straight

  TaskCursor cursor_;
  uint32_t end_ = 0;
  Piece queue_[kLoadSlots];
  uint32_t oldest_ = 0;
  uint32_t pending_ = 0;
  uint32_t piece_ = 0;         // of the cursor's tile
  uint32_t query_pieces_ = 0;  // of it
  uint32_t strips_ = 0;        // of it
  uint32_t piece_count_ = 0;
  bool straight_ = false;  // its values come straight
  uint32_t piece_elements_ = 0;
  uint32_t next_slot_ = 0;
  uint32_t started_ = 0;    // tiles whose loading has begun
  uint32_t published_ = 0;  // tiles handed to the consumer
  uint32_t awaited_ = 0;    // tiles the consumer has asked for
  uint32_t released_ = 0;   // tiles whose keys it has let go of
  uint32_t released_values_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_TILE_LOADER_H
