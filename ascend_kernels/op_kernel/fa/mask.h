// What a row must not see becomes minus infinity: keys beyond its last, keys before its first.
// Only tiles that some row does not fully see pay for it.
#ifndef ASCENDFA_FA_MASK_H
#define ASCENDFA_FA_MASK_H

#include "forward_loop.h"
#include "tile_coordinates.h"
#include "ub_arena.h"
#include "vector_ops.h"

namespace ascendfa {

// The most negative fp32 number: any two of it add up to minus infinity.
constexpr float kMostNegative = -3.4028234663852886e38f;

// Limits of one side, one per row.
class RowLimits {
 public:
  __aicore__ inline void Init(UbArena& arena) {
    limits_ = arena.Take<float>(kVectorRows);
    spread_ = arena.Take<float>(kVectorRows * kBlockFloats);
    AscendC::Duplicate(limits_, 0.0f, kRepeatFloats, 1, 1, 8);
  }
  __aicore__ inline const FloatTensor& Lanes() const { return limits_; }
  __aicore__ inline void Spread(uint32_t rows) { SpreadRows(spread_, limits_, rows); }
  __aicore__ inline FloatTensor From(uint32_t row) const { return spread_[row * kBlockFloats]; }

 private:
  FloatTensor limits_;
  FloatTensor spread_;
};

class WindowMask {
 public:
  // `scratch` takes 64 columns of a slice of rows.
  __aicore__ inline void Init(UbArena& arena, const TileCoordinates& coordinates,
                              const FloatTensor& scratch) {
    coordinates_ = coordinates;
    scratch_ = scratch;
    last_.Init(arena);
    first_.Init(arena);
  }

  // Limits of rows [row, row + rows) in the step's tile, for Apply. `width` is the columns worked
  // on. A vector barrier has to lie between the two.
  __aicore__ inline void Prepare(const SeqLen& seqlen, const Step& step, uint32_t row,
                                 uint32_t rows, uint32_t width) {
    const int64_t own = seqlen.OwnKey(row) - step.key;
    last_column_ = static_cast<int64_t>(step.keys) - 1;
    ends_ = step.ends_early || step.keys != width;
    starts_ = step.starts_late;
    moving_end_ = step.ends_early && seqlen.right >= 0;
    end_ = own + seqlen.right;
    start_ = own - seqlen.left;
    if (ends_) {
      PrepareEnds(rows);
    }
    if (starts_) {
      coordinates_.Diagonal(first_.Lanes(), start_, rows);
      AscendC::PipeBarrier<PIPE_V>();
      first_.Spread(rows);
    }
  }

  // Masks rows of the prepared tile; `offset` is the first one's distance from Prepare's row. The
  // caller owes a vector barrier before it reads the scores.
  __aicore__ inline void Apply(const FloatTensor& scores, const Rows& rows, uint32_t offset) {
    if (ends_) {
      HideAfterLast(scores, rows, offset);
    }
    if (starts_) {
      HideBeforeFirst(scores, rows, offset);
    }
  }

 private:
  __aicore__ inline void PrepareEnds(uint32_t rows) {
    const float last = static_cast<float>(last_column_ * TileCoordinates::kHalves);
    if (moving_end_) {
      coordinates_.Diagonal(last_.Lanes(), end_, rows);
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Mins(last_.Lanes(), last_.Lanes(), last, rows, 1, LanesUnary());
    } else {
      AscendC::Duplicate(last_.Lanes(), last, rows, 1, 1, 8);
    }
    AscendC::PipeBarrier<PIPE_V>();
    last_.Spread(rows);
  }

  __aicore__ inline void HideAfterLast(const FloatTensor& scores, const Rows& rows,
                                       uint32_t offset) {
    int64_t lowest = moving_end_ ? end_ + offset : last_column_;
    lowest = lowest < last_column_ ? lowest : last_column_;
    for (uint32_t block = 0; block < rows.Blocks(); ++block) {
      const uint32_t column = block * kRepeatFloats;
      if (static_cast<int64_t>(column) + kRepeatFloats - 1 <= lowest) {
        continue;
      }
      AscendC::Sub(scratch_, coordinates_.Columns(column), last_.From(offset), kRepeatFloats,
                   static_cast<uint8_t>(rows.count),
                   AscendC::BinaryRepeatParams(1, 1, 0, kStripStride, 0, 1));
      Hide(scores[column], rows);
    }
  }

  __aicore__ inline void HideBeforeFirst(const FloatTensor& scores, const Rows& rows,
                                         uint32_t offset) {
    const int64_t highest = start_ + offset + rows.count - 1;
    for (uint32_t block = 0; block < rows.Blocks(); ++block) {
      const uint32_t column = block * kRepeatFloats;
      if (static_cast<int64_t>(column) >= highest) {
        break;
      }
      AscendC::Sub(scratch_, first_.From(offset), coordinates_.Columns(column), kRepeatFloats,
                   static_cast<uint8_t>(rows.count),
                   AscendC::BinaryRepeatParams(1, 0, 1, kStripStride, 1, 0));
      Hide(scores[column], rows);
    }
  }

  // Minus infinity where the scratch strip is positive.
  __aicore__ inline void Hide(const FloatTensor& scores, const Rows& rows) {
    const uint8_t repeats = static_cast<uint8_t>(rows.count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Maxs(scratch_, scratch_, 0.0f, kRepeatFloats, repeats, DenseUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(scratch_, scratch_, kMostNegative, kRepeatFloats, repeats, DenseUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AddStrip(scores, rows, scratch_, kRepeatFloats);
  }

  TileCoordinates coordinates_;
  RowLimits last_;
  RowLimits first_;
  FloatTensor scratch_;
  int64_t last_column_ = 0;
  int64_t end_ = 0;    // last column of the prepared rows' first, if it moves with the rows
  int64_t start_ = 0;  // first column of the prepared rows' first
  bool ends_ = false;
  bool starts_ = false;
  bool moving_end_ = false;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_MASK_H
