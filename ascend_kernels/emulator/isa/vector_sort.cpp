// Sorting of (score, index) pairs: 32 at a time, and merging of sorted lists.
#include <algorithm>

#include "dav/float_bits.h"
#include "isa/vector_common.h"

namespace dav {
namespace {

constexpr uint32_t kPair = 8;  // bytes: score in the low word, index in the high word

float score_of(DType type, const std::byte* pair) {
  uint32_t bits = 0;
  std::memcpy(&bits, pair, type == DType::F16 ? 2 : 4);
  return type == DType::F16 ? half_to_float(static_cast<uint16_t>(bits)) : bits_float(bits);
}

}  // namespace

void vector_sort32(DType type, Local dst, Local score, Local index, int64_t repeats) {
  Instruction in(Pipe::V, "Sort32");
  vec::require_type(in, type, vec::kFloats, vec::kNoTypes);
  vec::require_ub(in, dst, "dst");
  vec::require_ub(in, score, "src0");
  vec::require_ub(in, index, "src1");
  in.require_range("repeatTime", repeats, 0, vec::kMaxRepeats);
  const uint32_t bytes = size_of(type);
  in.require_aligned(Buffer::UB, dst.addr, 256, "dst");
  in.require_aligned(Buffer::UB, score.addr, 32 * bytes, "src0");
  in.require_aligned(Buffer::UB, index.addr, 128, "src1");
  for (int64_t r = 0; r < repeats; ++r) {
    const auto i = static_cast<uint64_t>(r);
    const std::byte* scores = in.read(Buffer::UB, score.addr + i * 32 * bytes, 32 * bytes);
    const std::byte* indices = in.read(Buffer::UB, index.addr + i * 128, 128);
    uint8_t order[32];
    for (uint8_t k = 0; k < 32; ++k) order[k] = k;
    std::stable_sort(order, order + 32, [&](uint8_t a, uint8_t b) {
      return score_of(type, scores + a * bytes) > score_of(type, scores + b * bytes);
    });
    std::byte sorted[32 * kPair] = {};
    for (uint32_t k = 0; k < 32; ++k) {
      std::memcpy(sorted + k * kPair, scores + order[k] * bytes, bytes);
      std::memcpy(sorted + k * kPair + 4, indices + order[k] * 4, 4);
    }
    std::memcpy(in.write(Buffer::UB, dst.addr + i * 256, 256), sorted, 256);
  }
  vec::vector_work(in, VectorClass::Sort, type, static_cast<uint32_t>(repeats));
}

void vector_merge_sort(const VecMergeSort& v) {
  Instruction in(Pipe::V, v.name);
  vec::require_type(in, v.type, vec::kFloats, vec::kNoTypes);
  vec::require_ub(in, v.dst, "dst");
  in.require_aligned(Buffer::UB, v.dst.addr, vec::kBlock, "dst");
  if (v.valid != 3 && v.valid != 7 && v.valid != 15)
    in.trap(TrapKind::IllegalArgument, "validBit is %u; 3, 7 or 15 name the lists in use", v.valid);
  const uint32_t lists = v.valid == 3 ? 2 : v.valid == 7 ? 3 : 4;
  uint64_t total = 0;
  for (uint32_t i = 0; i < lists; ++i) {
    in.require_range("elementLengths", v.lengths[i], 0, 4095);
    vec::require_ub(in, v.src[i], "src");
    in.require_aligned(Buffer::UB, v.src[i].addr, 8, "src");
    total += v.lengths[i];
  }
  in.require_range("repeatTimes", v.repeats, 0, vec::kMaxRepeats);
  for (uint32_t i = 0; i < lists && v.repeats != 0; ++i) {
    const uint64_t skipped = (v.repeats - 1) * total * kPair;
    if (v.lengths[i] != 0)
      vec::require_apart(in, v.dst.addr, skipped + total * kPair, v.src[i].addr,
                         skipped + uint64_t{v.lengths[i]} * kPair, "src");
  }
  if (v.repeats > 1) {
    bool even = lists == 4 && !v.stop_when_exhausted;
    for (uint32_t i = 1; even && i < 4; ++i)
      even =
          v.lengths[i] == v.lengths[0] && v.src[i].addr == v.src[0].addr + i * v.lengths[0] * kPair;
    if (!even)
      in.trap(TrapKind::IllegalArgument,
              "repeats need four adjacent lists of one length that do not stop when exhausted");
  }
  uint16_t taken[4] = {};
  for (uint32_t r = 0; r < v.repeats; ++r) {
    const std::byte* at[4] = {};
    uint16_t next[4] = {};
    for (uint32_t i = 0; i < lists; ++i)
      at[i] = v.lengths[i] ? in.read(Buffer::UB, v.src[i].addr + r * total * kPair,
                                     uint64_t{v.lengths[i]} * kPair)
                           : nullptr;
    uint64_t written = 0;
    while (written < total) {
      // Among equal scores the lower list goes first.
      uint32_t best = lists;
      for (uint32_t i = 0; i < lists; ++i) {
        if (next[i] == v.lengths[i]) continue;
        if (best == lists || score_of(v.type, at[i] + next[i] * kPair) >
                                 score_of(v.type, at[best] + next[best] * kPair))
          best = i;
      }
      std::memcpy(in.write(Buffer::UB, v.dst.addr + (r * total + written) * kPair, kPair),
                  at[best] + next[best] * kPair, kPair);
      ++written;
      if (++next[best] == v.lengths[best] && v.stop_when_exhausted) break;
    }
    std::copy(next, next + 4, taken);
  }
  std::copy(taken, taken + 4, in.core().control.merge_taken);
  vec::vector_work(in, VectorClass::Sort, v.type,
                   static_cast<uint32_t>((total * v.repeats + 31) / 32));
}

void vector_merge_sort_result(uint16_t taken[4]) {
  Instruction in(Pipe::S, "GetMrgSortResult");
  in.require_data("how far the lists were merged");
  std::copy(in.core().control.merge_taken, in.core().control.merge_taken + 4, taken);
}

}  // namespace dav
