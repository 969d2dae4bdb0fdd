// Key tiles a block of query rows has to visit, and what each of them looks like.
#ifndef ASCENDFA_FA_BLOCK_RANGE_H
#define ASCENDFA_FA_BLOCK_RANGE_H

#include "seqlen.h"

namespace ascendfa {

class BlockRange {
 public:
  __aicore__ inline BlockRange() {}
  // Rows [row, row + rows) of a sequence, in tiles of block_n keys.
  __aicore__ inline BlockRange(const SeqLen& seqlen, uint32_t row, uint32_t rows, uint32_t block_n)
      : first_row_last_key_(seqlen.LastKey(row)),
        keys_(static_cast<uint32_t>(seqlen.LastKey(row + rows - 1) + 1)),
        block_n_(block_n) {
    if (seqlen.LastKey(row + rows - 1) < 0) {
      keys_ = 0;
    }
  }

  // Tiles in which at least one row sees a key. The others are never visited.
  __aicore__ inline uint32_t Tiles() const { return CeilDiv(keys_, block_n_); }

  // Keys of a tile that at least one row sees.
  __aicore__ inline uint32_t KeysIn(uint32_t tile) const {
    return Smaller(block_n_, keys_ - tile * block_n_);
  }

  // True when some row does not see all of those keys.
  __aicore__ inline bool IsBoundary(uint32_t tile) const {
    const int64_t last = static_cast<int64_t>(tile) * block_n_ + KeysIn(tile) - 1;
    return first_row_last_key_ < last;
  }

 private:
  int64_t first_row_last_key_ = -1;
  uint32_t keys_ = 0;
  uint32_t block_n_ = 1;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_BLOCK_RANGE_H
