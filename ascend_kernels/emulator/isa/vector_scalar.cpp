// Tensor and scalar: Adds, Muls, Maxs, Mins, LeakyRelu, Axpy, shifts.
#include <type_traits>

#include "dav/float_bits.h"
#include "isa/vector_common.h"
#include "isa/vector_half.h"

namespace dav {
namespace {

struct ScalarTypes {
  uint32_t on2201, on1001;
};

ScalarTypes types_of(ScalarOp op) {
  switch (op) {
    case ScalarOp::Adds:
    case ScalarOp::Muls:
      return {vec::kArithmetic, vec::kFloats};
    case ScalarOp::Maxs:
    case ScalarOp::Mins:
      return {vec::kArithmetic, vec::kNoTypes};
    case ScalarOp::LeakyRelu:
      return {vec::kFloats, vec::kNoTypes};
    case ScalarOp::Axpy:
      return {vec::kFloats, vec::kFloats};
    default:
      return {vec::types({DType::I16, DType::U16, DType::I32, DType::U32}), vec::kNoTypes};
  }
}

// Signed elements shift below their sign, which stays.
template <typename T>
T shift_left(T x, uint32_t by) {
  const auto wide = static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(x)) << by;
  if constexpr (std::is_signed_v<T>) {
    constexpr uint64_t kSign = uint64_t{1} << (sizeof(T) * 8 - 1);
    return static_cast<T>((wide & (kSign - 1)) | (x < 0 ? kSign : 0));
  }
  return static_cast<T>(wide);
}

// Rounding is for signed elements only.
template <typename T>
T shift_right(T x, uint32_t by, bool round) {
  constexpr uint32_t kBits = sizeof(T) * 8;
  if (by == 0) return x;
  const int64_t wide = static_cast<int64_t>(x);
  const int64_t half = round && std::is_signed_v<T> ? int64_t{1} << (by - 1) : 0;
  return by > kBits ? T{0} : static_cast<T>((wide + half) >> by);
}

template <typename T>
void integer_loop(const VecScalar& v, std::byte* d, const std::byte* const* s, size_t n) {
  using U = std::make_unsigned_t<T>;
  auto* out = reinterpret_cast<T*>(d);
  const auto* a = reinterpret_cast<const T*>(s[0]);
  const T y = static_cast<T>(v.scalar);
  const uint32_t by = static_cast<uint32_t>(v.scalar);
  auto each = [&](auto&& f) {
    for (size_t i = 0; i < n; ++i) out[i] = static_cast<T>(f(a[i]));
  };
  switch (v.op) {
    case ScalarOp::Adds:
      return each([&](T x) { return static_cast<U>(x) + static_cast<U>(y); });
    case ScalarOp::Muls:
      return each([&](T x) { return static_cast<uint64_t>(x) * static_cast<uint64_t>(y); });
    case ScalarOp::Maxs:
      return each([&](T x) { return x > y ? x : y; });
    case ScalarOp::Mins:
      return each([&](T x) { return x < y ? x : y; });
    case ScalarOp::ShiftLeft:
      return each([&](T x) { return shift_left<T>(x, by); });
    default:
      return each([&](T x) { return shift_right<T>(x, by, v.round); });
  }
}

float scalar_as_float(const VecScalar& v) {
  if (v.src_type == DType::F16) return half_to_float(static_cast<uint16_t>(v.scalar));
  return bits_float(static_cast<uint32_t>(v.scalar));
}

template <size_t N>
void run(Instruction& in, const VecScalar& v, const vec::LanePlan& plan, const vec::Swept& dst,
         const std::array<vec::Swept, N>& src) {
  const vec::HalfOverflow overflow = vec::half_overflow(in);
  const float y = scalar_as_float(v);
  std::array<DType, N> src_types;
  src_types.fill(v.src_type);
  if constexpr (N == 2) src_types[1] = v.dst_type;
  auto floats = [&](float* o, const std::array<const float*, N>& a, size_t m) {
    switch (v.op) {
      case ScalarOp::Adds:
        return vmath::adds_f32(o, a[0], y, m);
      case ScalarOp::Muls:
        return vmath::muls_f32(o, a[0], y, m);
      case ScalarOp::Maxs:
        return vmath::maxs_f32(o, a[0], y, m);
      case ScalarOp::Mins:
        return vmath::mins_f32(o, a[0], y, m);
      case ScalarOp::LeakyRelu:
        return vmath::leaky_relu_f32(o, a[0], y, m);
      default:
        if constexpr (N == 2) vmath::axpy_f32(o, a[0], y, a[1], m);
    }
  };
  vec::sweep(in, plan, dst, src, [&](std::byte* d, const std::byte* const* s, size_t n) {
    switch (v.src_type) {
      case DType::I16:
        return integer_loop<int16_t>(v, d, s, n);
      case DType::U16:
        return integer_loop<uint16_t>(v, d, s, n);
      case DType::I32:
        return integer_loop<int32_t>(v, d, s, n);
      case DType::U32:
        return integer_loop<uint32_t>(v, d, s, n);
      default:
        return vec::through_float<N>(v.dst_type, src_types, overflow, d, s, n, floats);
    }
  });
}

}  // namespace

void vector_scalar(const VecScalar& v) {
  Instruction in(Pipe::V, v.name);
  const ScalarTypes allowed = types_of(v.op);
  vec::require_type(in, v.src_type, allowed.on2201, allowed.on1001);
  const bool widening = v.dst_type != v.src_type;
  if (widening && !(v.op == ScalarOp::Axpy && v.src_type == DType::F16 && v.dst_type == DType::F32))
    in.trap(TrapKind::UnsupportedType, "no %s result from a %s source", vec::type_name(v.dst_type),
            vec::type_name(v.src_type));
  if (v.op == ScalarOp::ShiftLeft || v.op == ScalarOp::ShiftRight)
    in.require_range("scalarValue", static_cast<int64_t>(v.scalar), 0, size_of(v.src_type) * 8);
  const vec::LanePlan plan = vec::plan_lanes(in, v.mask, vec_lanes(v.dst_type), v.repeats);
  if (plan.repeats == 0) return;
  const vec::Swept dst = vec::swept_dst(in, v.dst, v.dst_type);
  const vec::Swept src = vec::swept(in, v.src, v.src_type, "src");
  if (in.checking()) vec::check_overlap(in, plan, dst, src, false);
  if (in.checking() && widening) vec::require_apart(in, plan, dst, src);
  if (v.op == ScalarOp::Axpy) {
    vec::Swept old = dst;
    old.name = "dst (as source)";
    run<2>(in, v, plan, dst, {src, old});
  } else {
    run<1>(in, v, plan, dst, {src});
  }
  const bool extremum = v.op == ScalarOp::Maxs || v.op == ScalarOp::Mins;
  vec::vector_work(in, extremum ? VectorClass::ScalarMax : VectorClass::ScalarOp, v.dst_type, plan);
}

}  // namespace dav
