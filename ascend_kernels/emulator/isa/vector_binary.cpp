// Two-tensor arithmetic and logic, and the fused forms that also read the destination.
#include <algorithm>
#include <type_traits>

#include "isa/vector_common.h"
#include "isa/vector_half.h"
#include "numeric/rounding.h"

namespace dav {
namespace {

constexpr uint32_t k1001Arithmetic = vec::types({DType::F16, DType::I32, DType::F32});
constexpr uint32_t k16Bit = vec::types({DType::I16, DType::U16});
constexpr uint32_t kReluTypes = vec::types({DType::F16, DType::F32, DType::I16});

struct BinaryTypes {
  uint32_t on2201, on1001;
};

BinaryTypes types_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
    case BinaryOp::Max:
    case BinaryOp::Min:
      return {vec::kArithmetic, k1001Arithmetic};
    case BinaryOp::Div:
      return {vec::kFloats, vec::kFloats};
    case BinaryOp::And:
    case BinaryOp::Or:
      return {k16Bit, k16Bit};
    case BinaryOp::AddRelu:
    case BinaryOp::SubRelu:
      return {kReluTypes, vec::kNoTypes};
    case BinaryOp::MulAddDst:
    case BinaryOp::FusedMulAdd:
    case BinaryOp::FusedMulAddRelu:
      return {vec::kFloats, vec::kNoTypes};
    default:
      return {vec::types({DType::I32}), vec::kNoTypes};
  }
}

bool reads_dst(BinaryOp op) {
  return op == BinaryOp::MulAddDst || op == BinaryOp::FusedMulAdd ||
         op == BinaryOp::FusedMulAddRelu;
}

// Integers wrap around.
template <typename T>
void integer_loop(BinaryOp op, std::byte* d, const std::byte* const* s, size_t n) {
  using U = std::make_unsigned_t<T>;
  auto* out = reinterpret_cast<T*>(d);
  const auto* a = reinterpret_cast<const T*>(s[0]);
  const auto* b = reinterpret_cast<const T*>(s[1]);
  auto each = [&](auto&& f) {
    for (size_t i = 0; i < n; ++i) out[i] = static_cast<T>(f(a[i], b[i]));
  };
  auto relu = [](T x) { return x < 0 ? T{0} : x; };
  switch (op) {
    case BinaryOp::Add:
      return each([](T x, T y) { return static_cast<U>(x) + static_cast<U>(y); });
    case BinaryOp::Sub:
      return each([](T x, T y) { return static_cast<U>(x) - static_cast<U>(y); });
    case BinaryOp::Mul:
      return each([](T x, T y) { return static_cast<uint64_t>(x) * static_cast<uint64_t>(y); });
    case BinaryOp::Max:
      return each([](T x, T y) { return x > y ? x : y; });
    case BinaryOp::Min:
      return each([](T x, T y) { return x < y ? x : y; });
    case BinaryOp::And:
      return each([](T x, T y) { return x & y; });
    case BinaryOp::Or:
      return each([](T x, T y) { return x | y; });
    case BinaryOp::AddRelu:
      return each(
          [&](T x, T y) { return relu(static_cast<T>(static_cast<U>(x) + static_cast<U>(y))); });
    default:
      return each(
          [&](T x, T y) { return relu(static_cast<T>(static_cast<U>(x) - static_cast<U>(y))); });
  }
}

template <size_t N>
void float_loop(BinaryOp op, float* d, const std::array<const float*, N>& s, size_t n) {
  switch (op) {
    case BinaryOp::Add:
      return vmath::add_f32(d, s[0], s[1], n);
    case BinaryOp::Sub:
      return vmath::sub_f32(d, s[0], s[1], n);
    case BinaryOp::Mul:
      return vmath::mul_f32(d, s[0], s[1], n);
    case BinaryOp::Div:
      return vmath::div_f32(d, s[0], s[1], n);
    case BinaryOp::Max:
      return vmath::max_f32(d, s[0], s[1], n);
    case BinaryOp::Min:
      return vmath::min_f32(d, s[0], s[1], n);
    case BinaryOp::AddRelu:
      return vmath::add_relu_f32(d, s[0], s[1], n);
    case BinaryOp::SubRelu:
      return vmath::sub_relu_f32(d, s[0], s[1], n);
    default:
      break;
  }
  if constexpr (N == 3) {
    if (op == BinaryOp::MulAddDst) return vmath::fma_f32(d, s[0], s[1], s[2], n);
    vmath::fma_f32(d, s[0], s[2], s[1], n);
    if (op == BinaryOp::FusedMulAddRelu) vmath::relu_f32(d, d, n);
  }
}

// int32 sum times the scale register (a half), rectified, as half.
void deq_relu(uint16_t scale, std::byte* d, const std::byte* const* s, size_t n) {
  auto* out = reinterpret_cast<uint16_t*>(d);
  const auto* a = reinterpret_cast<const int32_t*>(s[0]);
  const auto* b = reinterpret_cast<const int32_t*>(s[1]);
  const double factor = static_cast<double>(half_to_float(scale));
  for (size_t i = 0; i < n; ++i) {
    const double sum = static_cast<double>(
        static_cast<int32_t>(static_cast<uint32_t>(a[i]) + static_cast<uint32_t>(b[i])));
    const double x = sum * factor;
    out[i] = half_from_float(static_cast<float>(x < 0 ? 0.0 : x));
  }
}

template <size_t N>
void run(Instruction& in, const VecBinary& v, const vec::LanePlan& plan, const vec::Swept& dst,
         const std::array<vec::Swept, N>& src) {
  const vec::HalfOverflow overflow = vec::half_overflow(in);
  std::array<DType, N> src_types;
  src_types.fill(v.src_type);
  if constexpr (N == 3) src_types[2] = v.dst_type;
  vec::sweep(in, plan, dst, src, [&](std::byte* d, const std::byte* const* s, size_t n) {
    if (v.op == BinaryOp::AddDeqRelu)
      deq_relu(static_cast<uint16_t>(in.core().control.deq_scale), d, s, n);
    else if (v.src_type == DType::I32)
      integer_loop<int32_t>(v.op, d, s, n);
    else if (v.src_type == DType::I16 || v.src_type == DType::U16)
      integer_loop<int16_t>(v.op, d, s, n);
    else
      vec::through_float<N>(
          v.dst_type, src_types, overflow, d, s, n,
          [&](float* o, const auto& a, size_t m) { float_loop<N>(v.op, o, a, m); });
  });
}

// AddDeqRelu is a routine of the kernel library: its intermediate results go to the end of UB, up
// to 8 KiB of them, and into its sources.
void use_scratch(Instruction& in, const vec::LanePlan& plan) {
  constexpr uint64_t kScratch = 184 * 1024, kScratchBytes = 8 * 1024;
  const uint64_t bytes = std::min(kScratchBytes, uint64_t{plan.repeats} * 256);
  std::memset(in.write(Buffer::UB, kScratch, bytes), 0xff, bytes);
}
void spoil(Instruction& in, const vec::LanePlan& plan, const vec::Swept& src,
           const vec::Swept& dst) {
  const vec::Hull s = vec::hull(plan, src), d = vec::hull(plan, dst);
  if (d.begin < s.end && s.begin < d.end) return;  // results lie among them
  vec::note_swept(in, plan, src, Access::Write);
  for (uint32_t r = 0; r < plan.repeats; ++r)
    for (uint32_t lane = 0; lane < plan.lanes; ++lane)
      if (vec::active(plan.bits(r), lane))
        in.set_undefined(Buffer::UB, src.addr(r, lane), src.bits / 8);
}

}  // namespace

void vector_binary(const VecBinary& v) {
  Instruction in(Pipe::V, v.name);
  const BinaryTypes allowed = types_of(v.op);
  vec::require_type(in, v.src_type, allowed.on2201, allowed.on1001);
  const bool widening = v.dst_type != v.src_type;
  const bool legal_pair =
      !widening ||
      (v.op == BinaryOp::MulAddDst && v.src_type == DType::F16 && v.dst_type == DType::F32) ||
      (v.op == BinaryOp::AddDeqRelu && v.dst_type == DType::F16);
  if (!legal_pair)
    in.trap(TrapKind::UnsupportedType, "no %s result from %s sources", vec::type_name(v.dst_type),
            vec::type_name(v.src_type));
  const DType widest = size_of(v.dst_type) > size_of(v.src_type) ? v.dst_type : v.src_type;
  const vec::LanePlan plan = vec::plan_lanes(in, v.mask, vec_lanes(widest), v.repeats);
  if (plan.repeats == 0) return;
  const vec::Swept dst = vec::swept_dst(in, v.dst, v.dst_type);
  const vec::Swept src0 = vec::swept(in, v.src0, v.src_type, "src0");
  const vec::Swept src1 = vec::swept(in, v.src1, v.src_type, "src1");
  if (in.checking()) {
    // These may accumulate into one place over repeats, through the second source.
    const bool accumulates =
        v.src_type != DType::I16 &&
        (v.op <= BinaryOp::Mul || v.op == BinaryOp::Max || v.op == BinaryOp::Min ||
         v.op == BinaryOp::AddRelu || v.op == BinaryOp::SubRelu);
    vec::check_overlap(in, plan, dst, src0, false);
    vec::check_overlap(in, plan, dst, src1, accumulates);
    if (v.op == BinaryOp::MulAddDst && widening)
      for (const vec::Swept* src : {&src0, &src1}) vec::require_apart(in, plan, dst, *src);
  }
  if (reads_dst(v.op)) {
    vec::Swept old = dst;
    old.name = "dst (as source)";
    run<3>(in, v, plan, dst, {src0, src1, old});
  } else {
    run<2>(in, v, plan, dst, {src0, src1});
  }
  if (v.op == BinaryOp::AddDeqRelu) {
    use_scratch(in, plan);
    if (in.checking())
      for (const vec::Swept* src : {&src0, &src1}) spoil(in, plan, *src, dst);
  }
  vec::vector_work(in, v.op == BinaryOp::Div ? VectorClass::Div : VectorClass::Binary, widest, plan,
                   vec::bank_conflicts(plan, src0, src1));
}

}  // namespace dav
