// The cube core's half of the forward pass with referenced scores: S^T - r = K Q^T - r for the step
// at the head of the pipeline, rounded to fp16 on its way out, and O = P V for the step `lag`
// behind it, 128 keys of one and 128 keys of the other in turn. r, the reference of a query, comes
// from the bias table. Partial outputs of a band add up in global memory.
#ifndef ASCENDFA_FA_REFERENCED_LOOP_CUBE_H
#define ASCENDFA_FA_REFERENCED_LOOP_CUBE_H

#include "banded_operands.h"
#include "early_verdict.h"
#include "sample_cursor.h"
#include "task_queries.h"

namespace ascendfa {

template <typename Element>
class ReferencedLoopCube {
 public:
  __aicore__ inline ReferencedLoopCube(AscendC::TPipe& pipe, const FlashAttentionTiling& tiling)
      : pipe_(pipe), tiling_(tiling), queries_(pipe, tiling), operands_(pipe, tiling, bridge_) {}

  __aicore__ inline void Init(GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR workspace, uint32_t group) {
    bridge_.Init(tiling_, workspace, group);
    tasks_ = ForwardTasks(tiling_, group);
    queries_.Init(q, k);
    operands_.Init(k, v);
    pipe_.InitBuffer(reference_buffer_, kReferenceSlots * kBandRows * sizeof(float));
    pipe_.InitBuffer(bias_buffer_, kMaxBands * kBandRows * sizeof(float));
    pipe_.InitBuffer(l0a_buffer_, kL0aBytes);
    pipe_.InitBuffer(l0b_buffer_, kL0bBytes);
    pipe_.InitBuffer(l0c_buffer_, kL0cBytes);
    references_ = reference_buffer_.template Get<float>();
    bias_ = bias_buffer_.template Get<float>();
    left_ = l0a_buffer_.template Get<Element>();
    band_queries_ = l0b_buffer_.template Get<Element>();
    values_ = band_queries_[kOperandElements];
    outputs_ = l0c_buffer_.template Get<float>();
    scores_ = outputs_[kRowParts * kProductElements];
  }

  __aicore__ inline void Run(Rounds& rounds) {
    tasks_.Select(rounds);
    const FlashAttentionReferenced& plan = tiling_.referenced;
    StepCursor head(tasks_, plan.depth, BandOrder::kSnake);
    Stream scores{head, 0, 0};
    Stream values = scores;
    StepCursor coming = head;     // the scores' next step
    StepCursor following = head;  // the values' next step
    coming.Next();
    following.Next();
    SampleCursor samples(head, plan);
    const EarlyVerdict early(head, plan.lag);
    OpenRings();
    OpenQueries(head, samples);
    operands_.Open(head);
    bool opened = false;
    while (values.step.Valid()) {
      drains_ = !scores.step.Valid();
      if (!drains_ && scores.count <= values.count + plan.lag) {
        if (scores.col == 0) {
          if (early.Asked(scores.count)) {
            early.Ask(bridge_, scores.step, rounds);
          }
          BeginStep(scores, coming, samples);
        }
        ScoreChunk(scores.step.Current(), scores.col);
        if (scores.Advance()) {
          coming.Next();
        }
      }
      if (drains_ || scores.count + 1 >= values.count + plan.lag) {
        if (!opened) {
          operands_.OpenValues();
          opened = true;
        }
        const Step step = values.step.Current();
        const bool goes_on = following.Valid() && following.Current().serial == step.serial;
        ValueChunk(step, values.col, goes_on);
        if (values.Advance()) {
          EndValues(step, goes_on);
          following.Next();
        }
      }
      queries_.Advance();
    }
    operands_.Close();
    queries_.Close();
    CloseRings();
  }

 private:
  // One of the two products on its way through the steps, 128 keys at a time. The streams take
  // turns by chunks; steps need not have the same number of them.
  struct Stream {
    StepCursor step;
    uint32_t col;    // the next chunk's first column
    uint32_t count;  // steps completed

    // True at the end of a step.
    __aicore__ inline bool Advance() {
      col += kCubeEdge;
      if (col < step.Current().keys) {
        return false;
      }
      col = 0;
      ++count;
      step.Next();
      return true;
    }
  };

  // Before the first scores of a step.
  __aicore__ inline void BeginStep(const Stream& scores, const StepCursor& coming,
                                   SampleCursor& samples) {
    const uint32_t sampled = sampled_;
    if (scores.count != 0) {
      samples.Reach(scores.step, scores.count);
    }
    Step band;
    while (samples.Next(band)) {
      Sample(band);
    }
    BeginScores(scores.step.Current());
    // A step early, unless the vector cores need this step's scores to come so far.
    if (coming.Valid() && coming.Current().first && coming.Current().serial < sampled) {
      FetchReferences(coming.Current());
    }
  }

  // The first task's sample keys make room for the second's: its references, which come of their
  // products, are awaited (MTE2) before the second task's first piece is loaded.
  __aicore__ inline void OpenQueries(const StepCursor& head, SampleCursor& samples) {
    queries_.Open(head);
    const bool two = !head.Current().closes;
    samples.Reach(head, 0);
    for (uint32_t i = 0; i < (two ? 2u : 1u); ++i) {
      Step band;
      samples.Next(band);
      Sample(band);
    }
    queries_.Follow();
  }

  // Scores of the first keys a band meets, from which its references are taken. The queries of one
  // of two bands have the values' place, so that loads and products overlap.
  __aicore__ inline void Sample(const Step& step) {
    const bool spare = step.band != 0 && SampleFitsValues();
    const AscendC::LocalTensor<Element> right = spare ? values_ : band_queries_;
    if (spare) {
      value_ring_.Acquire();
    } else {
      query_ring_.Acquire();
    }
    LoadQueries(right, queries_.Sampled(step), step.rows);
    const uint32_t keys = Smaller(tiling_.referenced.sample_keys, step.keys);
    const uint32_t m = AlignUp(keys, kFractalRows);
    const uint32_t left = left_ring_.Acquire() * kOperandElements;
    // The tile may hold more rows; the first ones come first.
    LoadLeftByRows(left_[left], queries_.SampleKeys(), m, tiling_.head_dim_padded);
    left_ring_.Publish();
    left_ring_.Await();
    for (uint32_t row = 0; row < step.rows; row += kProductRows) {
      const uint32_t product = score_ring_.Acquire() * kProductElements;
      Multiply(scores_[product], left_[left], right[row * tiling_.head_dim_padded], m, kProductRows,
               tiling_.head_dim_padded, false);
      StoreScores(bridge_.Sample(step.serial, row / kProductRows), product, keys, m);
    }
    left_ring_.Release();
    if (spare) {
      value_ring_.Release();
    } else {
      query_ring_.Release();
    }
    bridge_.ScoresReady();
    ++sampled_;
  }

  // A single slot for values holds a band's queries.
  __aicore__ inline bool SampleFitsValues() const { return ValueSlots() == 1; }
  __aicore__ inline uint32_t ValueSlots() const {
    return tiling_.value_dim_padded <= kCubeEdge / kL0Slots ? kL0Slots : 1;
  }

  // MTE1: queries as right operands, 64 each.
  __aicore__ inline void LoadQueries(const AscendC::LocalTensor<Element>& dst,
                                     const AscendC::LocalTensor<Element>& tile, uint32_t rows) {
    for (uint32_t row = 0; row < rows; row += kProductRows) {
      const uint32_t part = row * tiling_.head_dim_padded;
      LoadRightTransposed(dst[part], tile[part], kProductRows, 0, tiling_.head_dim_padded);
    }
  }

  __aicore__ inline void BeginScores(const Step& step) {
    query_ring_.Acquire();
    if (step.first) {
      // Products that read the band before in this place precede the ones just waited for.
      LoadReferences(step);
    }
    LoadQueries(band_queries_, queries_.Get(step), step.rows);
    if (step.ends) {
      queries_.Done();
    }
  }

  __aicore__ inline AscendC::LocalTensor<float> References(const Step& step) const {
    return references_[step.serial % kReferenceSlots * kBandRows];
  }

  // GM -> L1.
  __aicore__ inline void FetchReferences(const Step& step) {
    bridge_.AwaitReferences();
    for (uint32_t row = 0; row < step.rows; row += kProductRows) {
      AscendC::DataCopy(References(step)[row], bridge_.References(step.serial, row / kProductRows),
                        kProductRows);
    }
    AscendC::SetFlag<AscendC::HardEvent::MTE2_MTE1>(references_here_);
    ++fetched_;
  }

  // L1 -> bias table.
  __aicore__ inline void LoadReferences(const Step& step) {
    if (fetched_ == step.serial) {
      FetchReferences(step);
    }
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_MTE1>(references_here_);
    AscendC::DataCopy(Bias(step, 0), References(step), AlignUp(step.rows, kProductRows));
  }

  __aicore__ inline AscendC::LocalTensor<float> Bias(const Step& step, uint32_t row) const {
    return bias_[step.serial % kMaxBands * kBandRows + row];
  }

  // 128 rows of S^T - r = K tile x Q band^T - r.
  __aicore__ inline void ScoreChunk(const Step& step, uint32_t col) {
    // Keys that only later bands see are worth less than a product cut to size.
    const uint32_t m = AlignUp(Smaller(kCubeEdge, step.fetched - col), kFractalRows);
    const uint32_t left = left_ring_.Acquire() * kOperandElements;
    LoadLeftByRows(left_[left], operands_.Keys(step, col), m, tiling_.head_dim_padded);
    operands_.DoneWithKeys(step, col);
    left_ring_.Publish();
    left_ring_.Await();
    for (uint32_t row = 0; row < step.rows; row += kProductRows) {
      const uint32_t product = score_ring_.Acquire() * kProductElements;
      MultiplyWithBias(scores_[product], left_[left], band_queries_[row * tiling_.head_dim_padded],
                       Bias(step, row), m, kProductRows, tiling_.head_dim_padded);
      StoreScores(bridge_.Scores(step.slot, row / kProductRows)[col * kProductRows], product,
                  Smaller(kCubeEdge, step.keys - col), m);
    }
    left_ring_.Release();
    if (col + kCubeEdge >= step.keys) {
      query_ring_.Release();
      bridge_.ScoresReady();
    }
  }

  __aicore__ inline void StoreScores(const AscendC::GlobalTensor<half>& dst, uint32_t product,
                                     uint32_t keys, uint32_t product_rows) {
    score_ring_.Publish();
    score_ring_.Await();
    StoreProduct(dst, scores_[product], keys, product_rows, kProductRows, kProductRows);
    score_ring_.Release();
  }

  // 128 keys' share of O = P tile x V tile, which sums over the tile's keys in L0C, and over the
  // next tile's where the band goes on with it.
  __aicore__ inline void ValueChunk(const Step& step, uint32_t col, bool goes_on) {
    const uint32_t k = AlignUp(Smaller(kCubeEdge, step.keys - col), kFractalRows);
    const uint32_t parts = CeilDiv(step.rows, kProductRows);
    const AscendC::LocalTensor<Element> values = operands_.Values(step, col);
    const AscendC::LocalTensor<Element> weights = operands_.Weights(col);
    const uint32_t left = left_ring_.Acquire() * kOperandElements;
    LoadLeftTransposed(left_[left], weights, k, parts * kProductRows);
    // After the last scores, the queries' place is free for every other chunk: what was there has
    // met a left operand at least two chunks ago, whose place this chunk's has taken.
    const bool spare = drains_ && (col / kCubeEdge) % 2 != 0;
    const AscendC::LocalTensor<Element> right =
        spare ? band_queries_ : values_[value_ring_.Acquire() * kValueElements];
    LoadRightByRows(right, values, k, tiling_.value_dim_padded);
    operands_.DoneWithValues(step, col);
    left_ring_.Publish();
    left_ring_.Await();
    const bool stores = !goes_on && col + kCubeEdge >= step.keys;
    for (uint32_t row = 0; row < step.rows; row += kProductRows) {
      uint32_t& output = output_slots_[row / kProductRows];
      if (col == 0 && !continues_) {
        output = output_ring_.Acquire();
      }
      Multiply(outputs_[output * kProductElements], left_[left + row * k], right,
               ProductRows(step, row), tiling_.value_dim_padded, k, col != 0 || continues_);
      if (stores) {
        StoreOutputs(step, row);
      }
    }
    if (!spare) {
      value_ring_.Release();
    }
    left_ring_.Release();
  }

  // Adds what has summed up in L0C to 64 rows of the band's outputs.
  __aicore__ inline void StoreOutputs(const Step& step, uint32_t row) {
    const uint32_t width = tiling_.value_dim_padded;
    const bool adds = !step.first && !(opened_ && continues_);
    output_ring_.Publish();
    if (adds) {
      AscendC::SetAtomicAdd<float>();
    }
    StoreProduct(bridge_.Outputs(step.serial)[row * width],
                 outputs_[output_ring_.Await() * kProductElements],
                 Smaller(kProductRows, step.rows - row), width, width);
    if (adds) {
      AscendC::SetAtomicNone();
    }
    output_ring_.Release();
  }

  __aicore__ inline void EndValues(const Step& step, bool goes_on) {
    opened_ = (opened_ && continues_) || step.first;
    continues_ = goes_on;
    if (step.last) {
      bridge_.OutputsReady();
    }
  }

  // Rows of the product that starts at `row`, in whole fractals.
  __aicore__ inline static uint32_t ProductRows(const Step& step, uint32_t row) {
    return AlignUp(Smaller(kProductRows, step.rows - row), kFractalRows);
  }

  __aicore__ inline void OpenRings() {
    query_ring_.Open(pipe_, 1);
    value_ring_.Open(pipe_, ValueSlots());
    left_ring_.Open(pipe_, kL0Slots);
    score_ring_.Open(pipe_, kRowParts);
    output_ring_.Open(pipe_, kRowParts);
    references_here_ = pipe_.AllocEventID<AscendC::HardEvent::MTE2_MTE1>();
  }

  __aicore__ inline void CloseRings() {
    query_ring_.Close(pipe_);
    value_ring_.Close(pipe_);
    left_ring_.Close(pipe_);
    score_ring_.Close(pipe_);
    output_ring_.Close(pipe_);
    pipe_.ReleaseEventID<AscendC::HardEvent::MTE2_MTE1>(references_here_);
  }

  static constexpr uint32_t kRowParts = kCubeEdge / kProductRows;
  static constexpr uint32_t kOperandElements = kL0aBytes / kL0Slots / sizeof(Element);
  static constexpr uint32_t kValueElements = kOperandElements / kL0Slots;
  static constexpr uint32_t kProductElements = kProductRows * kCubeEdge;

  AscendC::TPipe& pipe_;
  const FlashAttentionTiling& tiling_;
  ForwardTasks tasks_;
  ReferenceBridge<Element> bridge_;
  TaskQueries<Element> queries_;
  BandedOperands<Element, KeyRowTiles> operands_;

  AscendC::TBuf<AscendC::TPosition::C1> reference_buffer_;
  AscendC::TBuf<AscendC::TPosition::C2> bias_buffer_;
  AscendC::TBuf<AscendC::TPosition::A2> l0a_buffer_;
  AscendC::TBuf<AscendC::TPosition::B2> l0b_buffer_;
  AscendC::TBuf<AscendC::TPosition::CO1> l0c_buffer_;
  AscendC::LocalTensor<float> references_;      // by band
  AscendC::LocalTensor<float> bias_;            // by band
  AscendC::LocalTensor<Element> left_;          // keys or weights, half of L0A each
  AscendC::LocalTensor<Element> band_queries_;  // half of L0B each
  AscendC::LocalTensor<Element> values_;
  AscendC::LocalTensor<float> outputs_;  // half of L0C each
  AscendC::LocalTensor<float> scores_;

  // Right operands are loaded before the left ones that each product waits for.
  ReuseRing<AscendC::HardEvent::M_MTE1> query_ring_;
  ReuseRing<AscendC::HardEvent::M_MTE1> value_ring_;
  SlotRing<AscendC::HardEvent::MTE1_M, AscendC::HardEvent::M_MTE1> left_ring_;
  SlotRing<AscendC::HardEvent::M_FIX, AscendC::HardEvent::FIX_M> score_ring_;
  SlotRing<AscendC::HardEvent::M_FIX, AscendC::HardEvent::FIX_M> output_ring_;
  AscendC::TEventID references_here_ = 0;

  uint32_t output_slots_[kRowParts] = {};
  uint32_t sampled_ = 0;    // bands
  uint32_t fetched_ = 0;    // bands whose references have been asked for
  bool drains_ = false;     // no scores are left
  bool continues_ = false;  // the step goes on with what the one before has in L0C
  bool opened_ = false;     // which holds all there is of the band's outputs
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_REFERENCED_LOOP_CUBE_H
