// Matrices with a query per lane and a key per row: rows of 64, dense, as the vector cores see
// transposed scores. What belongs to a query is one row.
#ifndef ASCENDFA_FA_LANE_OPS_H
#define ASCENDFA_FA_LANE_OPS_H

#include "vector_ops.h"

namespace ascendfa {

constexpr uint32_t kLanes = kRepeatFloats;
using HalfTensor = AscendC::LocalTensor<half>;

// dst = max(a, b), min(a, b), or a + b, row by row.
__aicore__ inline void MaxRows(const HalfTensor& dst, const HalfTensor& a, const HalfTensor& b,
                               uint32_t rows) {
  constexpr uint8_t kRow = kLanes * sizeof(half) / kBlockBytes;
  if (rows % 2 == 0) {
    AscendC::Max(dst, a, b, 2 * kLanes, static_cast<uint8_t>(rows / 2),
                 AscendC::BinaryRepeatParams(1, 1, 1, 2 * kRow, 2 * kRow, 2 * kRow));
  } else {
    AscendC::Max(dst, a, b, kLanes, static_cast<uint8_t>(rows),
                 AscendC::BinaryRepeatParams(1, 1, 1, kRow, kRow, kRow));
  }
}
__aicore__ inline void MinRows(const HalfTensor& dst, const HalfTensor& a, const HalfTensor& b,
                               uint32_t rows) {
  constexpr uint8_t kRow = kLanes * sizeof(half) / kBlockBytes;
  AscendC::Min(dst, a, b, kLanes, static_cast<uint8_t>(rows),
               AscendC::BinaryRepeatParams(1, 1, 1, kRow, kRow, kRow));
}
__aicore__ inline void AddRows(const FloatTensor& dst, const FloatTensor& a, const FloatTensor& b,
                               uint32_t rows) {
  AscendC::Add(dst, a, b, kLanes, static_cast<uint8_t>(rows), LanesBinary());
}

// Rows kept when `rows` are folded in half; the others lie behind them.
__aicore__ inline uint32_t KeptRows(uint32_t rows) { return CeilDiv(rows, 2); }

}  // namespace ascendfa

#endif  // ASCENDFA_FA_LANE_OPS_H
