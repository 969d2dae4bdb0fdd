// A penalty that grows with the distance between a query's own key and the key it looks at.
#ifndef ASCENDFA_FA_ALIBI_H
#define ASCENDFA_FA_ALIBI_H

#include "alibi_slopes.h"
#include "mask.h"

namespace ascendfa {

class Alibi {
 public:
  // `scratch` takes 64 columns of a slice of rows.
  __aicore__ inline void Init(GM_ADDR slopes, uint32_t batch_stride, UbArena& arena,
                              const TileCoordinates& coordinates, const FloatTensor& scratch) {
    slopes_.Init(slopes, batch_stride);
    coordinates_ = coordinates;
    scratch_ = scratch;
    own_.Init(arena);
  }

  // Rows [row, row + rows) of the step's tile, for Apply. A vector barrier has to lie between.
  __aicore__ inline void Prepare(const SeqLen& seqlen, const Step& step, uint32_t row,
                                 uint32_t rows) {
    factor_ = -slopes_.Of(step.batch, step.q_head) / static_cast<float>(TileCoordinates::kHalves);
    coordinates_.Diagonal(own_.Lanes(), seqlen.OwnKey(row) - step.key, rows);
    AscendC::PipeBarrier<PIPE_V>();
    own_.Spread(rows);
  }

  // `offset`: the first row's distance from Prepare's row. The caller owes a vector barrier.
  __aicore__ inline void Apply(const FloatTensor& scores, const Rows& rows, uint32_t offset) {
    const uint8_t repeats = static_cast<uint8_t>(rows.count);
    for (uint32_t block = 0; block < rows.Blocks(); ++block) {
      const uint32_t column = block * kRepeatFloats;
      AscendC::Sub(scratch_, coordinates_.Columns(column), own_.From(offset), kRepeatFloats,
                   repeats, AscendC::BinaryRepeatParams(1, 1, 0, kStripStride, 0, 1));
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Abs(scratch_, scratch_, kRepeatFloats, repeats, DenseUnary());
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Muls(scratch_, scratch_, factor_, kRepeatFloats, repeats, DenseUnary());
      AscendC::PipeBarrier<PIPE_V>();
      AddStrip(scores[column], rows, scratch_, kRepeatFloats);
    }
  }

 private:
  AlibiSlopes slopes_;
  TileCoordinates coordinates_;
  RowLimits own_;
  FloatTensor scratch_;
  float factor_ = 0.0f;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_ALIBI_H
