// What the cube core of a banded task keeps in L1 beside its queries: keys, values and weights, in
// pieces of a tile. Every piece is asked for as soon as the one whose place it takes has been used,
// long before its step comes up.
#ifndef ASCENDFA_FA_BANDED_OPERANDS_H
#define ASCENDFA_FA_BANDED_OPERANDS_H

#include "../arch/capacities.h"
#include "../arch/cube_vector_bridge.h"
#include "../arch/tile_copy.h"
#include "forward_loop.h"
#include "kernel_operator.h"
#include "slot_ring.h"

namespace ascendfa {

// Tiles says in which order operands lie in L1: for products whose rows are queries, or keys.
template <typename Element, template <typename> class Tiles>
class BandedOperands {
 public:
  using Bridge = typename Tiles<Element>::Bridge;
  using Tile = AscendC::LocalTensor<Element>;

  __aicore__ inline BandedOperands(AscendC::TPipe& pipe, const FlashAttentionTiling& tiling,
                                   Bridge& bridge)
      : pipe_(pipe), tiling_(tiling), bridge_(bridge) {}

  __aicore__ inline void Init(GM_ADDR k, GM_ADDR v) {
    k_.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(k));
    v_.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(v));
    const uint32_t rows = Smaller(tiling_.block_m, kCubeEdge);
    const uint32_t slots = tiling_.kv_slots;
    key_elements_ = tiling_.piece_keys * tiling_.head_dim_padded;
    value_elements_ = tiling_.piece_keys * tiling_.value_dim_padded;
    weight_keys_ = Tiles<Element>::WeightKeys(tiling_.piece_keys);
    weight_elements_ = weight_keys_ * Tiles<Element>::BandRows(rows);
    const uint32_t elements =
        slots * (key_elements_ + value_elements_) + kWeightSlots * weight_elements_;
    pipe_.InitBuffer(buffer_, elements * sizeof(Element));
    keys_ = buffer_.template Get<Element>();
    values_ = keys_[slots * key_elements_];
    weights_ = values_[slots * value_elements_];
  }

  // Begins with the keys of the first of the group's steps.
  __aicore__ inline void Open(const StepCursor& steps) {
    key_ring_.Open(pipe_, tiling_.kv_slots);
    value_ring_.Open(pipe_, tiling_.kv_slots);
    weight_ring_.Open(pipe_, kWeightSlots);
    next_keys_ = PieceCursor{steps, 0};
    next_values_ = next_keys_;
    next_weights_ = next_keys_;
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
    key_ring_.Close(pipe_);
    value_ring_.Close(pipe_);
    weight_ring_.Close(pipe_);
  }

  // MTE1: 128 keys of the step's tile from column `col` on.
  __aicore__ inline Tile Keys(const Step& step, uint32_t col) {
    if (step.opens && col == 0) {
      key_pieces_ = Pieces{};
    }
    const uint32_t piece = col / tiling_.piece_keys;
    if (piece == key_pieces_.arrived) {
      key_pieces_.Add(key_ring_.Await());
    }
    return keys_[key_pieces_.slots[piece] * key_elements_ +
                 col % tiling_.piece_keys * tiling_.head_dim_padded];
  }
  __aicore__ inline void DoneWithKeys(const Step& step, uint32_t col) {
    for (uint32_t count = Finished(step, col, key_pieces_); count != 0; --count) {
      key_ring_.Release();
      LoadKeys();
    }
  }

  // MTE1: the values of 128 keys, and their weights.
  __aicore__ inline Tile Values(const Step& step, uint32_t col) {
    if (step.opens && col == 0) {
      value_pieces_ = Pieces{};
    }
    const uint32_t piece = col / tiling_.piece_keys;
    if (piece == value_pieces_.arrived) {
      value_pieces_.Add(value_ring_.Await());
    }
    return values_[value_pieces_.slots[piece] * value_elements_ +
                   col % tiling_.piece_keys * tiling_.value_dim_padded];
  }
  __aicore__ inline Tile Weights(uint32_t col) {
    if (col == 0) {
      weight_pieces_ = Pieces{};
    }
    const uint32_t piece = col / weight_keys_;
    if (piece == weight_pieces_.arrived) {
      weight_pieces_.Add(weight_ring_.Await());
    }
    return weights_[weight_pieces_.slots[piece] * weight_elements_ +
                    Tiles<Element>::WeightOffset(bridge_, col % weight_keys_)];
  }
  __aicore__ inline void DoneWithValues(const Step& step, uint32_t col) {
    for (uint32_t count = Finished(step, col, value_pieces_); count != 0; --count) {
      value_ring_.Release();
      LoadValues();
    }
    if (EndsPiece(step, col, weight_keys_)) {
      weight_ring_.Release();
      LoadWeights();
    }
  }

 private:
  static constexpr uint32_t kMaxPieces = 4;
  using Ring = SlotRing<AscendC::HardEvent::MTE2_MTE1, AscendC::HardEvent::MTE1_MTE2>;

  // Pieces of one tile: how many have arrived, and gone again, and where they are.
  struct Pieces {
    uint32_t arrived = 0;
    uint32_t finished = 0;
    uint32_t slots[kMaxPieces] = {};

    __aicore__ inline void Add(uint32_t slot) { slots[arrived++] = slot; }
  };
  // The next piece to fetch.
  struct PieceCursor {
    StepCursor step;
    uint32_t first;  // its first key, counted from the tile's
  };

  // How many more of the tile's pieces no band needs any longer. The band that closes a tile may
  // see less of it than the one before.
  __aicore__ inline uint32_t Finished(const Step& step, uint32_t col, Pieces& pieces) const {
    if (!step.closes || !EndsPiece(step, col, tiling_.piece_keys)) {
      return 0;
    }
    const bool all = col + kCubeEdge >= step.keys;
    const uint32_t count = all ? pieces.arrived - pieces.finished : 1;
    pieces.finished += count;
    return count;
  }

  // The last 128 keys of a piece.
  __aicore__ inline static bool EndsPiece(const Step& step, uint32_t col, uint32_t piece_keys) {
    return (col + kCubeEdge) % piece_keys == 0 || col + kCubeEdge >= step.keys;
  }

  // MTE2: the next piece of keys.
  __aicore__ inline void LoadKeys() {
    if (!FindTile(next_keys_)) {
      return;
    }
    const Step& step = next_keys_.step.Current();
    const uint32_t count = Smaller(tiling_.piece_keys, step.fetched - next_keys_.first);
    Tiles<Element>::LoadKeys(
        keys_[key_ring_.Acquire() * key_elements_],
        k_[TensorOffset(tiling_.k, step, step.kv_head, step.key + next_keys_.first)], count,
        tiling_.head_dim, tiling_.k.row);
    key_ring_.Publish();
    Advance(next_keys_, step.fetched, tiling_.piece_keys);
  }

  // MTE2: the next piece of values.
  __aicore__ inline void LoadValues() {
    if (!FindTile(next_values_)) {
      return;
    }
    const Step& step = next_values_.step.Current();
    LoadTileByRows(values_[value_ring_.Acquire() * value_elements_],
                   v_[TensorOffset(tiling_.v, step, step.kv_head, step.key + next_values_.first)],
                   Smaller(tiling_.piece_keys, step.fetched - next_values_.first),
                   tiling_.value_dim, tiling_.v.row);
    value_ring_.Publish();
    Advance(next_values_, step.fetched, tiling_.piece_keys);
  }

  // MTE2: the next piece of weights, a step's first once they are there.
  __aicore__ inline void LoadWeights() {
    if (!next_weights_.step.Valid()) {
      return;
    }
    const Step& step = next_weights_.step.Current();
    const uint32_t first = next_weights_.first;
    const uint32_t slot = weight_ring_.Acquire();
    if (first == 0) {
      bridge_.AwaitWeights();
    }
    Tiles<Element>::LoadWeights(weights_[slot * weight_elements_], bridge_, step, first,
                                Smaller(weight_keys_, step.keys - first));
    weight_ring_.Publish();
    Advance(next_weights_, step.keys, weight_keys_);
  }

  // Moves on to a step that begins a tile. False when there is none left.
  __aicore__ inline static bool FindTile(PieceCursor& next) {
    while (next.step.Valid() && !next.step.Current().opens) {
      next.step.Next();
    }
    return next.step.Valid();
  }

  __aicore__ inline static void Advance(PieceCursor& next, uint32_t keys, uint32_t piece_keys) {
    next.first += piece_keys;
    if (next.first >= keys) {
      next.first = 0;
      next.step.Next();
    }
  }

  AscendC::TPipe& pipe_;
  const FlashAttentionTiling& tiling_;
  Bridge& bridge_;
  AscendC::GlobalTensor<Element> k_;
  AscendC::GlobalTensor<Element> v_;
  AscendC::TBuf<AscendC::TPosition::A1> buffer_;
  Tile keys_;
  Tile values_;
  Tile weights_;
  Ring key_ring_;
  Ring value_ring_;
  Ring weight_ring_;
  PieceCursor next_keys_;
  PieceCursor next_values_;
  PieceCursor next_weights_;
  Pieces key_pieces_;
  Pieces value_pieces_;
  Pieces weight_pieces_;
  uint32_t key_elements_ = 0;
  uint32_t value_elements_ = 0;
  uint32_t weight_keys_ = 0;  // fetched at a time
  uint32_t weight_elements_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_BANDED_OPERANDS_H
