// Reductions of a repeat, of its blocks, and of adjacent pairs.
#include "isa/vector_reduce.h"

#include <limits>

#include "dav/float_bits.h"
#include "isa/vector_half.h"

namespace dav {
namespace vec {

uint16_t reduce_half(float x, bool saturate) {
  uint16_t bits = half_from_float(x);
  if (saturate) saturate_half(&bits, 1);
  return bits;
}

float tree_sum(const float* s, uint32_t n, DType type, bool saturate) {
  if (type == DType::F32) return vmath::tree_sum(s, n);
  float level[kMaxLanes];
  std::memcpy(level, s, n * sizeof(float));
  for (; n > 1; n = (n + 1) / 2) {
    for (uint32_t i = 0; i < n / 2; ++i)
      level[i] = half_to_float(reduce_half(level[2 * i] + level[2 * i + 1], saturate));
    if (n & 1) level[n / 2] = level[n - 1];
  }
  return level[0];
}

Extremum extremum(const float* s, const LaneBits& bits, uint32_t lanes, bool largest) {
  const uint32_t n = count_lanes(bits);
  // Lanes behind a prefix hold the identity, so whole vectors may be looked at.
  if (lanes >= 64 && n != 0 && bits == first_lanes(n)) {
    const float value = largest ? vmath::max_of(s, lanes) : vmath::min_of(s, lanes);
    return {value, vmath::first_equal(s, value, n)};
  }
  Extremum best{0, ~0u};
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if (!active(bits, lane)) continue;
    const float x = s[lane];
    const bool better =
        best.index == ~0u ||
        (best.value == best.value && (x != x || (largest ? x > best.value : x < best.value)));
    if (better) best = {x, lane};
  }
  return best;
}

float extremum_identity(bool largest) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return largest ? -kInfinity : kInfinity;
}

const float* RepeatReader::lanes(uint32_t r, float identity) {
  const bool direct = type_ == DType::F32 && src_.block_bytes == kBlock;
  const std::byte* at = base_ + r * src_.repeat_bytes;
  if (direct && plan_.prefix(r) == plan_.lanes) return reinterpret_cast<const float*>(at);
  alignas(64) std::byte raw[kMaxLanes * 4];
  detail::gather(plan_, r, src_, base_, raw);
  if (type_ == DType::F32)
    std::memcpy(wide_, raw, plan_.lanes * 4);
  else
    widen(type_, wide_, raw, plan_.lanes);
  const LaneBits& bits = plan_.bits(r);
  if (plan_.prefix(r) != plan_.lanes)
    for (uint32_t lane = 0; lane < plan_.lanes; ++lane)
      if (!active(bits, lane)) wide_[lane] = identity;
  return wide_;
}

void RepeatReader::note(Instruction& in, uint32_t group) {
  if (group == 0 || swept_defined(in, plan_, src_)) {
    note_swept(in, plan_, src_, Access::Read);
    return;
  }
  bool any = false;
  for (uint32_t r = 0; r < plan_.repeats; ++r) {
    for (uint32_t first = 0; first < plan_.lanes; first += group) {
      bool defined = true, used = false;
      for (uint32_t lane = first; lane < first + group && lane < plan_.lanes; ++lane) {
        if (!active(plan_.bits(r), lane)) continue;
        used = true;
        defined = defined && in.is_defined(Buffer::UB, src_.addr(r, lane), src_.bits / 8);
      }
      if (used && !defined) lost_.emplace_back(r, first / group);
      any = any || (used && defined);
    }
  }
  note_swept(in, plan_, src_, any ? Access::Move : Access::Read);
}

RepeatReader::RepeatReader(Instruction& in, const LanePlan& plan, const Swept& src, DType type,
                           uint32_t group)
    : plan_(plan), src_(src), type_(type) {
  if (in.checking()) note(in, group);
  const Hull h = hull(plan, src);
  base_ = in.span(Buffer::UB, h.begin, h.end - h.begin) - (h.begin - src.at.addr);
}

Swept reduce_source(const Instruction& in, Local at, int64_t block_stride, int64_t repeat_stride,
                    DType type) {
  in.require_range("srcBlkStride", block_stride, 0, 65535);
  in.require_range("srcRepStride", repeat_stride, 0, 65535);
  return swept(in, {at, static_cast<uint32_t>(block_stride), static_cast<uint32_t>(repeat_stride)},
               type, "src");
}

void store_value(std::byte* to, DType type, float x, bool saturate) {
  if (type == DType::F32) {
    std::memcpy(to, &x, 4);
  } else {
    const uint16_t bits = reduce_half(x, saturate);
    std::memcpy(to, &bits, 2);
  }
}

}  // namespace vec

namespace {

using vec::Swept;

struct Prepared {
  vec::LanePlan plan;
  Swept src;
  bool saturate;
};

Prepared prepare(Instruction& in, const VecReduce& v) {
  vec::require_type(in, v.type, vec::kFloats, vec::types({DType::F16}));
  vec::require_ub(in, v.dst, "dst");
  const Swept src = vec::reduce_source(in, v.src, v.src_block_stride, v.src_repeat_stride, v.type);
  in.require_range("dstRepStride", v.dst_stride, vec::is_1001(in) ? 1 : 0, 65535);
  const vec::LanePlan plan = vec::plan_lanes(in, v.mask, vec_lanes(v.type), v.repeats);
  return {plan, src, vec::half_overflow(in) == vec::HalfOverflow::Saturate};
}

}  // namespace

void vector_reduce_repeat(const VecReduce& v) {
  Instruction in(Pipe::V, v.name);
  Prepared p = prepare(in, v);
  const bool sum = v.op == ReduceOp::Sum;
  const ReduceLayout layout = sum ? ReduceLayout::OnlyValue : v.layout;
  if (vec::is_1001(in) && !sum && layout != ReduceLayout::ValueIndex)
    in.trap(TrapKind::IllegalArgument, "this chip returns extrema as (value, index) only");
  const uint32_t value_bytes = size_of(v.type);
  const bool pair = layout == ReduceLayout::ValueIndex || layout == ReduceLayout::IndexValue;
  const uint32_t unit = layout == ReduceLayout::OnlyIndex ? 4
                        : pair                            ? 2 * value_bytes
                                                          : value_bytes;
  in.require_aligned(Buffer::UB, v.dst.addr, unit, "dst");
  if (p.plan.repeats == 0) return;
  vec::RepeatReader reader(in, p.plan, p.src, v.type, p.plan.lanes);
  const uint64_t stride = static_cast<uint64_t>(v.dst_stride) * unit;
  std::byte* out = in.span(Buffer::UB, v.dst.addr, (p.plan.repeats - 1) * stride + unit);
  if (in.checking()) {
    if (stride == unit)
      in.note_write(Buffer::UB, v.dst.addr, p.plan.repeats * stride);
    else
      for (uint32_t r = 0; r < p.plan.repeats; ++r)
        in.note_write(Buffer::UB, v.dst.addr + r * stride, unit);
    reader.settle(in, unit, [&](uint32_t r, uint32_t) { return v.dst.addr + r * stride; });
  }
  vec::vector_work(in, VectorClass::RepeatReduce, v.type, p.plan.repeats);
  if (in.timing_only()) return;
  vec::Extremum overall{0, ~0u};
  float total = 0;
  for (uint32_t r = 0; r < p.plan.repeats; ++r) {
    std::byte* to = out + r * stride;
    if (sum) {
      const float x = vec::tree_sum(reader.lanes(r, 0.0f), p.plan.lanes, v.type, p.saturate);
      total += x;
      vec::store_value(to, v.type, x, p.saturate);
      continue;
    }
    const vec::Extremum best =
        vec::extremum(reader.lanes(r, vec::extremum_identity(v.op == ReduceOp::Max)),
                      p.plan.bits(r), p.plan.lanes, v.op == ReduceOp::Max);
    if (r == 0 || (v.op == ReduceOp::Max ? best.value > overall.value : best.value < overall.value))
      overall = best;
    // An index is stored as an integer of the value's width, alone always as 32 bits.
    const uint32_t index_bytes = layout == ReduceLayout::OnlyIndex ? 4 : value_bytes;
    if (layout != ReduceLayout::OnlyIndex)
      vec::store_value(to + (layout == ReduceLayout::IndexValue ? value_bytes : 0), v.type,
                       best.value, p.saturate);
    if (layout != ReduceLayout::OnlyValue)
      std::memcpy(to + (layout == ReduceLayout::ValueIndex ? value_bytes : 0), &best.index,
                  index_bytes);
  }
  if (!sum) {
    uint32_t value = 0;
    vec::store_value(reinterpret_cast<std::byte*>(&value), v.type, overall.value, p.saturate);
    in.core().control.reduce_result = value | uint64_t{overall.index} << 32;
  }
}

void vector_reduce_block(const VecReduce& v) {
  Instruction in(Pipe::V, v.name);
  Prepared p = prepare(in, v);
  const uint32_t bytes = size_of(v.type);
  const uint32_t unit = 8 * bytes;
  in.require_aligned(Buffer::UB, v.dst.addr, unit, "dst");
  if (p.plan.repeats == 0) return;
  const uint32_t per_block = vec::kBlock / bytes;
  vec::RepeatReader reader(in, p.plan, p.src, v.type, per_block);
  const uint64_t stride = static_cast<uint64_t>(v.dst_stride) * unit;
  std::byte* out = in.span(Buffer::UB, v.dst.addr, (p.plan.repeats - 1) * stride + unit);
  vec::vector_work(in, VectorClass::BlockReduce, v.type, p.plan.repeats);
  if (in.timing_only()) return;
  for (uint32_t r = 0; r < p.plan.repeats; ++r) {
    const float* lanes = reader.lanes(r, 0.0f);
    const vec::LaneBits& bits = p.plan.bits(r);
    uint64_t written = 0;
    for (uint32_t block = 0; block < 8; ++block) {
      const uint32_t first = block * per_block;
      const uint64_t group = bits[first >> 6] >> (first & 63) & vec::low_bits(per_block);
      if (group == 0) continue;  // a block without active lanes leaves its result alone
      std::byte* to = out + r * stride + block * bytes;
      const float x =
          v.op == ReduceOp::Sum
              ? vec::tree_sum(lanes + first, per_block, v.type, p.saturate)
              : vec::extremum(lanes + first, {group, 0}, per_block, v.op == ReduceOp::Max).value;
      vec::store_value(to, v.type, x, p.saturate);
      written |= uint64_t{1} << block;
    }
    if (in.checking())
      vec::for_runs({written, 0}, 8, 8, true, [&](uint32_t first, uint32_t last) {
        in.note_write(Buffer::UB, v.dst.addr + r * stride + first * bytes, (last - first) * bytes);
      });
  }
  reader.settle(in, bytes,
                [&](uint32_t r, uint32_t i) { return v.dst.addr + r * stride + i * bytes; });
}

void vector_reduce_pair(const VecReduce& v) {
  Instruction in(Pipe::V, v.name);
  if (v.op != ReduceOp::Sum)
    in.trap(TrapKind::UnsupportedOp, "pairs can be added, no extremum of them exists");
  Prepared p = prepare(in, v);
  in.require_aligned(Buffer::UB, v.dst.addr, vec::kBlock, "dst");
  if (p.plan.repeats == 0) return;
  vec::RepeatReader reader(in, p.plan, p.src, v.type, 2);
  const uint32_t bytes = size_of(v.type);
  const uint32_t unit = p.plan.lanes / 2 * bytes;
  const uint64_t stride = static_cast<uint64_t>(v.dst_stride) * unit;
  std::byte* out = in.span(Buffer::UB, v.dst.addr, (p.plan.repeats - 1) * stride + unit);
  vec::vector_work(in, VectorClass::PairReduce, v.type, p.plan.repeats);
  if (in.timing_only()) return;
  for (uint32_t r = 0; r < p.plan.repeats; ++r) {
    const float* lanes = reader.lanes(r, 0.0f);
    const vec::LaneBits& bits = p.plan.bits(r);
    for (uint32_t i = 0; i < p.plan.lanes / 2; ++i) {
      if (!vec::active(bits, 2 * i) && !vec::active(bits, 2 * i + 1)) continue;
      vec::store_value(out + r * stride + i * bytes, v.type, lanes[2 * i] + lanes[2 * i + 1],
                       p.saturate);
      if (in.checking()) in.note_write(Buffer::UB, v.dst.addr + r * stride + i * bytes, bytes);
    }
  }
  reader.settle(in, bytes,
                [&](uint32_t r, uint32_t i) { return v.dst.addr + r * stride + i * bytes; });
}

}  // namespace dav
