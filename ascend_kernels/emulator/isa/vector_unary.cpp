// Exp, Ln, Abs, Reciprocal, Rsqrt, Sqrt, Relu, Not.
#include "dav/float_bits.h"
#include "isa/vector_common.h"
#include "isa/vector_half.h"

namespace dav {
namespace {

using FloatLoop = void (*)(float*, const float*, size_t);

struct UnaryEntry {
  FloatLoop loop;
  VectorClass cost;
  uint32_t on2201, on1001;  // element types
};

constexpr uint32_t k16Bit = vec::types({DType::I16, DType::U16});

const UnaryEntry& entry_of(UnaryOp op) {
  static const UnaryEntry table[] = {
      {vmath::exp_f32, VectorClass::Exp, vec::kFloats, vec::kFloats},
      {vmath::ln_f32, VectorClass::Ln, vec::kFloats, vec::kFloats},
      {vmath::abs_f32, VectorClass::Unary, vec::kFloats, vec::kFloats},
      {vmath::reciprocal_f32, VectorClass::Div, vec::kFloats, vec::kFloats},
      {vmath::rsqrt_f32, VectorClass::Sqrt, vec::kFloats, vec::kFloats},
      {vmath::sqrt_f32, VectorClass::Sqrt, vec::kFloats, vec::kFloats},
      {vmath::relu_f32, VectorClass::Unary, vec::kFloats | vec::types({DType::I32}),
       vec::types({DType::F16})},
      {nullptr, VectorClass::Unary, k16Bit, k16Bit},
  };
  return table[static_cast<int>(op)];
}

// The reference has the reciprocals of 2201 and 1001 miss one in a thousand (half) and one in ten
// thousand (float); how far, it does not say. Keeping 9 and 12 significant bits misses both, and
// results that are powers of two are right.
float approximation(float x, DType type) {
  const uint32_t cut = type == DType::F16 ? 15 : 12;
  const uint32_t bits = float_bits(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  return bits_float((bits + (1u << (cut - 1))) & ~((1u << cut) - 1));
}

}  // namespace

void vector_unary(const VecUnary& v) {
  Instruction in(Pipe::V, v.name);
  const UnaryEntry& entry = entry_of(v.op);
  vec::require_type(in, v.type, entry.on2201, entry.on1001);
  const vec::LanePlan plan = vec::plan_lanes(in, v.mask, vec_lanes(v.type), v.repeats);
  if (plan.repeats == 0) return;
  const vec::Swept dst = vec::swept_dst(in, v.dst, v.type);
  const std::array<vec::Swept, 1> src{vec::swept(in, v.src, v.type, "src")};
  if (in.checking()) vec::check_overlap(in, plan, dst, src[0], false);
  const vec::HalfOverflow overflow = vec::half_overflow(in);
  const bool approximate = v.op == UnaryOp::Reciprocal || v.op == UnaryOp::Rsqrt;
  vec::sweep(in, plan, dst, src, [&](std::byte* d, const std::byte* const* s, size_t n) {
    if (v.op == UnaryOp::Not) {
      auto* out = reinterpret_cast<uint16_t*>(d);
      const auto* a = reinterpret_cast<const uint16_t*>(s[0]);
      for (size_t i = 0; i < n; ++i) out[i] = static_cast<uint16_t>(~a[i]);
    } else if (v.type == DType::I32) {
      auto* out = reinterpret_cast<int32_t*>(d);
      const auto* a = reinterpret_cast<const int32_t*>(s[0]);
      for (size_t i = 0; i < n; ++i) out[i] = a[i] < 0 ? 0 : a[i];
    } else {
      vec::through_float<1>(v.type, {v.type}, overflow, d, s, n,
                            [&](float* o, const auto& a, size_t m) {
                              entry.loop(o, a[0], m);
                              for (size_t i = 0; approximate && i < m; ++i)
                                o[i] = approximation(o[i], v.type);
                            });
    }
  });
  vec::vector_work(in, entry.cost, v.type, plan);
}

}  // namespace dav
