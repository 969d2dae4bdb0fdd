// Key tiles a block of query rows has to visit, and what each of them looks like.
#ifndef ASCENDFA_FA_BLOCK_RANGE_H
#define ASCENDFA_FA_BLOCK_RANGE_H

#include "seqlen.h"

namespace ascendfa {

// What the rows of a block see move by one key per row, so together they see one run of keys.
class BlockRange {
 public:
  __aicore__ inline BlockRange() {}
  // Rows [row, row + rows) of a sequence, in tiles of block_n keys from the run's first key on.
  __aicore__ inline BlockRange(const SeqLen& seqlen, uint32_t row, uint32_t rows, uint32_t block_n)
      : BlockRange(seqlen, row, rows, block_n, static_cast<uint32_t>(seqlen.FirstKey(row))) {}
  // The same in tiles from key `origin` on, which no row sees a key before.
  __aicore__ inline BlockRange(const SeqLen& seqlen, uint32_t row, uint32_t rows, uint32_t block_n,
                               uint32_t origin)
      : seen_by_first_(seqlen.LastKey(row)),
        seen_by_last_(seqlen.FirstKey(row + rows - 1)),
        origin_(origin),
        block_n_(block_n) {
    const int64_t last = seqlen.LastKey(row + rows - 1);
    keys_ = last < origin ? 0 : static_cast<uint32_t>(last + 1 - origin);
    first_tile_ = keys_ == 0 ? 0 : (static_cast<uint32_t>(seqlen.FirstKey(row)) - origin) / block_n;
  }

  // Tiles [FirstTile, Tiles) are those in which at least one row sees a key. The others are never
  // visited.
  __aicore__ inline uint32_t Origin() const { return origin_; }
  __aicore__ inline uint32_t FirstTile() const { return first_tile_; }
  __aicore__ inline uint32_t Tiles() const { return CeilDiv(keys_, block_n_); }
  __aicore__ inline bool Visits(uint32_t tile) const {
    return tile >= first_tile_ && tile < Tiles();
  }

  // First key of a tile, and its keys up to the last that a row sees.
  __aicore__ inline uint32_t KeyOf(uint32_t tile) const { return origin_ + tile * block_n_; }
  __aicore__ inline uint32_t KeysIn(uint32_t tile) const {
    return Smaller(block_n_, keys_ - tile * block_n_);
  }

  // True when some row does not see the last, or the first, of those keys.
  __aicore__ inline bool EndsEarly(uint32_t tile) const {
    return seen_by_first_ < static_cast<int64_t>(KeyOf(tile)) + KeysIn(tile) - 1;
  }
  __aicore__ inline bool StartsLate(uint32_t tile) const { return seen_by_last_ > KeyOf(tile); }

 private:
  int64_t seen_by_first_ = -1;  // last key of the block's first row
  int64_t seen_by_last_ = 0;    // first key of the block's last row
  uint32_t origin_ = 0;
  uint32_t keys_ = 0;  // from the origin to the last that a row sees
  uint32_t first_tile_ = 0;
  uint32_t block_n_ = 1;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_BLOCK_RANGE_H
