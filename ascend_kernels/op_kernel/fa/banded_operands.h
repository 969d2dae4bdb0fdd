// What the cube core of a banded task keeps in L1: queries of its bands, and keys, values and
// weights in pieces of a tile. Every piece is asked for as soon as the one whose place it takes has
// been used, long before its step comes up.
#ifndef ASCENDFA_FA_BANDED_OPERANDS_H
#define ASCENDFA_FA_BANDED_OPERANDS_H

#include "../arch/capacities.h"
#include "../arch/cube_vector_bridge.h"
#include "../arch/tile_copy.h"
#include "forward_loop.h"
#include "kernel_operator.h"
#include "slot_ring.h"

namespace ascendfa {

template <typename Element>
class BandedOperands {
 public:
  using Bridge = CubeVectorBridge<Element>;
  using Tile = AscendC::LocalTensor<Element>;

  __aicore__ inline BandedOperands(AscendC::TPipe& pipe, const FlashAttentionTiling& tiling,
                                   Bridge& bridge)
      : pipe_(pipe), tiling_(tiling), bridge_(bridge) {}

  __aicore__ inline void Init(GM_ADDR q, GM_ADDR k, GM_ADDR v) {
    q_.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(q));
    k_.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(k));
    v_.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(v));
    const uint32_t rows = Smaller(tiling_.block_m, kCubeEdge);
    const uint32_t slots = tiling_.kv_slots;
    query_elements_ = rows * tiling_.head_dim_padded;
    key_elements_ = tiling_.piece_keys * tiling_.head_dim_padded;
    value_elements_ = tiling_.piece_keys * tiling_.value_dim_padded;
    weight_elements_ = tiling_.piece_keys * rows;
    const uint32_t elements = kQuerySlots * query_elements_ +
                              slots * (key_elements_ + value_elements_) +
                              kWeightSlots * weight_elements_;
    pipe_.InitBuffer(buffer_, elements * sizeof(Element));
    queries_ = buffer_.template Get<Element>();
    keys_ = queries_[kQuerySlots * query_elements_];
    values_ = keys_[slots * key_elements_];
    weights_ = values_[slots * value_elements_];
  }

  // Begins with the queries and keys of the first of the group's steps.
  __aicore__ inline void Open(const StepCursor& steps) {
    query_ring_.Open(pipe_, kQuerySlots);
    key_ring_.Open(pipe_, tiling_.kv_slots);
    value_ring_.Open(pipe_, tiling_.kv_slots);
    weight_ring_.Open(pipe_, kWeightSlots);
    next_query_ = steps;
    next_keys_ = PieceCursor{steps, 0};
    next_values_ = next_keys_;
    next_weights_ = next_keys_;
    for (uint32_t i = 0; i < kQuerySlots; ++i) {
      LoadQuery();
    }
    for (uint32_t i = 0; i < tiling_.kv_slots; ++i) {
      LoadKeys();
    }
  }

  // Begins with values and weights. Not before the first step that needs them: waiting for weights
  // would keep the first keys from coming.
  __aicore__ inline void OpenValues() {
    for (uint32_t i = 0; i < tiling_.kv_slots; ++i) {
      LoadValues();
    }
    for (uint32_t i = 0; i < kWeightSlots; ++i) {
      LoadWeights();
    }
  }

  __aicore__ inline void Close() {
    query_ring_.Close(pipe_);
    key_ring_.Close(pipe_);
    value_ring_.Close(pipe_);
    weight_ring_.Close(pipe_);
  }

  // MTE1: the queries of the step's band.
  __aicore__ inline Tile Queries(const Step& step) {
    if (step.first) {
      query_slots_[step.band] = query_ring_.Await();
    }
    return queries_[query_slots_[step.band] * query_elements_];
  }
  __aicore__ inline void DoneWithQueries(const Step& step) {
    if (step.last) {
      query_ring_.Release();
      LoadQuery();
    }
  }

  // MTE1: 128 keys of the step's tile from column `col` on.
  __aicore__ inline Tile Keys(const Step& step, uint32_t col) {
    if (step.opens && col == 0) {
      key_pieces_ = Pieces{};
    }
    const uint32_t piece = PieceOf(col);
    if (piece == key_pieces_.arrived) {
      key_pieces_.Add(key_ring_.Await());
    }
    return keys_[key_pieces_.slots[piece] * key_elements_ + Within(col) * tiling_.head_dim_padded];
  }
  __aicore__ inline void DoneWithKeys(const Step& step, uint32_t col) {
    if (step.closes && EndsPiece(step, col)) {
      key_ring_.Release();
      LoadKeys();
    }
  }

  // MTE1: the values of 128 keys, and their weights. Both may be read once both have been asked
  // for.
  __aicore__ inline Tile Values(const Step& step, uint32_t col) {
    if (step.opens && col == 0) {
      value_pieces_ = Pieces{};
    }
    const uint32_t piece = PieceOf(col);
    if (piece == value_pieces_.arrived) {
      value_pieces_.Add(value_ring_.Next());
    }
    return values_[value_pieces_.slots[piece] * value_elements_ +
                   Within(col) * tiling_.value_dim_padded];
  }
  __aicore__ inline Tile Weights(uint32_t col) {
    if (col == 0) {
      weight_pieces_ = Pieces{};
    }
    const uint32_t piece = PieceOf(col);
    if (piece == weight_pieces_.arrived) {
      weight_pieces_.Add(weight_ring_.Await());
    }
    return weights_[weight_pieces_.slots[piece] * weight_elements_ +
                    bridge_.PanelOffset(Within(col))];
  }
  __aicore__ inline void DoneWithValues(const Step& step, uint32_t col) {
    if (!EndsPiece(step, col)) {
      return;
    }
    if (step.closes) {
      value_ring_.Release();
      LoadValues();
    }
    weight_ring_.Release();
    LoadWeights();
  }

 private:
  static constexpr uint32_t kMaxPieces = 4;
  using Ring = SlotRing<AscendC::HardEvent::MTE2_MTE1, AscendC::HardEvent::MTE1_MTE2>;

  // Pieces of one tile: how many have arrived, and where they are.
  struct Pieces {
    uint32_t arrived = 0;
    uint32_t slots[kMaxPieces] = {};

    __aicore__ inline void Add(uint32_t slot) { slots[arrived++] = slot; }
  };
  // The next piece to fetch.
  struct PieceCursor {
    StepCursor step;
    uint32_t first;  // its first key, counted from the tile's
  };

  __aicore__ inline uint32_t PieceOf(uint32_t col) const { return col / tiling_.piece_keys; }
  __aicore__ inline uint32_t Within(uint32_t col) const { return col % tiling_.piece_keys; }
  // The last 128 keys of a piece.
  __aicore__ inline bool EndsPiece(const Step& step, uint32_t col) const {
    return Within(col + kCubeEdge) == 0 || col + kCubeEdge >= step.keys;
  }

  // MTE2: the queries of the next band.
  __aicore__ inline void LoadQuery() {
    for (; next_query_.Valid(); next_query_.Next()) {
      const Step& step = next_query_.Current();
      if (!step.first) {
        continue;
      }
      LoadTileByRows(queries_[query_ring_.Acquire() * query_elements_],
                     q_[Offset(tiling_.q, step, step.q_head, step.row)], step.rows,
                     tiling_.head_dim, tiling_.q.row);
      query_ring_.Publish();
      next_query_.Next();
      return;
    }
  }

  // MTE2: the next piece of keys.
  __aicore__ inline void LoadKeys() {
    if (!FindTile(next_keys_)) {
      return;
    }
    const Step& step = next_keys_.step.Current();
    const uint32_t count = Smaller(tiling_.piece_keys, step.fetched - next_keys_.first);
    const uint32_t slot = key_ring_.Acquire();
    for (uint32_t key = 0; key < count; key += kCubeEdge) {
      LoadTile(keys_[slot * key_elements_ + key * tiling_.head_dim_padded],
               k_[Offset(tiling_.k, step, step.kv_head, step.key + next_keys_.first + key)],
               Smaller(kCubeEdge, count - key), tiling_.head_dim, tiling_.k.row);
    }
    key_ring_.Publish();
    Advance(next_keys_, step.fetched);
  }

  // MTE2: the next piece of values.
  __aicore__ inline void LoadValues() {
    if (!FindTile(next_values_)) {
      return;
    }
    const Step& step = next_values_.step.Current();
    LoadTileByRows(values_[value_ring_.Acquire() * value_elements_],
                   v_[Offset(tiling_.v, step, step.kv_head, step.key + next_values_.first)],
                   Smaller(tiling_.piece_keys, step.fetched - next_values_.first),
                   tiling_.value_dim, tiling_.v.row);
    Advance(next_values_, step.fetched);
  }

  // MTE2: the next piece of weights, a step's first once they are there.
  __aicore__ inline void LoadWeights() {
    if (!next_weights_.step.Valid()) {
      return;
    }
    const Step& step = next_weights_.step.Current();
    const uint32_t first = next_weights_.first;
    const uint32_t count = Smaller(tiling_.piece_keys, step.keys - first);
    const AscendC::GlobalTensor<Element> weights = bridge_.Weights(step.slot);
    const uint32_t slot = weight_ring_.Acquire();
    if (first == 0) {
      bridge_.AwaitWeights();
    }
    for (uint32_t key = 0; key < count; key += kCubeEdge) {
      LoadTileByRows(weights_[slot * weight_elements_ + bridge_.PanelOffset(key)],
                     weights[bridge_.PanelOffset(first + key)], step.rows,
                     AlignUp(Smaller(kCubeEdge, count - key), kFractalRows), kCubeEdge);
    }
    weight_ring_.Publish();
    Advance(next_weights_, step.keys);
  }

  // Moves on to a step that begins a tile. False when there is none left.
  __aicore__ inline static bool FindTile(PieceCursor& next) {
    while (next.step.Valid() && !next.step.Current().opens) {
      next.step.Next();
    }
    return next.step.Valid();
  }

  __aicore__ inline void Advance(PieceCursor& next, uint32_t keys) const {
    next.first += tiling_.piece_keys;
    if (next.first >= keys) {
      next.first = 0;
      next.step.Next();
    }
  }

  __aicore__ inline static int64_t Offset(const FlashAttentionStrides& strides, const Step& step,
                                          uint32_t head, uint32_t row) {
    return strides.batch * step.batch + strides.head * head + strides.row * row;
  }

  AscendC::TPipe& pipe_;
  const FlashAttentionTiling& tiling_;
  Bridge& bridge_;
  AscendC::GlobalTensor<Element> q_;
  AscendC::GlobalTensor<Element> k_;
  AscendC::GlobalTensor<Element> v_;
  AscendC::TBuf<AscendC::TPosition::A1> buffer_;
  Tile queries_;
  Tile keys_;
  Tile values_;
  Tile weights_;
  Ring query_ring_;
  Ring key_ring_;
  // Values are loaded before the weights that they are multiplied by and that are waited for.
  ReuseRing<AscendC::HardEvent::MTE1_MTE2> value_ring_;
  Ring weight_ring_;
  StepCursor next_query_;
  PieceCursor next_keys_;
  PieceCursor next_values_;
  PieceCursor next_weights_;
  Pieces key_pieces_;
  Pieces value_pieces_;
  Pieces weight_pieces_;
  uint32_t query_slots_[kMaxBands] = {};
  uint32_t query_elements_ = 0;
  uint32_t key_elements_ = 0;
  uint32_t value_elements_ = 0;
  uint32_t weight_elements_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_BANDED_OPERANDS_H
