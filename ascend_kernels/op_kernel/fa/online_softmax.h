// Softmax over a row of scores that arrives tile by tile. Per row it carries the running maximum m
// and the running sum l of exp(score - m); when a tile raises the maximum, what was summed before
// is worth alpha = exp(m_old - m_new) of its value. fp32 throughout.
#ifndef ASCENDFA_FA_ONLINE_SOFTMAX_H
#define ASCENDFA_FA_ONLINE_SOFTMAX_H

#include "mask.h"
#include "ub_arena.h"
#include "vector_ops.h"

namespace ascendfa {

// Where the running maximum starts: no score is lower but minus infinity, and it is finite, so that
// no difference of a score or a maximum and a maximum is undefined.
constexpr float kMaximumFloor = kMostNegative;
// Keeps a row without keys from dividing zero by zero.
constexpr float kTinySum = 1.0e-30f;

// Statistics of the rows of one vector core, one set per step in flight: the pipeline still needs
// a step's alpha, m and l when it has long begun the next ones.
class SoftmaxState {
 public:
  __aicore__ inline void Init(UbArena& arena, uint32_t depth) {
    const FloatTensor all = arena.Take<float>((3 * depth + kFixed) * kVectorRows);
    start_max_ = all;
    start_sum_ = all[kVectorRows];
    row_max_ = all[2 * kVectorRows];
    row_sum_ = all[3 * kVectorRows];
    max_ = all[kFixed * kVectorRows];
    sum_ = max_[depth * kVectorRows];
    alpha_ = sum_[depth * kVectorRows];
    spread_ = arena.Take<float>(kVectorRows * kBlockFloats);
    // Spreading reads whole groups of eight rows: lanes beyond the last row must hold something.
    AscendC::Duplicate(row_max_, 0.0f, kRepeatFloats, static_cast<uint8_t>(3 * depth + kFixed - 2),
                       1, 8);
    AscendC::Duplicate(start_max_, kMaximumFloor, kRepeatFloats, 1, 1, 8);
    AscendC::Duplicate(start_sum_, 0.0f, kRepeatFloats, 1, 1, 8);
  }

  // Makes `slot` the current step's set; its predecessor's is the one of the step before.
  __aicore__ inline void Begin(uint32_t slot, bool first_of_task) {
    previous_max_ = first_of_task ? start_max_ : current_max_;
    previous_sum_ = first_of_task ? start_sum_ : current_sum_;
    current_max_ = max_[slot * kVectorRows];
    current_sum_ = sum_[slot * kVectorRows];
    current_alpha_ = alpha_[slot * kVectorRows];
  }

  // scores (row-dense, width a multiple of 64) -> exp(score - running maximum), for the rows
  // that start at row `offset` of this core; `scratch` takes an eighth of the scores. On return
  // the row sums of the result are still being reduced in `scratch`: see FinishSlice.
  __aicore__ inline void Normalise(const FloatTensor& scores, const Rows& rows, uint32_t offset,
                                   const FloatTensor& scratch) {
    const uint8_t repeats = DenseRepeats(rows);
    AscendC::BlockReduceMax(scratch, scores, repeats, kRepeatFloats, 1, 1, 8);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::WholeReduceMax(row_max_[offset], scratch, rows.width / kBlockFloats, rows.count, 1, 1,
                            rows.width / kRepeatFloats, AscendC::ReduceOrder::ORDER_ONLY_VALUE);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Max(current_max_[offset], previous_max_[offset], row_max_[offset], rows.count, 1,
                 LanesBinary());
    AscendC::PipeBarrier<PIPE_V>();
    SpreadRows(spread_, current_max_[offset], rows.count);
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t block = 0; block < rows.Blocks(); ++block) {
      const FloatTensor strip = scores[block * kRepeatFloats];
      AscendC::Sub(strip, strip, spread_, kRepeatFloats, static_cast<uint8_t>(rows.count),
                   RowBroadcast(rows));
    }
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Exp(scores, scores, kRepeatFloats, repeats, DenseUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::BlockReduceSum(scratch, scores, repeats, kRepeatFloats, 1, 1, 8);
  }

  // Completes Normalise; a vector barrier has to lie between the two.
  __aicore__ inline void FinishSlice(const Rows& rows, uint32_t offset,
                                     const FloatTensor& scratch) {
    AscendC::WholeReduceSum(row_sum_[offset], scratch, rows.width / kBlockFloats, rows.count, 1, 1,
                            rows.width / kRepeatFloats);
  }

  // After all slices of the step: alpha and the running sum of the core's first `rows` rows.
  __aicore__ inline void FinishStep(uint32_t rows) {
    AscendC::Sub(current_alpha_, previous_max_, current_max_, rows, 1, LanesBinary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Exp(current_alpha_, current_alpha_, rows, 1, LanesUnary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(current_sum_, previous_sum_, current_alpha_, rows, 1, LanesBinary());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(current_sum_, current_sum_, row_sum_, rows, 1, LanesBinary());
    AscendC::PipeBarrier<PIPE_V>();
  }

  __aicore__ inline FloatTensor Alpha(uint32_t slot) const { return alpha_[slot * kVectorRows]; }
  __aicore__ inline FloatTensor Maximum(uint32_t slot) const { return max_[slot * kVectorRows]; }
  __aicore__ inline FloatTensor Sum(uint32_t slot) const { return sum_[slot * kVectorRows]; }

 private:
  static constexpr uint32_t kFixed = 4;

  FloatTensor start_max_;
  FloatTensor start_sum_;
  FloatTensor row_max_;
  FloatTensor row_sum_;
  FloatTensor max_;
  FloatTensor sum_;
  FloatTensor alpha_;
  FloatTensor spread_;
  FloatTensor previous_max_;
  FloatTensor previous_sum_;
  FloatTensor current_max_;
  FloatTensor current_sum_;
  FloatTensor current_alpha_;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_ONLINE_SOFTMAX_H
