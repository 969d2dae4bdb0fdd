// What is subtracted from each row's scores: the maximum of the scores looked at so far. It need
// not be the row's: DESIGN.md shows when it will do. The cube subtracts from unscaled scores: two
// fp16 numbers hold the maximum, hi * 64 + lo, and multiply two columns of constants in one more
// product of depth 16, exact in fp32. The vector unit subtracts from finished scores, and the very
// fp32 numbers.
#ifndef ASCENDFA_FA_SOFTMAX_REFERENCE_H
#define ASCENDFA_FA_SOFTMAX_REFERENCE_H

#include "strip_softmax.h"

namespace ascendfa {

constexpr float kReferenceUnit = 64.0f;
// Lower than every score that is not hidden, and finite: no difference with it is NaN.
constexpr float kLowestScore = -3.4028234663852886e38f;

class SoftmaxReference {
 public:
  // `negative`: scores will be multiplied by a negative number, so their minimum is what counts.
  // `exact`: the vector unit will subtract while the next reference comes into being. Both scratch
  // tensors take 16 lanes of every row.
  __aicore__ inline void Init(UbArena& arena, uint32_t rows, bool negative, bool exact,
                              const AscendC::LocalTensor<float>& scratch,
                              const AscendC::LocalTensor<half>& narrow_scratch) {
    sign_ = negative ? -1.0f : 1.0f;
    best_ = arena.Take<float>(rows * kSide);
    values_ = exact ? arena.Take<float>(rows * kSide) : best_;
    high_ = scratch;
    work_ = narrow_scratch;
    spread_ = arena.Take<half>(rows * kSide);
    dense_ = arena.Take<half>(rows);
    first_lane_ = arena.Take<half>(kRepeatHalves);
    second_lane_ = arena.Take<half>(kRepeatHalves);
    FillLane(first_lane_, kFirstLanes, 1.0f);
    FillLane(second_lane_, kFirstLanes << 1, 1.0f);
  }

  // The right operand, for `keys` columns: [keys][16]. The caller owes a vector barrier; one
  // lies within.
  __aicore__ inline void Constants(const AscendC::LocalTensor<half>& dst, uint32_t keys) const {
    const uint8_t repeats = static_cast<uint8_t>(keys * kSide / kRepeatHalves);
    AscendC::Duplicate(dst, static_cast<half>(0.0f), static_cast<int32_t>(keys * kSide));
    AscendC::PipeBarrier<PIPE_V>();
    uint64_t first[2] = {kFirstLanes, kFirstLanes};
    AscendC::Duplicate(dst, static_cast<half>(-kReferenceUnit * sign_), first, repeats, 1, 8);
    uint64_t second[2] = {kFirstLanes << 1, kFirstLanes << 1};
    AscendC::Duplicate(dst, static_cast<half>(-sign_), second, repeats, 1, 8);
  }

  // Starts afresh. The caller owes a vector barrier.
  __aicore__ inline void Reset(uint32_t rows) {
    AscendC::Duplicate(best_, kLowestScore, static_cast<int32_t>(rows * kSide));
  }

  // What unscaled scores are multiplied by before Fold, for Close.
  __aicore__ inline float Sign() const { return sign_; }

  // Takes in a strip of scores, which it destroys. Wants a barrier before, ends with one.
  __aicore__ inline void Fold(const AscendC::LocalTensor<float>& scores, const Strip& strip) {
    for (uint32_t columns = strip.columns; columns > kSide;) {
      const uint32_t kept = AlignUp(columns / 2, kSide);
      AscendC::Max(scores, scores, scores[kept * strip.rows],
                   static_cast<int32_t>((columns - kept) * strip.rows));
      AscendC::PipeBarrier<PIPE_V>();
      columns = kept;
    }
    AscendC::Max(best_, best_, scores, static_cast<int32_t>(strip.rows * kSide));
    AscendC::PipeBarrier<PIPE_V>();
  }

  // For the cube: the left operand, [rows][16]. Ends with a barrier.
  __aicore__ inline void Close(const AscendC::LocalTensor<half>& operand, uint32_t rows) {
    const int32_t count = static_cast<int32_t>(rows * kSide);
    AscendC::Muls(high_, best_, 1.0f / kReferenceUnit, count);
    AscendC::PipeBarrier<PIPE_V>();
    RowMaximum(high_, rows);
    const uint8_t repeats = static_cast<uint8_t>(rows * kSide / kRepeatHalves);
    const AscendC::BinaryRepeatParams one_row(1, 1, 1, 8, 8, 0);
    AscendC::Mul(operand, spread_, first_lane_, kRepeatHalves, repeats, one_row);
    AscendC::Cast(high_, spread_, AscendC::RoundMode::CAST_NONE, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(high_, high_, kReferenceUnit, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sub(best_, best_, high_, count);
    AscendC::PipeBarrier<PIPE_V>();
    RowMaximum(best_, rows);
    AscendC::Mul(work_, spread_, second_lane_, kRepeatHalves, repeats, one_row);
    AscendC::Cast(best_, spread_, AscendC::RoundMode::CAST_NONE, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(operand, operand, work_, count);
    AscendC::Add(best_, best_, high_, count);
    AscendC::PipeBarrier<PIPE_V>();
  }

  // For the vector unit. Ends with a barrier.
  __aicore__ inline void CloseExact(uint32_t rows) {
    const AscendC::LocalTensor<float> most = high_;
    const AscendC::LocalTensor<float> other = high_[rows * kBlockFloats];
    const uint8_t repeats = static_cast<uint8_t>(rows * kBlockFloats / kRepeatFloats);
    AscendC::Max(most, best_, best_[kBlockFloats], kRepeatFloats, repeats,
                 AscendC::BinaryRepeatParams(1, 2, 2, 8, 16, 16));
    AscendC::PipeBarrier<PIPE_V>();
    Exchange(other, most, rows, 4);
    AscendC::Max(most, most, other, kRepeatFloats, repeats, Dense());
    AscendC::PipeBarrier<PIPE_V>();
    Exchange(other, most, rows, 2);
    AscendC::Max(most, most, other, kRepeatFloats, repeats, Dense());
    AscendC::PipeBarrier<PIPE_V>();
    Exchange(other, most, rows, 1);
    const AscendC::BinaryRepeatParams one_block(2, 1, 1, 16, 8, 8);
    AscendC::Max(values_, most, other, kRepeatFloats, repeats, one_block);
    AscendC::Max(values_[kBlockFloats], most, other, kRepeatFloats, repeats, one_block);
    AscendC::PipeBarrier<PIPE_V>();
  }

  // After CloseExact. Wants a barrier before, the caller owes one.
  __aicore__ inline void Subtract(const AscendC::LocalTensor<float>& scores,
                                  const Strip& strip) const {
    const uint32_t column = strip.rows * kSide;
    for (uint32_t i = 0; i < strip.Elements(); i += column) {
      AscendC::Sub(scores[i], scores[i], values_, static_cast<int32_t>(column));
    }
  }

  // After Close, or CloseExact: what is subtracted, in all 16 lanes of each row; for the cube,
  // times the scale's sign.
  __aicore__ inline const AscendC::LocalTensor<float>& Values() const { return values_; }

 private:
  static constexpr uint32_t kSide = 16;
  static constexpr uint32_t kRepeatHalves = kRepeatBytes / sizeof(half);
  static constexpr uint64_t kFirstLanes = 0x0001000100010001ULL;  // of every row

  __aicore__ inline static void FillLane(const AscendC::LocalTensor<half>& dst, uint64_t lanes,
                                         float value) {
    AscendC::Duplicate(dst, static_cast<half>(0.0f), static_cast<int32_t>(kRepeatHalves));
    AscendC::PipeBarrier<PIPE_V>();
    uint64_t mask[2] = {lanes, lanes};
    AscendC::Duplicate(dst, static_cast<half>(value), mask, 1, 1, 8);
  }

  // Each row's largest lane, in fp16, to all lanes of the row in spread_.
  __aicore__ inline void RowMaximum(const AscendC::LocalTensor<float>& values, uint32_t rows) {
    AscendC::Cast(work_, values, AscendC::RoundMode::CAST_NONE,
                  static_cast<uint32_t>(rows * kSide));
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::BlockReduceMax(dense_, work_, static_cast<int32_t>(rows * kSide / kRepeatHalves),
                            static_cast<int32_t>(kRepeatHalves), 1, 1, 8);
    AscendC::PipeBarrier<PIPE_V>();
    // A turned square whose rows are all the same has one value per row.
    uint64_t sources[kSide];
    for (uint32_t i = 0; i < kSide; ++i) {
      sources[i] = static_cast<uint64_t>(dense_.GetPhyAddr());
    }
    Turn(spread_, sources, rows / kSide, 1);
    AscendC::PipeBarrier<PIPE_V>();
  }

  // Turns squares of 16 x 16 halves, whose first one's rows are at `sources`, the next ones'
  // `distance` blocks further each.
  __aicore__ inline static void Turn(const AscendC::LocalTensor<half>& dst, uint64_t* sources,
                                     uint32_t squares, uint32_t distance) {
    uint64_t targets[kSide];
    for (uint32_t i = 0; i < kSide; ++i) {
      targets[i] = static_cast<uint64_t>(dst[i * kSide].GetPhyAddr());
    }
    const bool many = squares > 1;
    AscendC::TransDataTo5HD<half>(
        targets, sources,
        AscendC::TransDataTo5HDParams(false, false, static_cast<uint8_t>(squares),
                                      static_cast<uint16_t>(many ? kSide : 0),
                                      static_cast<uint16_t>(many ? distance : 0)));
  }

  // Rows of eight floats: lane i of each to its lane i ^ `lanes`. Floats are pairs of halves, and
  // halves change lanes by being turned twice, in another order the second time. Ends with a
  // barrier.
  __aicore__ inline void Exchange(const AscendC::LocalTensor<float>& dst,
                                  const AscendC::LocalTensor<float>& src, uint32_t rows,
                                  uint32_t lanes) const {
    const AscendC::LocalTensor<half> halves = src.template ReinterpretCast<half>();
    uint64_t sources[kSide];
    for (uint32_t i = 0; i < kSide; ++i) {
      sources[i] = static_cast<uint64_t>(halves[i * kSide].GetPhyAddr());
    }
    Turn(work_, sources, rows / kSide, kSide);
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t i = 0; i < kSide; ++i) {
      sources[i] = static_cast<uint64_t>(work_[(i ^ 2 * lanes) * kSide].GetPhyAddr());
    }
    Turn(dst.template ReinterpretCast<half>(), sources, rows / kSide, kSide);
    AscendC::PipeBarrier<PIPE_V>();
  }

  __aicore__ inline static AscendC::BinaryRepeatParams Dense() {
    return AscendC::BinaryRepeatParams(1, 1, 1, 8, 8, 8);
  }

  float sign_ = 1.0f;
  AscendC::LocalTensor<float> best_;
  AscendC::LocalTensor<float> values_;
  AscendC::LocalTensor<float> high_;
  AscendC::LocalTensor<half> work_;
  AscendC::LocalTensor<half> spread_;
  AscendC::LocalTensor<half> dense_;
  AscendC::LocalTensor<half> first_lane_;
  AscendC::LocalTensor<half> second_lane_;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_SOFTMAX_REFERENCE_H
