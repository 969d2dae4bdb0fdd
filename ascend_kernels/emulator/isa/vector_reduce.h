// Building blocks of the reductions.
#pragma once

#include <utility>
#include <vector>

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
  // Every `group` lanes of a repeat give a result of their own; 0 when all lanes give one. As with
  // lanewise instructions, a group with undefined lanes takes the value from its result only.
  RepeatReader(Instruction& in, const LanePlan& plan, const Swept& src, DType type,
               uint32_t group = 0);
  // Valid until the next call; lanes that take no part hold `identity`.
  const float* lanes(uint32_t r, float identity);
  // After the writes were noted: addr(r, i) is where result i of repeat r lies.
  template <typename F>
  void settle(Instruction& in, uint32_t bytes, F&& addr) const {
    for (const auto& [r, i] : lost_) in.set_undefined(Buffer::UB, addr(r, i), bytes);
  }

 private:
  void note(Instruction& in, uint32_t group);

  const LanePlan& plan_;
  const Swept& src_;
  DType type_;
  const std::byte* base_ = nullptr;
  std::vector<std::pair<uint32_t, uint32_t>> lost_;
  alignas(64) float wide_[kMaxLanes];
};

}  // namespace dav::vec
