// Where the scores of a tile lie: column numbers, and per row the column of the row's own key.
// Everything is counted in half columns. Differences between columns are then at least two, which
// lets the mask turn them into minus infinity by one multiplication.
#ifndef ASCENDFA_FA_TILE_COORDINATES_H
#define ASCENDFA_FA_TILE_COORDINATES_H

#include "ub_arena.h"
#include "vector_ops.h"

namespace ascendfa {

class TileCoordinates {
 public:
  static constexpr uint32_t kHalves = 2;

  // The caller owes a vector barrier.
  __aicore__ inline void Init(UbArena& arena, uint32_t columns) {
    columns_ = arena.Take<float>(columns);
    AscendC::CreateVecIndex(columns_, 0.0f, columns);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(columns_, columns_, static_cast<float>(kHalves), static_cast<int32_t>(columns));
  }

  // 64 columns from `column` on.
  __aicore__ inline FloatTensor Columns(uint32_t column) const { return columns_[column]; }

  // Lane i: column `column` + i. It moves with the row as the row's own key does.
  __aicore__ inline void Diagonal(const FloatTensor& dst, int64_t column, uint32_t rows) const {
    AscendC::Adds(dst, columns_, static_cast<float>(column * kHalves), rows, 1, LanesUnary());
  }

 private:
  FloatTensor columns_;  // 0, 2, 4, ...
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_TILE_COORDINATES_H
