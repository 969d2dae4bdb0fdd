// Compare, CompareScalar, Select and the compare mask register.
#include "dav/float_bits.h"
#include "isa/vector_common.h"
#include "isa/vector_half.h"

namespace dav {
namespace {

// Scratch of the Select modes 1 and 2, at the end of UB: 184 KiB on 2201.
constexpr uint64_t kSelectScratch = 184 * 1024;

void compare_floats(CompareOp op, uint8_t* d, const float* a, const float* b, size_t n) {
  switch (op) {
    case CompareOp::Lt:
      return vmath::less_f32(d, a, b, n);
    case CompareOp::Gt:
      return vmath::less_f32(d, b, a, n);
    case CompareOp::Eq:
      return vmath::equal_f32(d, a, b, n);
    case CompareOp::Le:
      return vmath::less_equal_f32(d, a, b, n);
    case CompareOp::Ge:
      return vmath::less_equal_f32(d, b, a, n);
    default:
      return vmath::differ_f32(d, a, b, n);
  }
}

// One bit per lane; lanes come in multiples of eight.
vec::LaneBits compare_lanes(CompareOp op, DType type, const std::byte* a, const std::byte* b,
                            size_t n) {
  alignas(8) uint8_t flags[vec::kMaxLanes];
  if (type == DType::I32) {
    const auto *x = reinterpret_cast<const int32_t*>(a), *y = reinterpret_cast<const int32_t*>(b);
    for (size_t i = 0; i < n; ++i) flags[i] = x[i] == y[i];
  } else {
    float wide[2][vec::kMaxLanes];
    const auto *x = reinterpret_cast<const float*>(a), *y = reinterpret_cast<const float*>(b);
    if (type == DType::F16) {
      vec::widen(type, wide[0], a, n);
      vec::widen(type, wide[1], b, n);
      x = wide[0];
      y = wide[1];
    }
    compare_floats(op, flags, x, y, n);
  }
  vec::LaneBits bits{};
  for (size_t i = 0; i < n; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, flags + i, 8);
    // Collects the lowest bit of each byte, the first byte's in the lowest place.
    bits[i >> 6] |= ((eight * 0x0102040810204080ull) >> 56) << (i & 63);
  }
  return bits;
}

vec::LanePlan full_lanes(uint32_t lanes, uint32_t repeats) {
  vec::LanePlan plan;
  plan.lanes = lanes;
  plan.repeats = repeats;
  plan.body = plan.tail = vec::first_lanes(lanes);
  plan.body_prefix = plan.tail_prefix = lanes;
  return plan;
}

// Lanes whose bit is 0 come from y.
void blend(std::byte* x, const std::byte* y, const vec::LaneBits& bits, uint32_t lanes) {
  if (lanes == 64) {
    auto* d = reinterpret_cast<uint32_t*>(x);
    vmath::blend_u32(d, d, reinterpret_cast<const uint32_t*>(y), bits[0], 64);
  } else {
    auto* d = reinterpret_cast<uint16_t*>(x);
    const auto* s = reinterpret_cast<const uint16_t*>(y);
    vmath::blend_u16(d, d, s, bits[0], 64);
    vmath::blend_u16(d + 64, d + 64, s + 64, bits[1], 64);
  }
}

const std::byte* operand_base(Instruction& in, const vec::LanePlan& plan, const vec::Swept& s) {
  if (in.checking()) vec::note_swept(in, plan, s, Access::Read);
  const vec::Hull h = vec::hull(plan, s);
  return in.span(Buffer::UB, h.begin, h.end - h.begin) - (h.begin - s.at.addr);
}

}  // namespace

void vector_compare(const VecCompare& v) {
  Instruction in(Pipe::V, v.name);
  const uint32_t with_equal = v.to_register ? vec::kNoTypes : vec::types({DType::I32});
  vec::require_type(in, v.type, vec::kFloats | with_equal,
                    v.scalar_src1 || v.to_register ? vec::kNoTypes : vec::kFloats);
  if (v.type == DType::I32 && v.op != CompareOp::Eq)
    in.trap(TrapKind::IllegalArgument, "int32_t can be compared with CMPMODE::EQ only");
  const uint32_t lanes = vec_lanes(v.type);
  vec::LanePlan plan;
  if (v.to_register) {
    plan = vec::plan_lanes(in, v.mask, lanes, 1);
    if (plan.repeats > 1)
      in.trap(TrapKind::IllegalArgument, "the compare mask register holds one repeat");
  } else if (v.mask.kind == VecMask::Kind::Total) {
    // A result is written for whole repeats only; the mask of this instruction has no effect.
    in.require_range("count", static_cast<int64_t>(v.mask.low), 0, INT32_MAX);
    if (v.mask.low % lanes)
      in.trap(TrapKind::IllegalArgument,
              "count %llu: the elements must fill whole 256-byte repeats",
              static_cast<unsigned long long>(v.mask.low));
    plan = full_lanes(lanes, static_cast<uint32_t>(v.mask.low / lanes));
  } else {
    in.require_range("repeatTime", v.repeats, 0, vec::kMaxRepeats);
    plan = full_lanes(lanes, v.repeats);
  }
  if (plan.repeats == 0) return;
  const vec::Swept src0 = vec::swept(in, v.src0, v.type, "src0");
  const std::byte* a = operand_base(in, plan, src0);
  vec::Swept src1 = src0;
  const std::byte* b = nullptr;
  alignas(64) std::byte scalar[vec::kMaxLanes * 4];
  if (v.scalar_src1) {
    for (uint32_t i = 0; i < lanes; ++i)
      std::memcpy(scalar + i * size_of(v.type), &v.scalar, size_of(v.type));
  } else {
    src1 = vec::swept(in, v.src1, v.type, "src1");
    b = operand_base(in, plan, src1);
  }
  const uint32_t bytes = lanes / 8;
  std::byte* out = nullptr;
  if (!v.to_register) {
    vec::require_ub(in, v.dst, "dst");
    in.require_aligned(Buffer::UB, v.dst.addr, vec::kBlock, "dst");
    out = in.write(Buffer::UB, v.dst.addr, uint64_t{plan.repeats} * bytes);
  }
  alignas(64) std::byte x[vec::kMaxLanes * 4], y[vec::kMaxLanes * 4];
  for (uint32_t r = 0; r < plan.repeats && !in.timing_only(); ++r) {
    vec::detail::gather(plan, r, src0, a, x);
    if (b) vec::detail::gather(plan, r, src1, b, y);
    const vec::LaneBits bits = compare_lanes(v.op, v.type, x, b ? y : scalar, lanes);
    if (v.to_register) {
      ControlState& control = in.core().control;
      const vec::LaneBits& on = plan.bits(r);
      control.compare_mask_low = (control.compare_mask_low & ~on[0]) | (bits[0] & on[0]);
      control.compare_mask_high = (control.compare_mask_high & ~on[1]) | (bits[1] & on[1]);
    } else {
      std::memcpy(out + r * bytes, bits.data(), bytes);
    }
  }
  vec::vector_work(in, VectorClass::Compare, v.type, plan.repeats,
                   b ? vec::bank_conflicts(plan, src0, src1) : 0);
}

void vector_get_compare_mask(Local dst) {
  Instruction in(Pipe::V, "GetCmpMask");
  if (vec::is_1001(in)) in.trap(TrapKind::UnsupportedOp, "this chip lacks the instruction");
  vec::require_ub(in, dst, "dst");
  in.require_aligned(Buffer::UB, dst.addr, 16, "dst");
  const uint64_t bits[2] = {in.core().control.compare_mask_low,
                            in.core().control.compare_mask_high};
  std::memcpy(in.write(Buffer::UB, dst.addr, 16), bits, 16);
}

void vector_set_compare_mask(Local src) {
  Instruction in(Pipe::V, "SetCmpMask");
  vec::require_ub(in, src, "src");
  in.require_aligned(Buffer::UB, src.addr, 16, "src");
  uint64_t bits[2];
  std::memcpy(bits, in.read(Buffer::UB, src.addr, 16), 16);
  in.core().control.compare_mask_low = bits[0];
  in.core().control.compare_mask_high = bits[1];
}

void vector_select(const VecSelect& v) {
  Instruction in(Pipe::V, v.name);
  vec::require_type(in, v.type, vec::kFloats, vec::kFloats);
  if (v.mode != SelectMode::Register && vec::is_1001(in))
    in.trap(TrapKind::UnsupportedOp,
            "this chip selects by the compare mask register only (mode 0)");
  const uint32_t lanes = vec_lanes(v.type);
  const vec::LanePlan plan = vec::plan_lanes(in, v.mask, lanes, v.repeats);
  if (plan.repeats == 0) return;
  const vec::Swept dst = vec::swept_dst(in, v.dst, v.type);
  const vec::Swept src0 = vec::swept(in, v.src0, v.type, "src0");
  ControlState& control = in.core().control;

  // Where the selecting bits come from.
  const uint32_t mask_bytes = lanes / 8;
  const std::byte* bits_at = nullptr;
  vec::LaneBits fixed{control.compare_mask_low, control.compare_mask_high};
  if (!v.select_in_register) {
    vec::require_ub(in, v.select, "selMask");
    in.require_aligned(Buffer::UB, v.select.addr, vec::kBlock, "selMask");
    const bool per_repeat = v.mode != SelectMode::Register;
    const uint64_t bytes =
        per_repeat
            ? uint64_t{plan.repeats - 1} * mask_bytes +
                  (plan.tail_prefix == vec::kScattered ? mask_bytes : (plan.tail_prefix + 7) / 8)
            : mask_bytes;
    bits_at = in.read(Buffer::UB, v.select.addr, bytes);
    if (!per_repeat) {
      fixed = {};
      std::memcpy(fixed.data(), bits_at, mask_bytes);
      control.compare_mask_low = fixed[0];
      control.compare_mask_high = fixed[1];
    } else {
      const uint64_t parameters[2] = {v.mode == SelectMode::TensorScalar ? v.scalar : v.select.addr,
                                      0};
      std::memcpy(in.write(Buffer::UB, kSelectScratch, 16), parameters, 16);
    }
  } else if (v.mode == SelectMode::TensorTensor && !in.timing_only()) {
    // The register holds the UB offset of the bits.
    vec::require_ub(in, {Buffer::UB, static_cast<uint32_t>(fixed[0])}, "selMask");
    bits_at = in.read(Buffer::UB, fixed[0], uint64_t{plan.repeats} * mask_bytes);
  }

  const bool scalar_src1 = v.mode == SelectMode::TensorScalar;
  vec::Swept src1 = src0;
  alignas(64) std::byte x[vec::kMaxLanes * 4], y[vec::kMaxLanes * 4];
  const std::byte* b = nullptr;
  if (scalar_src1) {
    const uint64_t value = v.scalar_in_register ? fixed[0] : v.scalar;
    for (uint32_t i = 0; i < lanes; ++i)
      std::memcpy(y + i * size_of(v.type), &value, size_of(v.type));
  } else {
    src1 = vec::swept(in, v.src1, v.type, "src1");
    if (in.checking()) vec::check_overlap(in, plan, dst, src1, false);
    b = operand_base(in, plan, src1);
  }
  if (in.checking()) vec::check_overlap(in, plan, dst, src0, false);
  const std::byte* a = operand_base(in, plan, src0);
  if (in.checking()) vec::note_swept(in, plan, dst, Access::Write);
  const vec::Hull h = vec::hull(plan, dst);
  std::byte* out = in.span(Buffer::UB, h.begin, h.end - h.begin) - (h.begin - dst.at.addr);
  for (uint32_t r = 0; r < plan.repeats && !in.timing_only(); ++r) {
    vec::LaneBits bits = fixed;
    if (v.mode != SelectMode::Register) {
      bits = {};
      const uint32_t prefix = plan.prefix(r);
      std::memcpy(bits.data(), bits_at + r * mask_bytes,
                  prefix == vec::kScattered ? mask_bytes : (prefix + 7) / 8);
    }
    vec::detail::gather(plan, r, src0, a, x);
    if (b) vec::detail::gather(plan, r, src1, b, y);
    blend(x, y, bits, lanes);
    vec::detail::scatter(plan, r, dst, out, x);
  }
  vec::vector_work(in, VectorClass::Select, v.type, plan.repeats,
                   b ? vec::bank_conflicts(plan, src0, src1) : 0);
}

}  // namespace dav
