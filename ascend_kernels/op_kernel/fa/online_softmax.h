// Softmax over a row of scores that arrives tile by tile. Per row it carries the running maximum m
// and the running sum l of exp(score - m); when a tile raises the maximum, what was summed before
// is worth alpha = exp(m_old - m_new) of its value. fp32 throughout. What is kept of the maximum is
// its negative: scores then take it on in the instruction that scales them.
#ifndef ASCENDFA_FA_ONLINE_SOFTMAX_H
#define ASCENDFA_FA_ONLINE_SOFTMAX_H

#include "mask.h"
#include "row_reduction.h"
#include "ub_arena.h"
#include "vector_ops.h"

namespace ascendfa {

// Where the negative maximum starts: no score is lower than its negative but minus infinity, and it
// is finite, so that no difference of a score or a maximum and a maximum is undefined.
constexpr float kStartOffset = -kMostNegative;

// Statistics of the rows of one vector core, one set per step in flight: the pipeline still needs
// a step's alpha, m and l when it has long begun the next ones.
class SoftmaxState {
 public:
  // `rows` per slice; `scratch` takes an eighth of a slice of scores.
  __aicore__ inline void Init(UbArena& arena, uint32_t depth, uint32_t rows,
                              const FloatTensor& scratch) {
    const FloatTensor all = arena.Take<float>((3 * depth + kFixed) * kVectorRows);
    start_offset_ = all;
    start_sum_ = all[kVectorRows];
    row_offset_ = all[2 * kVectorRows];
    offset_ = all[kFixed * kVectorRows];
    sum_ = offset_[depth * kVectorRows];
    alpha_ = sum_[depth * kVectorRows];
    spread_ = arena.Take<float>(kVectorRows * kBlockFloats);
    // In another bank than the first of the spread values it is read together with.
    factor_ = arena.Take<float>(2 * kBlockFloats)[kBlockFloats];
    maximum_.Init(arena, rows, scratch);
    total_.Init(arena, rows, arena.Take<float>(rows * kRepeatFloats));
    // Spreading reads whole groups of eight rows: lanes beyond the last row must hold something.
    AscendC::Duplicate(row_offset_, 0.0f, kRepeatFloats,
                       static_cast<uint8_t>(3 * depth + kFixed - 2), 1, 8);
    AscendC::Duplicate(start_offset_, kStartOffset, kRepeatFloats, 1, 1, 8);
    AscendC::Duplicate(start_sum_, 0.0f, kRepeatFloats, 1, 1, 8);
  }

  // What Normalise multiplies scores by, above zero. The caller owes a vector barrier.
  __aicore__ inline void SetFactor(float factor) {
    scale_ = factor;
    AscendC::Duplicate(factor_, factor, kBlockFloats, 1, 1, 8);
  }

  // Makes `slot` the current step's set; its predecessor's is the one of the band's step before.
  __aicore__ inline void Begin(uint32_t slot, uint32_t band, bool first_of_band) {
    current_.previous_offset =
        first_of_band ? start_offset_ : offset_[band_slots_[band] * kVectorRows];
    current_.previous_sum = first_of_band ? start_sum_ : sum_[band_slots_[band] * kVectorRows];
    band_slots_[band] = slot;
    current_.offset = offset_[slot * kVectorRows];
    current_.sum = sum_[slot * kVectorRows];
    current_.alpha = alpha_[slot * kVectorRows];
  }

  // scores (row-dense, width a multiple of 64) -> exp(factor score - running maximum), for the rows
  // that start at row `row` of this core. What is left to do for the slice before, sums that wait
  // for barriers more than for the unit, is done on the way.
  __aicore__ inline void Normalise(const FloatTensor& scores, const Rows& rows, uint32_t row) {
    maximum_.Blocks<RowOp::kMaximum>(scores, rows);
    AscendC::PipeBarrier<PIPE_V>();
    maximum_.Groups<RowOp::kMaximum>(rows);
    FinishFirst();
    AscendC::PipeBarrier<PIPE_V>();
    maximum_.Values<RowOp::kMaximum>(row_offset_[row], rows);
    FinishSecond();
    AscendC::PipeBarrier<PIPE_V>();
    FinishThird();
    AscendC::Muls(row_offset_[row], row_offset_[row], -scale_, rows.count, 1, LanesUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Min(current_.offset[row], current_.previous_offset[row], row_offset_[row], rows.count,
                 1, LanesBinary());
    AscendC::PipeBarrier<PIPE_V>();
    SpreadRows(spread_, current_.offset[row], rows.count);
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t block = 0; block < rows.Blocks(); ++block) {
      AscendC::FusedMulAdd(scores[block * kRepeatFloats], factor_, spread_, kRepeatFloats,
                           static_cast<uint8_t>(rows.count),
                           AscendC::BinaryRepeatParams(1, 0, 0, rows.Stride(), 0, 1));
    }
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Exp(scores, scores, kRepeatFloats, DenseRepeats(rows), DenseUnary());
    AscendC::PipeBarrier<PIPE_V>();
  }

  // Begins to sum what Normalise made of a slice; the next slice, or Flush, goes on with it.
  __aicore__ inline void Sum(const FloatTensor& weights, const Rows& rows, uint32_t row) {
    total_.Blocks<RowOp::kSum>(weights, rows);
    pending_rows_ = rows;
    pending_sum_ = current_.sum[row];
  }

  // After all slices of the step: alpha and the running sum of the core's first `rows` rows follow
  // with the next slice, or Flush.
  __aicore__ inline void End(uint32_t rows) {
    ended_ = current_;
    ended_rows_ = rows;
  }

  // Does at once what the next slice would. The caller owes a vector barrier.
  __aicore__ inline void Flush() {
    AscendC::PipeBarrier<PIPE_V>();
    FinishFirst();
    AscendC::PipeBarrier<PIPE_V>();
    FinishSecond();
    AscendC::PipeBarrier<PIPE_V>();
    FinishThird();
  }

  __aicore__ inline FloatTensor Alpha(uint32_t slot) const { return alpha_[slot * kVectorRows]; }
  // The negative of the maximum.
  __aicore__ inline FloatTensor Offset(uint32_t slot) const { return offset_[slot * kVectorRows]; }
  __aicore__ inline FloatTensor Sum(uint32_t slot) const { return sum_[slot * kVectorRows]; }

 private:
  static constexpr uint32_t kFixed = 3;

  // What a step computes and starts from.
  struct Set {
    FloatTensor offset;
    FloatTensor sum;
    FloatTensor alpha;
    FloatTensor previous_offset;
    FloatTensor previous_sum;
  };

  __aicore__ inline void FinishFirst() {
    if (pending_rows_.count != 0) {
      total_.Groups<RowOp::kSum>(pending_rows_);
    }
    if (ended_rows_ != 0) {
      AscendC::Sub(ended_.alpha, ended_.offset, ended_.previous_offset, ended_rows_, 1,
                   LanesBinary());
    }
  }
  __aicore__ inline void FinishSecond() {
    if (pending_rows_.count != 0) {
      total_.Values<RowOp::kSum>(pending_sum_, pending_rows_);
      pending_rows_.count = 0;
    }
    if (ended_rows_ != 0) {
      AscendC::Exp(ended_.alpha, ended_.alpha, ended_rows_, 1, LanesUnary());
    }
  }
  __aicore__ inline void FinishThird() {
    if (ended_rows_ != 0) {
      AscendC::MulAddDst(ended_.sum, ended_.previous_sum, ended_.alpha, ended_rows_, 1,
                         LanesBinary());
      ended_rows_ = 0;
    }
  }

  FloatTensor start_offset_;
  FloatTensor start_sum_;
  FloatTensor row_offset_;
  FloatTensor offset_;
  FloatTensor sum_;
  FloatTensor alpha_;
  FloatTensor spread_;
  FloatTensor factor_;  // one block
  Set current_;
  Set ended_;  // of the step whose statistics are under way
  RowReduction maximum_;
  RowReduction total_;
  uint32_t band_slots_[kMaxBands] = {};
  Rows pending_rows_{0, 0};  // of the slice whose sums are under way
  FloatTensor pending_sum_;
  uint32_t ended_rows_ = 0;
  float scale_ = 1.0f;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_ONLINE_SOFTMAX_H
