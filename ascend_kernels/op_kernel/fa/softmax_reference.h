// What the cube subtracts from each row's scores: the maximum of the scores looked at so far. Two
// fp16 numbers hold it, hi * 64 + lo, and multiply two columns of constants in one more product of
// depth 16, exact in fp32. The maximum need not be the row's: DESIGN.md shows when it will do.
#ifndef ASCENDFA_FA_SOFTMAX_REFERENCE_H
#define ASCENDFA_FA_SOFTMAX_REFERENCE_H

#include "strip_softmax.h"

namespace ascendfa {

constexpr float kReferenceUnit = 64.0f;

class SoftmaxReference {
 public:
  // `negative`: scores will be multiplied by a negative number, so their minimum is what counts.
  // Both scratch tensors take 16 lanes of every row.
  __aicore__ inline void Init(UbArena& arena, uint32_t rows, bool negative,
                              const AscendC::LocalTensor<float>& scratch,
                              const AscendC::LocalTensor<half>& narrow_scratch) {
    sign_ = negative ? -1.0f : 1.0f;
    best_ = arena.Take<float>(rows * kSide);
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
    AscendC::Duplicate(best_, kHiddenScore, static_cast<int32_t>(rows * kSide));
  }

  // Takes in a strip of unscaled scores, which it destroys. Wants a barrier before, ends with one.
  __aicore__ inline void Fold(const AscendC::LocalTensor<float>& scores, const Strip& strip,
                              const StripMask& mask, const SeqLen& seqlen) {
    if (sign_ < 0.0f) {
      ScaleStrip(scores, strip, sign_);
      AscendC::PipeBarrier<PIPE_V>();
    }
    if (StripMask::Needed(strip)) {
      mask.Apply(scores, strip, seqlen);
      AscendC::PipeBarrier<PIPE_V>();
    }
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

  // The left operand, [rows][16]. Ends with a barrier.
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

  // After Close: what was subtracted, times the scale's sign, in all 16 lanes of each row.
  __aicore__ inline const AscendC::LocalTensor<float>& Values() const { return best_; }

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
    uint64_t targets[kSide];
    for (uint32_t i = 0; i < kSide; ++i) {
      sources[i] = static_cast<uint64_t>(dense_.GetPhyAddr());
      targets[i] = static_cast<uint64_t>(spread_[i * kSide].GetPhyAddr());
    }
    const uint32_t squares = rows / kSide;
    const bool many = squares > 1;
    AscendC::TransDataTo5HD<half>(
        targets, sources,
        AscendC::TransDataTo5HDParams(false, false, static_cast<uint8_t>(squares),
                                      static_cast<uint16_t>(many ? kSide : 0),
                                      static_cast<uint16_t>(many ? 1 : 0)));
    AscendC::PipeBarrier<PIPE_V>();
  }

  float sign_ = 1.0f;
  AscendC::LocalTensor<float> best_;
  AscendC::LocalTensor<float> high_;
  AscendC::LocalTensor<half> work_;
  AscendC::LocalTensor<half> spread_;
  AscendC::LocalTensor<half> dense_;
  AscendC::LocalTensor<half> first_lane_;
  AscendC::LocalTensor<half> second_lane_;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_SOFTMAX_REFERENCE_H
