// Masks as additive terms: each row has a last visible column, and what lies beyond it is pushed
// so far down that its exponential is zero. Only tiles that some row does not fully see pay for it.
#ifndef ASCENDFA_FA_MASK_H
#define ASCENDFA_FA_MASK_H

#include "forward_loop.h"
#include "ub_arena.h"
#include "vector_ops.h"

namespace ascendfa {

// Added once per column beyond the limit. Its multiples stay finite in fp32, and it is far below
// the floor of the running maximum, so a row that sees nothing sums to exactly zero.
constexpr float kMaskStep = -1.0e30f;

class RowLimitMask {
 public:
  __aicore__ inline void Init(UbArena& arena, const FloatTensor& scratch, uint32_t columns) {
    columns_ = arena.Take<float>(columns);
    lanes_ = arena.Take<float>(kVectorRows);
    limits_ = arena.Take<float>(kVectorRows);
    limits_spread_ = arena.Take<float>(kVectorRows * kBlockFloats);
    scratch_ = scratch;
    AscendC::CreateVecIndex(columns_, 0.0f, columns);
    AscendC::CreateVecIndex(lanes_, 0.0f, kVectorRows);
    AscendC::Duplicate(limits_, 0.0f, kRepeatFloats, 1, 1, 8);
  }

  // Limits of rows [row, row + rows) in a tile that starts at key step.key, for Apply. A vector
  // barrier has to lie between the two.
  __aicore__ inline void Prepare(const SeqLen& seqlen, const Step& step, uint32_t row,
                                 uint32_t rows) {
    last_column_ = static_cast<int64_t>(step.keys) - 1;
    first_limit_ = seqlen.LastKey(row) - step.key;
    slope_ = seqlen.causal ? 1 : 0;
    // The limit of lane i is min(diagonal + i, last column); without a mask only the latter.
    if (seqlen.causal) {
      const int64_t diagonal = static_cast<int64_t>(row) + seqlen.keys - seqlen.queries - step.key;
      AscendC::Adds(limits_, lanes_, static_cast<float>(diagonal), rows, 1, LanesUnary());
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Mins(limits_, limits_, static_cast<float>(last_column_), rows, 1, LanesUnary());
    } else {
      AscendC::Duplicate(limits_, static_cast<float>(last_column_), rows, 1, 1, 8);
    }
    AscendC::PipeBarrier<PIPE_V>();
    SpreadRows(limits_spread_, limits_, rows);
  }

  // Masks rows of the prepared tile; `offset` is the first one's distance from Prepare's row. The
  // caller owes a vector barrier before it reads the scores.
  __aicore__ inline void Apply(const FloatTensor& scores, const Rows& rows, uint32_t offset) {
    int64_t lowest = first_limit_ + static_cast<int64_t>(offset) * slope_;
    lowest = lowest < last_column_ ? lowest : last_column_;
    const FloatTensor limits = limits_spread_[offset * kBlockFloats];
    const Rows strip{rows.count, kRepeatFloats};
    for (uint32_t block = 0; block < rows.Blocks(); ++block) {
      const uint32_t column = block * kRepeatFloats;
      if (static_cast<int64_t>(column) + kRepeatFloats - 1 <= lowest) {
        continue;
      }
      const uint8_t repeats = static_cast<uint8_t>(rows.count);
      AscendC::Sub(scratch_, columns_[column], limits, kRepeatFloats, repeats,
                   AscendC::BinaryRepeatParams(1, 1, 0, strip.Stride(), 0, 1));
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Maxs(scratch_, scratch_, 0.0f, kRepeatFloats, repeats, DenseUnary());
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Muls(scratch_, scratch_, kMaskStep, kRepeatFloats, repeats, DenseUnary());
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Add(
          scores[column], scores[column], scratch_, kRepeatFloats, repeats,
          AscendC::BinaryRepeatParams(1, 1, 1, rows.Stride(), rows.Stride(), strip.Stride()));
    }
  }

 private:
  FloatTensor columns_;  // 0, 1, 2, ...
  FloatTensor lanes_;    // 0, 1, 2, ...
  FloatTensor limits_;
  FloatTensor limits_spread_;
  FloatTensor scratch_;  // one 64-column strip of a slice of rows
  int64_t first_limit_ = 0;
  int64_t last_column_ = 0;
  int64_t slope_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_MASK_H
