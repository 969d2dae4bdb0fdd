// Cast between element types, with the pairs and rounding modes each chip has.
#include "isa/vector_common.h"
#include "isa/vector_half.h"
#include "numeric/cast.h"

namespace dav {
namespace {

constexpr uint32_t mode_bit(Rounding r) { return 1u << static_cast<int>(r); }
constexpr uint32_t kNone = mode_bit(Rounding::None);
constexpr uint32_t kRint = mode_bit(Rounding::Rint);
constexpr uint32_t kOdd = mode_bit(Rounding::Odd);
constexpr uint32_t kBiased = mode_bit(Rounding::Floor) | mode_bit(Rounding::Ceil) |
                             mode_bit(Rounding::Round) | mode_bit(Rounding::Trunc);
constexpr uint32_t kDirected = kRint | kBiased;
constexpr uint32_t kAny = kDirected | kNone | kOdd;

struct CastPair {
  DType src, dst;
  uint32_t on2201, on1001;  // rounding modes; 0 = no such conversion
};

// API reference of Cast, tables per product.
constexpr CastPair kPairs[] = {
    {DType::I4, DType::F16, kNone, 0},
    {DType::I8, DType::F16, kNone, kNone},
    {DType::U8, DType::F16, kNone, kNone},
    {DType::I16, DType::F16, kDirected | kNone, kNone},
    {DType::I16, DType::F32, kNone, 0},
    {DType::F16, DType::I4, kDirected | kNone, 0},
    {DType::F16, DType::I8, kDirected | kNone, kBiased | kNone},
    {DType::F16, DType::U8, kDirected | kNone, kBiased | kNone},
    {DType::F16, DType::I16, kDirected, 0},
    {DType::F16, DType::I32, kDirected, kDirected},
    {DType::F16, DType::F32, kNone, kNone},
    {DType::BF16, DType::I32, kDirected, 0},
    {DType::BF16, DType::F32, kNone, 0},
    {DType::I32, DType::I16, kNone, 0},
    {DType::I32, DType::F16, kAny, 0},
    {DType::I32, DType::F32, kDirected | kNone, kNone},
    {DType::I32, DType::I64, kNone, 0},
    {DType::F32, DType::I16, kDirected, 0},
    {DType::F32, DType::F16, kDirected | kOdd | kNone, kOdd | kNone},
    {DType::F32, DType::BF16, kDirected, 0},
    {DType::F32, DType::I32, kDirected, 0},
    {DType::F32, DType::F32, kDirected, 0},
    {DType::F32, DType::I64, kDirected, kDirected},
    {DType::I64, DType::I32, kNone, 0},
    {DType::I64, DType::F32, kDirected, 0},
};

void check_pair(const Instruction& in, const VecCast& v) {
  static const char* const names[] = {"CAST_NONE",  "CAST_RINT",  "CAST_FLOOR", "CAST_CEIL",
                                      "CAST_ROUND", "CAST_TRUNC", "CAST_ODD"};
  const Arch arch = in.core().chip().arch;
  for (const CastPair& pair : kPairs) {
    if (pair.src != v.src_type || pair.dst != v.dst_type) continue;
    const uint32_t modes = arch == Arch::Dav2201   ? pair.on2201
                           : arch == Arch::Dav1001 ? pair.on1001
                                                   : 0;
    if (modes == 0) break;
    if (modes & mode_bit(v.rounding)) return;
    in.trap(TrapKind::IllegalArgument, "%s is not a rounding mode of %s to %s on this chip",
            names[static_cast<int>(v.rounding)], vec::type_name(v.src_type),
            vec::type_name(v.dst_type));
  }
  in.trap(TrapKind::UnsupportedType, "no conversion from %s to %s on this chip",
          vec::type_name(v.src_type), vec::type_name(v.dst_type));
}

// Four-bit elements share bytes, so their lanes come in pairs.
void check_pairs_of_lanes(const Instruction& in, const vec::LanePlan& plan) {
  for (const vec::LaneBits* bits : {&plan.body, &plan.tail})
    for (uint64_t word : *bits)
      if ((word ^ (word >> 1)) & 0x5555555555555555ull)
        in.trap(TrapKind::IllegalArgument, "int4b_t lanes must be active in pairs");
}

}  // namespace

void vector_cast(const VecCast& v) {
  Instruction in(Pipe::V, v.name);
  check_pair(in, v);
  const bool four_bit = v.dst_type == DType::I4 || v.src_type == DType::I4;
  const DType widest = size_of(v.dst_type) > size_of(v.src_type) ? v.dst_type : v.src_type;
  const vec::LanePlan plan = vec::plan_lanes(in, v.mask, vec_lanes(widest), v.repeats);
  if (plan.repeats == 0) return;
  if (four_bit) check_pairs_of_lanes(in, plan);
  const vec::Swept dst = vec::swept_dst(in, v.dst, v.dst_type);
  const vec::Swept src = vec::swept(in, v.src, v.src_type, "src");
  if (in.checking()) vec::check_overlap(in, plan, dst, src, false);
  // In place, wider results may come before the elements behind them have been read.
  if (in.checking() && dst.bits > src.bits) vec::require_apart(in, plan, dst, src);
  const auto deq_scale = static_cast<uint16_t>(in.core().control.deq_scale);
  // Bit 59 of CTRL: integers keep their low bits instead.
  const IntOverflow overflow =
      (in.core().control.ctrl >> 59) & 1 ? IntOverflow::Truncate : IntOverflow::Saturate;
  const bool saturate = vec::half_overflow(in) == vec::HalfOverflow::Saturate;
  vec::sweep<1>(in, plan, dst, {src}, [&](std::byte* d, const std::byte* const* s, size_t n) {
    cast_elements(v.dst_type, d, v.src_type, s[0], n, v.rounding, deq_scale, overflow);
    if (saturate && v.dst_type == DType::F16) vec::saturate_half(reinterpret_cast<uint16_t*>(d), n);
    if (saturate && v.dst_type == DType::BF16)
      vec::saturate_bfloat16(reinterpret_cast<uint16_t*>(d), n);
  });
  vec::vector_work(in, VectorClass::Cast, widest, plan);
}

}  // namespace dav
