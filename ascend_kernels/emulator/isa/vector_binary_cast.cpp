// Two-tensor arithmetic that narrows its result: AddReluCast, SubReluCast, MulCast.
#include "isa/vector_common.h"
#include "isa/vector_half.h"
#include "numeric/cast.h"

namespace dav {
namespace {

bool legal(BinaryOp op, DType dst, DType src) {
  if (op == BinaryOp::Mul) return src == DType::F16 && (dst == DType::I8 || dst == DType::U8);
  return (dst == DType::I8 && (src == DType::F16 || src == DType::I16)) ||
         (dst == DType::F16 && src == DType::F32);
}

void combine(BinaryOp op, float* d, const float* a, const float* b, size_t n) {
  if (op == BinaryOp::Mul) return vmath::mul_f32(d, a, b, n);
  if (op == BinaryOp::AddRelu) return vmath::add_relu_f32(d, a, b, n);
  vmath::sub_relu_f32(d, a, b, n);
}

}  // namespace

void vector_binary_cast(const VecBinary& v) {
  Instruction in(Pipe::V, v.name);
  vec::require_type(in, v.src_type, vec::types({DType::F16, DType::I16, DType::F32}),
                    vec::kNoTypes);
  if (!legal(v.op, v.dst_type, v.src_type))
    in.trap(TrapKind::UnsupportedType, "no %s result from %s sources", vec::type_name(v.dst_type),
            vec::type_name(v.src_type));
  const vec::LanePlan plan = vec::plan_lanes(in, v.mask, vec_lanes(v.src_type), v.repeats);
  if (plan.repeats == 0) return;
  const vec::Swept dst = vec::swept_dst(in, v.dst, v.dst_type);
  const vec::Swept src0 = vec::swept(in, v.src0, v.src_type, "src0");
  const vec::Swept src1 = vec::swept(in, v.src1, v.src_type, "src1");
  if (in.checking()) {
    vec::check_overlap(in, plan, dst, src0, false);
    vec::check_overlap(in, plan, dst, src1, false);
  }
  vec::sweep<2>(
      in, plan, dst, {src0, src1}, [&](std::byte* d, const std::byte* const* s, size_t n) {
        constexpr size_t kChunk = 512;
        float wide[3][kChunk];
        const uint32_t bytes = size_of(v.src_type);
        for (size_t done = 0; done < n; done += kChunk) {
          const size_t count = n - done < kChunk ? n - done : kChunk;
          for (size_t k = 0; k < 2; ++k) {
            const std::byte* from = s[k] + done * bytes;
            // A float-to-float cast would round to integers.
            if (v.src_type == DType::F32)
              std::memcpy(wide[k], from, count * bytes);
            else
              cast_elements(DType::F32, reinterpret_cast<std::byte*>(wide[k]), v.src_type, from,
                            count, Rounding::None, 0);
          }
          combine(v.op, wide[2], wide[0], wide[1], count);
          cast_elements(v.dst_type, d + done * size_of(v.dst_type), DType::F32,
                        reinterpret_cast<const std::byte*>(wide[2]), count, Rounding::Rint, 0);
        }
      });
  vec::vector_work(in, VectorClass::Binary, v.src_type, plan,
                   vec::bank_conflicts(plan, src0, src1));
}

}  // namespace dav
