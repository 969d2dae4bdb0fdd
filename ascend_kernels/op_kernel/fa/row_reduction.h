// Rows of a slice to one value each, in three instructions that each fold blocks of eight: a row of
// up to 512 columns to 64, 8 and 1. Folding whole repeats instead takes seven times as long per
// row.
#ifndef ASCENDFA_FA_ROW_REDUCTION_H
#define ASCENDFA_FA_ROW_REDUCTION_H

#include "ub_arena.h"
#include "vector_ops.h"

namespace ascendfa {

enum class RowOp { kMaximum, kSum };

// A vector barrier has to lie between the three.
class RowReduction {
 public:
  // Slices of up to `rows` rows; `blocks` takes 64 values for each.
  __aicore__ inline void Init(UbArena& arena, uint32_t rows, const FloatTensor& blocks) {
    blocks_ = blocks;
    groups_ = arena.Take<float>(rows * kBlockFloats);
  }

  template <RowOp kOp>
  __aicore__ inline void Blocks(const FloatTensor& src, const Rows& rows) const {
    Fold<kOp>(blocks_, src, DenseRepeats(rows), kRepeatFloats, kStripStride);
  }

  template <RowOp kOp>
  __aicore__ inline void Groups(const Rows& rows) const {
    Fold<kOp>(groups_, blocks_, static_cast<uint8_t>(rows.count), rows.width / kBlockFloats,
              static_cast<int32_t>(rows.Blocks()));
  }

  // Of each row's eight values, those the row is wide enough for.
  template <RowOp kOp>
  __aicore__ inline void Values(const FloatTensor& dst, const Rows& rows) const {
    constexpr uint64_t kFirstOfEach = 0x0101010101010101ull;
    const uint64_t mask = kFirstOfEach * ((1ull << rows.Blocks()) - 1);
    const uint32_t whole = rows.count / kBlockFloats;
    const uint32_t rest = rows.count % kBlockFloats;
    if (whole != 0) {
      FoldLanes<kOp>(dst, groups_, static_cast<int32_t>(whole), mask);
    }
    if (rest != 0) {
      FoldLanes<kOp>(dst[whole * kBlockFloats], groups_[whole * kRepeatFloats], 1,
                     mask & ((1ull << (rest * kBlockFloats)) - 1));
    }
  }

 private:
  template <RowOp kOp>
  __aicore__ inline static void Fold(const FloatTensor& dst, const FloatTensor& src,
                                     uint8_t repeats, uint32_t lanes, int32_t stride) {
    if constexpr (kOp == RowOp::kMaximum) {
      AscendC::BlockReduceMax(dst, src, repeats, static_cast<int32_t>(lanes), 1, 1, stride);
    } else {
      AscendC::BlockReduceSum(dst, src, repeats, static_cast<int32_t>(lanes), 1, 1, stride);
    }
  }
  template <RowOp kOp>
  __aicore__ inline static void FoldLanes(const FloatTensor& dst, const FloatTensor& src,
                                          int32_t repeats, uint64_t lanes) {
    const uint64_t mask[2] = {lanes, 0};
    if constexpr (kOp == RowOp::kMaximum) {
      AscendC::BlockReduceMax(dst, src, repeats, mask, 1, 1, kStripStride);
    } else {
      AscendC::BlockReduceSum(dst, src, repeats, mask, 1, 1, kStripStride);
    }
  }

  FloatTensor blocks_;  // per row, one value per block of its scores
  FloatTensor groups_;  // per row, one value per repeat of its scores
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_ROW_REDUCTION_H
