// What is subtracted from each row's scores: the maximum of the scores looked at so far. It need
// not be the row's, nor exact: DESIGN.md shows when it will do. The cube subtracts an fp16 number
// from unscaled scores, by one more product of depth 16, exact in fp32. The vector unit subtracts
// from finished scores, and the very fp32 numbers.
#ifndef ASCENDFA_FA_SOFTMAX_REFERENCE_H
#define ASCENDFA_FA_SOFTMAX_REFERENCE_H

#include "strip_softmax.h"

namespace ascendfa {

// Lower than every score that is not hidden, and finite: no difference with it is NaN.
constexpr float kLowestScore = -3.4028234663852886e38f;

class SoftmaxReference {
 public:
  // Scores will be multiplied by `scale`: by a negative number, so that their minimum is what
  // counts, or by one so small that larger ones matter than fp16 holds. `exact`: the vector unit
  // will subtract while the next reference comes into being. Both scratch tensors take 16 lanes of
  // every row.
  __aicore__ inline void Init(UbArena& arena, uint32_t rows, float scale, bool exact,
                              const AscendC::LocalTensor<float>& scratch,
                              const AscendC::LocalTensor<half>& narrow_scratch) {
    const bool negative = scale < 0.0f;
    const float size = negative ? -scale : scale;
    while (unit_ < kLargestUnit && size * kLargestHalf * unit_ < kLargestScore) {
      unit_ *= 2.0f;
    }
    unit_ = negative ? -unit_ : unit_;
    best_ = arena.Take<float>(rows * kSide);
    values_ = exact ? arena.Take<float>(rows * kSide) : best_;
    scratch_ = scratch;
    work_ = narrow_scratch;
    dense_ = arena.Take<half>(rows);
  }

  // The right operand, for `keys` columns: [keys][16]. All lanes of the left one hold the
  // reference, one counts. The caller owes a vector barrier; one lies within.
  __aicore__ inline void Constants(const AscendC::LocalTensor<half>& dst, uint32_t keys) const {
    const uint8_t repeats = static_cast<uint8_t>(keys * kSide / kRepeatHalves);
    AscendC::Duplicate(dst, static_cast<half>(0.0f), static_cast<int32_t>(keys * kSide));
    AscendC::PipeBarrier<PIPE_V>();
    uint64_t first[2] = {kFirstLanes, kFirstLanes};
    AscendC::Duplicate(dst, static_cast<half>(-unit_), first, repeats, 1, 8);
  }

  // Starts afresh. The caller owes a vector barrier.
  __aicore__ inline void Reset(uint32_t rows) {
    AscendC::Duplicate(best_, kLowestScore, static_cast<int32_t>(rows * kSide));
  }

  // What unscaled scores are divided by before Fold, for Close: a power of two, or its negative.
  __aicore__ inline float Unit() const { return unit_; }

  // Takes in a strip of scores, which it destroys. Wants a barrier before, ends with one.
  __aicore__ inline void Fold(const AscendC::LocalTensor<float>& scores, const Strip& strip) {
    uint32_t columns = strip.columns;
    Halve(scores, strip.rows, columns, kSide);
    AscendC::Max(best_, best_, scores, static_cast<int32_t>(strip.rows * kSide));
    AscendC::PipeBarrier<PIPE_V>();
  }

  // The same for the only strip, in place of Reset and Fold, for Close.
  __aicore__ inline void FoldOnly(const AscendC::LocalTensor<float>& scores, const Strip& strip) {
    uint32_t columns = strip.columns;
    Halve(scores, strip.rows, columns, 2 * kSide);
    AscendC::Max(best_, scores, scores[(columns - kSide) * strip.rows],
                 static_cast<int32_t>(strip.rows * kSide));
    AscendC::PipeBarrier<PIPE_V>();
  }

  // For the cube: the left operand, [rows][16]. Ends with a barrier.
  __aicore__ inline void Close(const AscendC::LocalTensor<half>& operand, uint32_t rows) {
    const int32_t count = static_cast<int32_t>(rows * kSide);
    AscendC::Cast(work_, best_, AscendC::RoundMode::CAST_NONE, static_cast<uint32_t>(count));
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::BlockReduceMax(dense_, work_, static_cast<int32_t>(rows * kSide / kRepeatHalves),
                            static_cast<int32_t>(kRepeatHalves), 1, 1, 8);
    AscendC::PipeBarrier<PIPE_V>();
    // A turned square whose rows are all the same has one value per row.
    uint64_t sources[kSide];
    for (uint32_t i = 0; i < kSide; ++i) {
      sources[i] = static_cast<uint64_t>(dense_.GetPhyAddr());
    }
    Turn(operand, sources, rows / kSide, 1);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Cast(values_, operand, AscendC::RoundMode::CAST_NONE, static_cast<uint32_t>(count));
    AscendC::PipeBarrier<PIPE_V>();
  }

  // For the vector unit. Ends with a barrier.
  __aicore__ inline void CloseExact(uint32_t rows) {
    const AscendC::LocalTensor<float> most = scratch_;
    const AscendC::LocalTensor<float> other = scratch_[rows * kBlockFloats];
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

  // After Close, or CloseExact: what is subtracted, in all 16 lanes of each row; for the cube, in
  // units.
  __aicore__ inline const AscendC::LocalTensor<float>& Values() const { return values_; }

 private:
  static constexpr uint32_t kSide = 16;
  static constexpr uint32_t kRepeatHalves = kRepeatBytes / sizeof(half);
  static constexpr uint64_t kFirstLanes = 0x0001000100010001ULL;  // of every row
  static constexpr float kLargestHalf = 65504.0f;
  static constexpr float kLargestUnit = 4096.0f;
  // Of scaled scores: an fp16 number is within 0.5 of it.
  static constexpr float kLargestScore = 2048.0f;

  // Folds columns into others until at most `most` are left.
  __aicore__ inline static void Halve(const AscendC::LocalTensor<float>& scores, uint32_t rows,
                                      uint32_t& columns, uint32_t most) {
    while (columns > most) {
      const uint32_t kept = AlignUp(columns / 2, kSide);
      AscendC::Max(scores, scores, scores[kept * rows],
                   static_cast<int32_t>((columns - kept) * rows));
      AscendC::PipeBarrier<PIPE_V>();
      columns = kept;
    }
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

  float unit_ = 1.0f;
  AscendC::LocalTensor<float> best_;
  AscendC::LocalTensor<float> values_;
  AscendC::LocalTensor<float> scratch_;
  AscendC::LocalTensor<half> work_;
  AscendC::LocalTensor<half> dense_;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_SOFTMAX_REFERENCE_H
