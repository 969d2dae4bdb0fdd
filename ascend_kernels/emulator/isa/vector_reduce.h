// Building blocks of the reductions.
#pragma once

#include "isa/vector_common.h"

namespace dav::vec {

struct Extremum {
  float value;
  uint32_t index;  // ~0u: no lane was active
};

// First lane with the largest or smallest value; a NaN beats everything. Lanes that take no part
// hold extremum_identity().
Extremum extremum(const float* s, const LaneBits& bits, uint32_t lanes, bool largest);
float extremum_identity(bool largest);
// Binary tree of adjacent pairs; halves round at every level, as vcadd and vcgadd do.
float tree_sum(const float* s, uint32_t n, DType type, bool saturate);
void store_value(std::byte* to, DType type, float x, bool saturate);
uint16_t reduce_half(float x, bool saturate);
Swept reduce_source(const Instruction& in, Local at, int64_t block_stride, int64_t repeat_stride,
                    DType type);

// The lanes of one repeat after another, as floats.
class RepeatReader {
 public:
  RepeatReader(Instruction& in, const LanePlan& plan, const Swept& src, DType type);
  // Valid until the next call; lanes that take no part hold `identity`.
  const float* lanes(uint32_t r, float identity);

 private:
  const LanePlan& plan_;
  const Swept& src_;
  DType type_;
  const std::byte* base_ = nullptr;
  alignas(64) float wide_[kMaxLanes];
};

}  // namespace dav::vec
