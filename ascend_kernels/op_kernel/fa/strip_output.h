// Results on the coupled core. The cube accumulates a task's products with the values in L0C, and
// with them the sum of each row's weights, in all 16 lanes of a column of its own: one division
// later they are the output.
#ifndef ASCENDFA_FA_STRIP_OUTPUT_H
#define ASCENDFA_FA_STRIP_OUTPUT_H

#include "../arch/cube_vector_bridge.h"
#include "../arch/tile_copy.h"
#include "forward_loop.h"
#include "kernel_operator.h"
#include "ready_ring.h"
#include "slot_ring.h"
#include "ub_arena.h"

namespace ascendfa {

// What leaves the vector unit passes through one ring of slots in UB: weights, references, results.
class StagingRing {
 public:
  __aicore__ inline void Init(AscendC::TPipe& pipe, UbArena& arena, uint32_t elements) {
    elements_ = elements;
    slots_ = arena.Take<half>(kStagingSlots * elements);
    ring_.Open(pipe, kStagingSlots);
  }
  __aicore__ inline void Close(AscendC::TPipe& pipe) { ring_.Close(pipe); }

  __aicore__ inline AscendC::LocalTensor<half> Acquire() {
    return slots_[ring_.Acquire() * elements_];
  }
  __aicore__ inline void Publish() { ring_.Publish(); }
  __aicore__ inline AscendC::LocalTensor<half> Await() { return slots_[ring_.Await() * elements_]; }
  __aicore__ inline void Release() { ring_.Release(); }

 private:
  SlotRing<AscendC::HardEvent::V_MTE3, AscendC::HardEvent::MTE3_V> ring_;
  AscendC::LocalTensor<half> slots_;
  uint32_t elements_ = 0;
};

class StripOutput {
 public:
  explicit __aicore__ inline StripOutput(const FlashAttentionTiling& tiling)
      : tiling_(tiling),
        seqlen_{tiling.seq_q, tiling.seq_k, tiling.window_left, tiling.window_right} {}

  // The scratch tensor takes 16 lanes of every row. The caller owes a vector barrier.
  __aicore__ inline void Init(GM_ADDR out, GM_ADDR lse, UbArena& arena,
                              const AscendC::LocalTensor<half>& narrow_scratch) {
    out_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(out));
    lse_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(lse));
    sum_ = arena.Take<float>(tiling_.block_m * kSide);
    narrow_ = narrow_scratch;
    dense_ = arena.Take<half>(tiling_.block_m);
    references_ = arena.Take<float>(2 * ReferenceElements());
    staged_lse_ = arena.Take<float>(ReferenceElements());
    ones_ = arena.Take<float>(kBlockFloats);
    tiny_ = arena.Take<float>(kBlockFloats);
    checks_ = arena.Take<half>((kChecks + 1) * kCheckHalves);
    AscendC::Duplicate(ones_, 1.0f, kBlockFloats, 1, 1, 8);
    AscendC::Duplicate(tiny_, kTinySum, kBlockFloats, 1, 1, 8);
  }

  // Whether the plan's division of work would have cores write to the same line of the data cache,
  // because results do not begin with one. Only results too short for a copy go there.
  __aicore__ inline static bool SharesLines(const FlashAttentionTiling& tiling, GM_ADDR out,
                                            GM_ADDR lse) {
    const bool short_lse = tiling.seq_q < kBlockFloats;
    const bool short_rows = tiling.value_dim < kSide;
    return (short_lse && reinterpret_cast<uint64_t>(lse) % kLineBytes != 0) ||
           (short_rows && reinterpret_cast<uint64_t>(out) % kLineBytes != 0);
  }

  __aicore__ inline void Open(AscendC::TPipe& pipe) { lse_ready_.Open(pipe, 1); }
  __aicore__ inline void Close(AscendC::TPipe& pipe) { lse_ready_.Close(pipe); }

  static constexpr uint32_t kUnchecked = kChecks;  // where nobody looks

  // What is subtracted from the scores of the task opened next, in all lanes of its rows; times
  // `scale` it belongs to finished scores. The next Write keeps what it needs of it; where there is
  // none before the reference changes, KeepReference has to. Wants a barrier before.
  __aicore__ inline void NoteReference(const Step& step,
                                       const AscendC::LocalTensor<float>& reference, float scale) {
    noted_ = step;
    reference_ = reference;
    reference_scale_ = scale;
    has_noted_ = true;
  }
  __aicore__ inline void KeepReference() {
    const uint32_t m = AlignUp(noted_.rows, kFractalRows);
    const AscendC::LocalTensor<float> kept = references_[opened_ * ReferenceElements()];
    Compact(kept, reference_, m, noted_, reference_scale_);
    opened_ = 1 - opened_;
    has_noted_ = false;
  }

  // The finished task in `product`; `area` takes all of it. `check` keeps the ends of the sums of
  // weights.
  __aicore__ inline void Write(const Step& step, const AscendC::LocalTensor<float>& product,
                               const AscendC::LocalTensor<float>& area, StagingRing& staging,
                               uint32_t check) {
    const uint32_t m = AlignUp(step.rows, kFractalRows);
    FetchProduct(sum_, product[tiling_.value_dim_padded * m], 0, m, m, kSide);
    FetchProduct(area, product, 0, m, m, tiling_.value_dim_padded);
    AscendC::PipeBarrier<PIPE_V>();
    // What depends on nothing shares barriers. All of this task's weights have reached the cube, so
    // all that MTE3 stored before them, the last log-sum-exps among it, is out of the way.
    const uint8_t repeats = static_cast<uint8_t>(m * kSide / kRepeatFloats);
    AscendC::Cast(narrow_, sum_, AscendC::RoundMode::CAST_NONE, static_cast<uint32_t>(m * kSide));
    Compact(staged_lse_, sum_, m, step, 1.0f);
    AscendC::Max(sum_, sum_, tiny_, kRepeatFloats, repeats,
                 AscendC::BinaryRepeatParams(1, 1, 0, 8, 8, 0));
    if (has_noted_) {
      KeepReference();
    }
    AscendC::PipeBarrier<PIPE_V>();
    const int32_t count = static_cast<int32_t>(m + kBlockFloats);
    AscendC::BlockReduceMax(dense_, narrow_, static_cast<int32_t>(m * kSide / kRepeatHalves),
                            static_cast<int32_t>(kRepeatHalves), 1, 1, 8);
    AscendC::Div(sum_, ones_, sum_, kRepeatFloats, repeats,
                 AscendC::BinaryRepeatParams(1, 0, 1, 8, 0, 8));
    AscendC::Ln(staged_lse_, staged_lse_, count);
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t column = 0; column < tiling_.value_dim_padded; column += kSide) {
      const AscendC::LocalTensor<float> values = area[column * m];
      AscendC::Mul(values, values, sum_, kRepeatFloats, repeats,
                   AscendC::BinaryRepeatParams(1, 1, 1, 8, 8, 8));
    }
    AscendC::Add(staged_lse_, staged_lse_, references_[written_ * ReferenceElements()], count);
    written_ = 1 - written_;
    lse_ready_.Publish();
    lse_ready_.Await();
    StoreLse(step);
    Check(step, check);
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t row = 0; row < step.rows; row += kRowsAtOnce) {
      WriteRows(step, m, row, area, staging);
    }
  }

  // Whether a row's reference was too low: a sum as large as the largest fp16 number may hold a
  // weight that was cut off. Or, if it was subtracted inexactly, too high: otherwise a row that
  // sees keys has a weight of about one. Everything the vector unit was given has to be done.
  __aicore__ inline bool Failed(uint32_t check, bool exact) const {
    const uint32_t place = check * kCheckHalves;
    const float largest = static_cast<float>(checks_.GetValue(place));
    const float smallest = static_cast<float>(checks_.GetValue(place + kLeast));
    return !(largest < kLargestHalf) || (!exact && !(smallest >= kLeastSum));
  }

  // What WriteWithoutKeys stores: `zeros` for as many rows as go at once. No Write comes before.
  __aicore__ inline void FillWithoutKeys(const AscendC::LocalTensor<half>& zeros) {
    constexpr uint32_t kMinusInfinity = 0xFF800000u;
    AscendC::Duplicate(staged_lse_.template ReinterpretCast<uint32_t>(), kMinusInfinity,
                       static_cast<int32_t>(ReferenceElements()));
    AscendC::Duplicate(zeros, static_cast<half>(0.0f),
                       static_cast<int32_t>(kRowsAtOnce * tiling_.value_dim_padded));
  }
  // MTE3: a task in which no row sees a key.
  __aicore__ inline void WriteWithoutKeys(const Step& step,
                                          const AscendC::LocalTensor<half>& zeros) {
    for (uint32_t row = 0; row < step.rows; row += kRowsAtOnce) {
      StoreOutput(step, row, Smaller(kRowsAtOnce, step.rows - row), zeros);
    }
    StoreLse(step);
  }

 private:
  static constexpr uint32_t kSide = 16;
  static constexpr uint32_t kLineBytes = 64;
  static constexpr uint32_t kRepeatHalves = kRepeatBytes / sizeof(half);
  static constexpr uint32_t kRowsAtOnce = 64;
  static constexpr uint32_t kCheckHalves = 4;  // a maximum and its place, a minimum and its
  static constexpr uint32_t kLeast = 2;        // the minimum
  static constexpr float kLeastSum = 0.5f;
  static constexpr float kLargestHalf = 65504.0f;
  // Keeps a row without keys from dividing zero by zero.
  static constexpr float kTinySum = 1.0e-30f;

  __aicore__ inline uint32_t ReferenceElements() const { return tiling_.block_m + kBlockFloats; }
  // First of a task's last eight rows.
  __aicore__ inline static uint32_t Tail(const Step& step) {
    return step.rows < kBlockFloats ? 0 : step.rows - kBlockFloats;
  }

  // The ends of the sums of rows that see keys.
  __aicore__ inline void Check(const Step& step, uint32_t check) {
    uint64_t seeing[2];
    SeeingRows(step, seeing);
    const AscendC::LocalTensor<half> ends = checks_[check * kCheckHalves];
    AscendC::WholeReduceMax(ends, dense_, seeing, 1, 1, 1, 8);
    AscendC::WholeReduceMin(ends[kLeast], dense_, seeing, 1, 1, 1, 8);
  }

  // Lanes of a task's rows, without those that the mask leaves no key: the first ones. A task of
  // none but those has no steps.
  __aicore__ inline void SeeingRows(const Step& step, uint64_t* lanes) const {
    const int64_t blind = seqlen_.right < 0 ? 0 : -(seqlen_.OwnKey(step.row) + seqlen_.right);
    const uint32_t first = blind < 0 ? 0 : static_cast<uint32_t>(blind);
    for (uint32_t word = 0; word < 2; ++word) {
      lanes[word] = LanesBelow(step.rows, word) & ~LanesBelow(first, word);
    }
  }
  // Of the word-th 64 lanes, those below `end`.
  __aicore__ inline static uint64_t LanesBelow(uint32_t end, uint32_t word) {
    const uint32_t begin = word * 64;
    const uint32_t count = end < begin ? 0 : Smaller(end - begin, 64);
    return count == 64 ? ~0ULL : (1ULL << count) - 1;
  }

  // Values that fill all lanes of their rows, times `factor`, to one lane each; those of the last
  // eight rows of the task once more behind them. Rows do not touch each other's values.
  __aicore__ inline void Compact(const AscendC::LocalTensor<float>& dst,
                                 const AscendC::LocalTensor<float>& rows, uint32_t m,
                                 const Step& step, float factor) const {
    constexpr uint32_t kGroups = kRepeatFloats / kBlockFloats;  // of eight rows, per repeat
    const uint32_t groups = m / kBlockFloats;
    const uint32_t whole = groups / kGroups;
    CompactGroups(dst, rows, kGroups, whole, factor);
    CompactGroups(dst[whole * kRepeatFloats], rows[whole * kRepeatFloats * kSide], groups % kGroups,
                  1, factor);
    if (step.rows % kBlockFloats != 0) {
      CompactGroups(dst[m], rows[Tail(step) * kSide], 1, 1, factor);
    }
  }
  __aicore__ inline static void CompactGroups(const AscendC::LocalTensor<float>& dst,
                                              const AscendC::LocalTensor<float>& rows,
                                              uint32_t groups, uint32_t repeats, float factor) {
    if (groups == 0 || repeats == 0) {
      return;
    }
    constexpr uint8_t kGroupBlocks = kBlockFloats * kSide / kBlockFloats;
    const uint64_t first_lanes = 0x0101010101010101ULL >> (64 - kBlockFloats * groups);
    for (uint32_t lane = 0; lane < kBlockFloats; ++lane) {
      uint64_t lanes[2] = {first_lanes << lane, 0};
      AscendC::Muls(dst, rows[lane * kSide], factor, lanes, static_cast<uint8_t>(repeats),
                    AscendC::UnaryRepeatParams(1, kGroupBlocks, 8, 8 * kGroupBlocks));
    }
  }

  // Back to rows on the way to fp16: four rows per repeat, a block each.
  __aicore__ inline void WriteRows(const Step& step, uint32_t m, uint32_t row,
                                   const AscendC::LocalTensor<float>& area, StagingRing& staging) {
    const uint32_t rows = Smaller(kRowsAtOnce, m - row);
    const uint8_t repeats = static_cast<uint8_t>(rows * kSide / kRepeatFloats);
    const AscendC::LocalTensor<half> output = staging.Acquire();
    const uint32_t row_blocks = tiling_.value_dim_padded / kSide;
    for (uint32_t column = 0; column < row_blocks; ++column) {
      AscendC::Cast(output[column * kSide], area[(column * m + row) * kSide],
                    AscendC::RoundMode::CAST_NONE, kRepeatFloats, repeats,
                    AscendC::UnaryRepeatParams(static_cast<uint16_t>(row_blocks), 1,
                                               static_cast<uint8_t>(4 * row_blocks), 8));
    }
    staging.Publish();
    StoreOutput(step, row, Smaller(rows, step.rows - row), staging.Await());
    staging.Release();
  }

  // MTE3: output rows, `row` counted from the task's first.
  __aicore__ inline void StoreOutput(const Step& step, uint32_t row, uint32_t rows,
                                     const AscendC::LocalTensor<half>& output) {
    const int64_t offset = tiling_.out.batch * step.batch + tiling_.out.head * step.q_head +
                           tiling_.out.row * (step.row + row);
    if (tiling_.value_dim < kSide) {
      AscendC::PipeBarrier<PIPE_ALL>();
      for (uint32_t i = 0; i < rows; ++i) {
        for (uint32_t column = 0; column < tiling_.value_dim; ++column) {
          out_.SetValue(offset + tiling_.out.row * i + column,
                        output.GetValue(i * tiling_.value_dim_padded + column));
        }
      }
      AscendC::PipeBarrier<PIPE_ALL>();
    } else {
      StoreRows(out_[offset], output, rows, tiling_.value_dim, tiling_.out.row);
    }
  }

  // MTE3: log-sum-exps. No copy is shorter than eight, so the last eight end with the rows.
  __aicore__ inline void StoreLse(const Step& step) {
    const uint64_t head = static_cast<uint64_t>(step.batch) * tiling_.q_heads + step.q_head;
    const AscendC::GlobalTensor<float> target = lse_[head * tiling_.seq_q + step.row];
    const AscendC::LocalTensor<float> lse = staged_lse_;
    const uint32_t whole = step.rows / kBlockFloats * kBlockFloats;
    if (whole == 0) {
      AscendC::PipeBarrier<PIPE_ALL>();
      for (uint32_t i = 0; i < step.rows; ++i) {
        lse_.SetValue(head * tiling_.seq_q + step.row + i, lse.GetValue(i));
      }
      AscendC::PipeBarrier<PIPE_ALL>();
    } else {
      AscendC::DataCopy(target, lse, whole);
      if (whole != step.rows) {
        AscendC::PipeBarrier<PIPE_MTE3>();
        AscendC::DataCopy(target[step.rows - kBlockFloats], lse[AlignUp(step.rows, kFractalRows)],
                          kBlockFloats);
      }
    }
  }

  const FlashAttentionTiling& tiling_;
  SeqLen seqlen_;
  AscendC::GlobalTensor<half> out_;
  AscendC::GlobalTensor<float> lse_;
  AscendC::LocalTensor<float> sum_;  // of weights, then its inverse
  AscendC::LocalTensor<half> narrow_;
  AscendC::LocalTensor<half> dense_;
  AscendC::LocalTensor<float> references_;  // of two tasks, one value per row, scaled
  AscendC::LocalTensor<float> staged_lse_;
  ReadyRing<AscendC::HardEvent::V_MTE3> lse_ready_;
  AscendC::LocalTensor<float> ones_;
  AscendC::LocalTensor<float> tiny_;
  AscendC::LocalTensor<half> checks_;
  uint32_t opened_ = 0;  // references kept next, and used next
  uint32_t written_ = 0;
  Step noted_{};
  AscendC::LocalTensor<float> reference_;
  float reference_scale_ = 1.0f;
  bool has_noted_ = false;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_STRIP_OUTPUT_H
