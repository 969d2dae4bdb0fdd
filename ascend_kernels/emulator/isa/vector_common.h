// What all vector instructions share: lanes and masks, strided operands, alignment and overlap
// rules, access notes, and the sweep that feeds array loops from strided operands.
#pragma once

#include <array>
#include <cstring>
#include <initializer_list>

#include "core/core.h"
#include "core/instruction.h"
#include "core/tracker.h"
#include "dav/abi_vector.h"

namespace dav::vec {

constexpr uint32_t kBlock = 32;  // bytes of a data block
constexpr uint32_t kMaxRepeats = 255;
constexpr uint32_t kMaxLanes = 128;
constexpr uint32_t kScattered = ~0u;

using LaneBits = std::array<uint64_t, 2>;

// Active lanes of each repeat. All repeats but the last share `body`.
struct LanePlan {
  uint32_t lanes = 0;
  uint32_t repeats = 0;  // 0: nothing to do
  bool counter = false;  // the mask was an element count
  LaneBits body{}, tail{};
  uint32_t body_prefix = 0, tail_prefix = 0;  // kScattered unless the first n lanes are active

  const LaneBits& bits(uint32_t r) const { return r + 1 == repeats ? tail : body; }
  uint32_t prefix(uint32_t r) const { return r + 1 == repeats ? tail_prefix : body_prefix; }
};

constexpr uint64_t low_bits(uint32_t n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }
constexpr LaneBits first_lanes(uint32_t n) { return {low_bits(n), n > 64 ? low_bits(n - 64) : 0}; }
inline bool active(const LaneBits& bits, uint32_t lane) {
  return (bits[lane >> 6] >> (lane & 63)) & 1;
}
inline uint32_t count_lanes(const LaneBits& bits) {
  return static_cast<uint32_t>(__builtin_popcountll(bits[0]) + __builtin_popcountll(bits[1]));
}

// Sets the mask register as `mask` says and works out who takes part.
LanePlan plan_lanes(const Instruction& in, const VecMask& mask, uint32_t lanes, int64_t repeats);

// Element types as a set.
constexpr uint32_t types(std::initializer_list<DType> list) {
  uint32_t set = 0;
  for (DType t : list) set |= 1u << static_cast<int>(t);
  return set;
}
constexpr uint32_t kFloats = types({DType::F16, DType::F32});
constexpr uint32_t kArithmetic = types({DType::I16, DType::F16, DType::I32, DType::F32});
constexpr uint32_t kNoTypes = 0;
const char* type_name(DType t);
// Traps unless the core's chip has the instruction for this type.
void require_type(const Instruction& in, DType t, uint32_t on2201, uint32_t on1001);
void require_ub(const Instruction& in, Local at, const char* operand);
bool is_1001(const Instruction& in);

// An operand with element size, in bytes where VecOperand counts blocks.
struct Swept {
  Local at;
  uint64_t block_bytes = kBlock;
  uint64_t repeat_bytes = 0;
  uint32_t bits = 0;  // per element
  const char* name = "";

  uint32_t per_block() const { return kBlock * 8 / bits; }
  uint64_t offset(uint32_t repeat, uint32_t lane) const {
    return repeat * repeat_bytes + lane / per_block() * block_bytes + lane % per_block() * bits / 8;
  }
  uint64_t addr(uint32_t repeat, uint32_t lane) const { return at.addr + offset(repeat, lane); }
};
constexpr uint32_t bits_of(DType t) { return t == DType::I4 ? 4 : size_of(t) * 8; }
// Checks buffer and alignment and, for a destination, that its blocks do not coincide.
Swept swept(const Instruction& in, const VecOperand& operand, DType type, const char* name);
Swept swept_dst(const Instruction& in, const VecOperand& operand, DType type);

struct Hull {
  uint64_t begin = 0, end = 0;  // bytes in the buffer
};
Hull hull(const LanePlan& plan, const Swept& operand);

// Calls f(first, last) for each run of active lanes; runs end at block boundaries unless `merge`.
template <typename F>
void for_runs(const LaneBits& bits, uint32_t lanes, uint32_t per_block, bool merge, F&& f) {
  const uint32_t n = count_lanes(bits);
  if (bits == first_lanes(n)) {
    const uint32_t step = merge ? lanes : per_block;
    for (uint32_t first = 0; first < n; first += step)
      f(first, first + step < n ? first + step : n);
    return;
  }
  uint32_t lane = 0;
  while (lane < lanes) {
    if (!active(bits, lane)) {
      ++lane;
      continue;
    }
    const uint32_t first = lane;
    do {
      ++lane;
    } while (lane < lanes && active(bits, lane) && (merge || lane % per_block != 0));
    f(first, lane);
  }
}

void note_swept(Instruction& in, const LanePlan& plan, const Swept& operand, Access access);
// Whether all active lanes have a value.
bool swept_defined(const Instruction& in, const LanePlan& plan, const Swept& operand);
// Records what an instruction reads and writes that computes every lane of dst from the same lanes
// of its sources. Kernels round lengths up to whole blocks and never use the surplus, so lanes
// without values are no error here, they take the value from their lane of dst; unless that is all
// there is.
void note_lanewise(Instruction& in, const LanePlan& plan, const Swept& dst, const Swept* sources,
                   size_t count);
// Traps on the overlaps that give undefined results: partial within a repeat, and a source that an
// earlier repeat has overwritten. `accumulates`: src may be the very dst with a stride of 0.
void check_overlap(const Instruction& in, const LanePlan& plan, const Swept& dst, const Swept& src,
                   bool accumulates);
// For instructions whose operands may not share memory at all.
void require_apart(const Instruction& in, const LanePlan& plan, const Swept& dst, const Swept& src);
void require_apart(const Instruction& in, uint64_t dst, uint64_t dst_bytes, uint64_t src,
                   uint64_t src_bytes, const char* src_name);
// Repeats in which both sources touch one UB bank group: 48 banks in 16 groups of 32-byte columns.
uint32_t bank_conflicts(const LanePlan& plan, const Swept& a, const Swept& b);

// Fills in the cost.
void vector_work(Instruction& in, VectorClass cls, DType type, uint32_t repeats,
                 uint32_t conflicts = 0);
void vector_work(Instruction& in, VectorClass cls, DType type, const LanePlan& plan,
                 uint32_t conflicts = 0);

namespace detail {

bool is_dense(const LanePlan& plan, const Swept& operand);
void gather(const LanePlan& plan, uint32_t r, const Swept& operand, const std::byte* base,
            std::byte* lanes);
void scatter(const LanePlan& plan, uint32_t r, const Swept& operand, std::byte* base,
             const std::byte* lanes);

}  // namespace detail

// Runs compute(destination, sources, n) over all active lanes: once if all operands are dense, else
// per repeat on the operands themselves where a repeat is contiguous, or on gathered copies. Lanes
// computed in vain are never stored.
template <size_t N, typename Compute>
void sweep(Instruction& in, const LanePlan& plan, const Swept& dst, const std::array<Swept, N>& src,
           Compute&& compute) {
  if (in.checking()) note_lanewise(in, plan, dst, src.data(), N);
  std::array<const std::byte*, N> base{}, at{};
  bool dense = detail::is_dense(plan, dst);
  for (size_t i = 0; i < N; ++i) {
    const Hull h = hull(plan, src[i]);
    base[i] = in.span(src[i].at.buffer, h.begin, h.end - h.begin) - (h.begin - src[i].at.addr);
    dense = dense && detail::is_dense(plan, src[i]);
  }
  const Hull h = hull(plan, dst);
  std::byte* out = in.span(dst.at.buffer, h.begin, h.end - h.begin) - (h.begin - dst.at.addr);
  if (in.timing_only()) return;
  if (dense) {
    compute(out, base.data(), size_t{plan.repeats - 1} * plan.lanes + plan.tail_prefix);
    return;
  }
  alignas(64) std::byte copies[N + 1][kMaxLanes * 8];
  for (uint32_t r = 0; r < plan.repeats; ++r) {
    const uint32_t prefix = plan.prefix(r);
    const bool direct_out = prefix != kScattered && dst.block_bytes == kBlock;
    const uint32_t n = prefix != kScattered ? prefix : plan.lanes;
    for (size_t i = 0; i < N; ++i) {
      if (prefix != kScattered && (src[i].block_bytes == kBlock || n <= src[i].per_block())) {
        at[i] = base[i] + r * src[i].repeat_bytes;
      } else {
        detail::gather(plan, r, src[i], base[i], copies[i]);
        at[i] = copies[i];
      }
    }
    if (direct_out) {
      compute(out + r * dst.repeat_bytes, at.data(), size_t{n});
    } else {
      compute(copies[N], at.data(), size_t{n});
      detail::scatter(plan, r, dst, out, copies[N]);
    }
  }
}

}  // namespace dav::vec
