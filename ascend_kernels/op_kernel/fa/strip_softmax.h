// Softmax on the coupled core. Scores come out of L0C as strips of up to 64 keys, in columns of 16:
// element (row, key) lies at (key / 16 * rows + row) * 16 + key % 16. Every step works on whole
// strips, so four strips are in the works at a time and one barrier serves them all.
//
// From each row the cube, or the vector unit, has subtracted a reference (softmax_reference.h): the
// weights are exponentials of what is left, whatever the row's maximum.
#ifndef ASCENDFA_FA_STRIP_SOFTMAX_H
#define ASCENDFA_FA_STRIP_SOFTMAX_H

#include "forward_loop.h"
#include "kernel_operator.h"
#include "ub_arena.h"

namespace ascendfa {

// Minus infinity, what a masked score becomes: its weight is zero, and it is the maximum of
// nothing.
constexpr uint32_t kHiddenScore = 0xFF800000u;

// A strip on its way through the core. Without columns it stands for a turn that had none to begin.
struct Strip {
  uint32_t batch;
  uint32_t head;     // of the queries
  uint32_t queries;  // rows that are queries
  uint32_t rows;     // of the product, whole fractals
  uint32_t blind;    // of them, whole fractals at the top that the vector unit leaves out
  uint32_t columns;  // whole fractals
  uint32_t keys;     // columns that are keys
  uint32_t key;      // first key
  uint32_t row;      // first query row
  bool ends_early;   // as the tile it is part of
  bool starts_late;
  uint32_t tile_slot;
  uint32_t index;  // in the tile
  uint32_t tile_keys;
  bool first;  // of the task
  bool last;   // of the task
  bool ends_tile;

  // As the vector unit works on it.
  __aicore__ inline Strip Seeing() const {
    Strip strip = *this;
    strip.row += blind;
    strip.rows -= blind;
    strip.blind = 0;
    return strip;
  }

  __aicore__ inline uint32_t Elements() const { return rows * columns; }
  __aicore__ inline uint8_t Repeats() const {
    return static_cast<uint8_t>(Elements() / kRepeatFloats);
  }
};

__aicore__ inline AscendC::UnaryRepeatParams DenseStrips() {
  return AscendC::UnaryRepeatParams(1, 1, kRepeatFloats / kBlockFloats,
                                    kRepeatFloats / kBlockFloats);
}

class StripMask {
 public:
  // The caller owes a vector barrier.
  __aicore__ inline void Init(UbArena& arena) {
    after_ = arena.Take<float>(kSide * kSide);
    before_ = arena.Take<float>(kSide * kSide);
    AscendC::Duplicate(after_, 0.0f, kRepeatFloats, 2 * kSide * kSide / kRepeatFloats, 1, 8);
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t column = 0; column < kSide; ++column) {
      uint64_t beyond[2] = {(kRow << (column + 1)) & kRow, 0};
      if (beyond[0] != 0) {
        AscendC::Duplicate(Bits(after_[column * kSide]), kHiddenScore, beyond, 1, 1, 8);
      }
      uint64_t short_of[2] = {(1ULL << column) - 1, 0};
      if (column != 0) {
        AscendC::Duplicate(Bits(before_[column * kSide]), kHiddenScore, short_of, 1, 1, 8);
      }
    }
  }

  __aicore__ inline static bool Needed(const Strip& strip) {
    return strip.ends_early || strip.starts_late || strip.keys != strip.columns;
  }

  // Rows at the top, whole fractals, that see none of a strip's keys; not all of them. Half of the
  // last strip under a causal mask.
  __aicore__ inline static uint32_t BlindRows(const Strip& strip, const SeqLen& seqlen) {
    if (!strip.ends_early || seqlen.right < 0) {
      return 0;
    }
    const int64_t rows = strip.key - seqlen.right - seqlen.OwnKey(strip.row);
    return Clamp(rows, strip.rows - kSide) / kSide * kSide;
  }

  // The caller owes a vector barrier, and has to have had one.
  __aicore__ inline void Apply(const AscendC::LocalTensor<float>& scores, const Strip& strip,
                               const SeqLen& seqlen) const {
    const bool padded = HidePadding(scores, strip);
    const int64_t own = seqlen.OwnKey(strip.row) - strip.key;
    const bool ends = strip.ends_early && seqlen.right >= 0;
    if (ends) {
      if (padded) {
        AscendC::PipeBarrier<PIPE_V>();
      }
      for (uint32_t column = 0; column < strip.columns; column += kSide) {
        HideAfter(scores[column * strip.rows], strip.rows, own + seqlen.right - column);
      }
    }
    if (strip.starts_late && seqlen.left >= 0) {
      if (padded || ends) {
        AscendC::PipeBarrier<PIPE_V>();
      }
      for (uint32_t column = 0; column < strip.columns; column += kSide) {
        HideBefore(scores[column * strip.rows], strip.rows, own - seqlen.left - column);
      }
    }
  }

 private:
  static constexpr uint32_t kSide = 16;
  static constexpr uint64_t kRow = 0xFFFF;  // lanes of a row

  __aicore__ inline static AscendC::LocalTensor<uint32_t> Bits(
      const AscendC::LocalTensor<float>& scores) {
    return scores.template ReinterpretCast<uint32_t>();
  }

  // Columns that are no keys. They lie in the last column of 16.
  __aicore__ inline static bool HidePadding(const AscendC::LocalTensor<float>& scores,
                                            const Strip& strip) {
    const uint32_t used = strip.keys % kSide;
    if (used == 0) {
      return false;
    }
    const uint64_t row = (kRow << used) & kRow;
    uint64_t lanes[2] = {row | row << 16 | row << 32 | row << 48, 0};
    AscendC::Duplicate(Bits(scores[(strip.columns - kSide) * strip.rows]), kHiddenScore, lanes,
                       static_cast<uint8_t>(strip.rows * kSide / kRepeatFloats), 1, 8);
    return true;
  }

  __aicore__ inline static uint32_t Clamp(int64_t value, uint32_t most) {
    return value < 0 ? 0 : value > most ? most : static_cast<uint32_t>(value);
  }

  __aicore__ inline static void HideRows(const AscendC::LocalTensor<float>& rows, uint32_t count) {
    if (count != 0) {
      AscendC::Duplicate(Bits(rows), kHiddenScore, static_cast<int32_t>(count * kSide));
    }
  }

  __aicore__ inline static void Add(const AscendC::LocalTensor<float>& rows,
                                    const AscendC::LocalTensor<float>& mask, uint32_t count) {
    if (count != 0) {
      AscendC::Add(rows, rows, mask, static_cast<int32_t>(count * kSide));
    }
  }

  // Row r of a column of 16 sees its lanes up to `last` + r.
  __aicore__ inline void HideAfter(const AscendC::LocalTensor<float>& rows, uint32_t count,
                                   int64_t last) const {
    const uint32_t blind = Clamp(-last, count);
    const uint32_t seeing = Clamp(kSide - 1 - last, count);  // first row that sees all
    HideRows(rows, blind);
    if (seeing > blind) {
      Add(rows[blind * kSide], after_[static_cast<uint32_t>(last + blind) * kSide], seeing - blind);
    }
  }

  // Row r of a column of 16 sees its lanes from `first` + r on.
  __aicore__ inline void HideBefore(const AscendC::LocalTensor<float>& rows, uint32_t count,
                                    int64_t first) const {
    const uint32_t seeing = Clamp(1 - first, count);  // rows that see all
    const uint32_t blind = Clamp(kSide - first, count);
    if (blind > seeing) {
      Add(rows[seeing * kSide], before_[static_cast<uint32_t>(first + seeing) * kSide],
          blind - seeing);
    }
    HideRows(rows[blind * kSide], count - blind);
  }

  AscendC::LocalTensor<float> after_;   // row i: lanes above i hidden
  AscendC::LocalTensor<float> before_;  // row i: lanes below i hidden
};

// Scaled scores to weights, a stage at a time. A vector barrier lies between the stages.
__aicore__ inline void ScaleStrip(const AscendC::LocalTensor<float>& scores, const Strip& strip,
                                  float scale) {
  AscendC::Muls(scores, scores, scale, kRepeatFloats, strip.Repeats(), DenseStrips());
}

__aicore__ inline void ExponentiateStrip(const AscendC::LocalTensor<float>& scores,
                                         const Strip& strip) {
  AscendC::Exp(scores, scores, kRepeatFloats, strip.Repeats(), DenseStrips());
}

// fp32 to fp16, to nearest even. Weights beyond fp16's range become its largest number; those of
// rows that were left out, zero.
__aicore__ inline void NarrowStrip(const AscendC::LocalTensor<half>& weights,
                                   const AscendC::LocalTensor<float>& scores, const Strip& strip) {
  if (strip.blind != 0) {
    constexpr uint32_t kSide = 16;
    const uint32_t seeing = strip.rows - strip.blind;
    for (uint32_t column = 0; column < strip.columns; column += kSide) {
      const AscendC::LocalTensor<half> rows = weights[column * strip.rows];
      AscendC::Duplicate(rows, static_cast<half>(0.0f), static_cast<int32_t>(strip.blind * kSide));
      AscendC::Cast(rows[strip.blind * kSide], scores[column * seeing],
                    AscendC::RoundMode::CAST_NONE, kRepeatFloats,
                    static_cast<uint8_t>(seeing * kSide / kRepeatFloats),
                    AscendC::UnaryRepeatParams(1, 1, 4, 8));
    }
    return;
  }
  AscendC::Cast(weights, scores, AscendC::RoundMode::CAST_NONE, kRepeatFloats, strip.Repeats(),
                AscendC::UnaryRepeatParams(1, 1, 4, 8));
}

}  // namespace ascendfa

#endif  // ASCENDFA_FA_STRIP_SOFTMAX_H
