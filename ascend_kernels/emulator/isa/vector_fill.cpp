// Duplicate, Brcb, CreateVecIndex and masked Copy: instructions that place values.
#include "dav/float_bits.h"
#include "isa/vector_common.h"
#include "numeric/vector_math.h"

namespace dav {
namespace {

constexpr uint32_t kPlacedOn1001 =
    vec::types({DType::I16, DType::U16, DType::F16, DType::I32, DType::U32, DType::F32});
constexpr uint32_t kPlaced = kPlacedOn1001 | vec::types({DType::BF16});

template <typename T>
void fill(std::byte* d, uint64_t value, size_t n) {
  auto* out = reinterpret_cast<T*>(d);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<T>(value);
}

// Element i of the index sequence is first + skip + i.
void fill_index(DType type, std::byte* d, uint64_t first, uint32_t skip, size_t n) {
  switch (type) {
    case DType::F32:
      return vmath::index_f32(reinterpret_cast<float*>(d), bits_float(static_cast<uint32_t>(first)),
                              skip, n);
    case DType::F16: {
      const float start = half_to_float(static_cast<uint16_t>(first));
      for (size_t i = 0; i < n; ++i)
        reinterpret_cast<uint16_t*>(d)[i] = half_from_float(start + static_cast<float>(skip + i));
      return;
    }
    case DType::I16:
      for (size_t i = 0; i < n; ++i)
        reinterpret_cast<uint16_t*>(d)[i] = static_cast<uint16_t>(first + skip + i);
      return;
    default:
      for (size_t i = 0; i < n; ++i)
        reinterpret_cast<uint32_t*>(d)[i] = static_cast<uint32_t>(first + skip + i);
      return;
  }
}

}  // namespace

void vector_duplicate(const VecDuplicate& v) {
  Instruction in(Pipe::V, v.name);
  vec::require_type(in, v.type, kPlaced, kPlacedOn1001);
  const vec::LanePlan plan = vec::plan_lanes(in, v.mask, vec_lanes(v.type), v.repeats);
  if (plan.repeats == 0) return;
  const vec::Swept dst = vec::swept_dst(in, v.dst, v.type);
  vec::sweep<0>(in, plan, dst, {}, [&](std::byte* d, const std::byte* const*, size_t n) {
    if (size_of(v.type) == 2)
      fill<uint16_t>(d, v.scalar, n);
    else
      fill<uint32_t>(d, v.scalar, n);
  });
  vec::vector_work(in, VectorClass::Duplicate, v.type, plan.repeats);
}

void vector_copy(const VecCopy& v) {
  Instruction in(Pipe::V, v.name);
  vec::require_type(in, v.type, kPlaced, vec::kNoTypes);
  in.require_range("dstRepeatSize", v.dst.repeat_stride, 0, 4095);
  in.require_range("srcRepeatSize", v.src.repeat_stride, 0, 4095);
  const uint32_t lanes = vec_lanes(v.type);
  vec::LanePlan plan;
  ControlState& control = in.core().control;
  if (control.mask_counter) {
    // Unlike all others, Copy takes the counter as elements per repeat and keeps its repeats.
    if (v.mask.kind != VecMask::Kind::Keep) control.mask_low = v.mask.low;
    in.require_range("mask (elements per repeat)", static_cast<int64_t>(control.mask_low), 0,
                     lanes);
    in.require_range("repeatTime", v.repeats, 0, vec::kMaxRepeats);
    plan.lanes = lanes;
    plan.repeats = control.mask_low ? v.repeats : 0;
    plan.body_prefix = plan.tail_prefix = static_cast<uint32_t>(control.mask_low);
    plan.body = plan.tail = vec::first_lanes(plan.body_prefix);
  } else {
    plan = vec::plan_lanes(in, v.mask, lanes, v.repeats);
  }
  if (plan.repeats == 0) return;
  const vec::Swept dst = vec::swept_dst(in, v.dst, v.type);
  const vec::Swept src = vec::swept(in, v.src, v.type, "src");
  if (in.checking()) vec::check_overlap(in, plan, dst, src, false);
  const uint32_t bytes = size_of(v.type);
  vec::sweep<1>(in, plan, dst, {src}, [&](std::byte* d, const std::byte* const* s, size_t n) {
    std::memmove(d, s[0], n * bytes);
  });
  vec::vector_work(in, VectorClass::Unary, v.type, plan.repeats);
}

void vector_index(const VecIndex& v) {
  Instruction in(Pipe::V, v.name);
  vec::require_type(in, v.type, vec::kArithmetic, vec::kNoTypes);
  const uint32_t lanes = vec_lanes(v.type);
  const vec::LanePlan plan = vec::plan_lanes(in, v.mask, lanes, v.repeats);
  if (plan.repeats == 0) return;
  const vec::Swept dst = vec::swept_dst(in, v.dst, v.type);
  uint32_t skip = 0;
  vec::sweep<0>(in, plan, dst, {}, [&](std::byte* d, const std::byte* const*, size_t n) {
    fill_index(v.type, d, v.first, skip, n);
    skip += lanes;
  });
  vec::vector_work(in, VectorClass::Other, v.type, plan.repeats);
}

void vector_brcb(DType type, Local dst, uint32_t dst_block_stride, uint32_t dst_repeat_stride,
                 Local src, uint32_t repeats) {
  Instruction in(Pipe::V, "Brcb");
  vec::require_type(in, type, kPlaced, vec::kNoTypes);
  vec::require_ub(in, dst, "dst");
  vec::require_ub(in, src, "src");
  in.require_aligned(Buffer::UB, dst.addr, vec::kBlock, "dst");
  in.require_aligned(Buffer::UB, src.addr, vec::kBlock, "src");
  in.require_range("repeatTime", repeats, 0, vec::kMaxRepeats);
  if (dst_block_stride == 0)
    in.trap(TrapKind::IllegalArgument, "dstBlkStride is 0; blocks of dst may not coincide");
  if (repeats == 0) return;
  const uint32_t bytes = size_of(type);
  const uint64_t src_bytes = uint64_t{repeats} * 8 * bytes;
  const uint64_t block = uint64_t{dst_block_stride} * vec::kBlock;
  const uint64_t repeat = uint64_t{dst_repeat_stride} * vec::kBlock;
  const uint64_t dst_bytes = (repeats - 1) * repeat + 7 * block + vec::kBlock;
  if (dst.addr < src.addr + src_bytes && src.addr < dst.addr + dst_bytes)
    in.trap(TrapKind::IllegalArgument, "dst and src of Brcb may not overlap");
  const std::byte* in_bytes = in.span(Buffer::UB, src.addr, src_bytes);
  std::byte* out = in.span(Buffer::UB, dst.addr, dst_bytes);
  if (in.checking()) {
    // As with lanewise instructions: an undefined element takes the value from its block only.
    const auto has_value = [&](uint32_t i) {
      return in.is_defined(Buffer::UB, src.addr + uint64_t{i} * bytes, bytes);
    };
    const auto block_at = [&](uint32_t i) { return dst.addr + i / 8 * repeat + i % 8 * block; };
    uint32_t defined = 0;
    for (uint32_t i = 0; i < repeats * 8; ++i) defined += has_value(i);
    if (defined == 0 || defined == repeats * 8)
      in.note_read(Buffer::UB, src.addr, src_bytes);
    else
      in.note_move(Buffer::UB, src.addr, src_bytes);
    if (block == vec::kBlock && repeat == 8 * vec::kBlock)
      in.note_write(Buffer::UB, dst.addr, dst_bytes);
    else
      for (uint32_t i = 0; i < repeats * 8; ++i)
        in.note_write(Buffer::UB, block_at(i), vec::kBlock);
    for (uint32_t i = 0; i < repeats * 8 && defined != repeats * 8; ++i)
      if (!has_value(i)) in.set_undefined(Buffer::UB, block_at(i), vec::kBlock);
  }
  vec::vector_work(in, VectorClass::Brcb, type, repeats);
  if (in.timing_only()) return;
  for (uint32_t i = 0; i < repeats * 8; ++i) {
    std::byte* to = out + i / 8 * repeat + i % 8 * block;
    uint32_t value = 0;
    std::memcpy(&value, in_bytes + size_t{i} * bytes, bytes);
    if (bytes == 2)
      fill<uint16_t>(to, value, 16);
    else
      fill<uint32_t>(to, value, 8);
  }
}

void vector_set_deq_scale(uint64_t scale) {
  Instruction in(Pipe::S, "SetDeqScale");
  in.core().control.deq_scale = scale;
}

}  // namespace dav
