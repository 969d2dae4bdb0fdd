// Gather by element and by block offsets, and GatherMask, which compacts by a bit pattern.
#include "isa/vector_common.h"

namespace dav {
namespace {

constexpr uint32_t kGathered = vec::types(
    {DType::I16, DType::U16, DType::F16, DType::BF16, DType::I32, DType::U32, DType::F32});

// The fixed patterns of GatherMask, repeated over the elements of a repeat.
bool fixed_bit(uint8_t pattern, uint32_t i) {
  switch (pattern) {
    case 1:
    case 2:
      return i % 2 == pattern - 1u;
    case 7:
      return true;
    default:
      return i % 4 == pattern - 3u;
  }
}

}  // namespace

void vector_gather(const VecGather& v) {
  Instruction in(Pipe::V, v.name);
  vec::require_type(in, v.type, kGathered, vec::kNoTypes);
  vec::require_ub(in, v.src, "src");
  const uint32_t lanes = vec_lanes(v.type), bytes = size_of(v.type);
  const vec::LanePlan plan = vec::plan_lanes(in, v.mask, lanes, v.repeats);
  if (plan.repeats == 0) return;
  in.require_aligned(Buffer::UB, v.src.addr, vec::kBlock, "src");
  const vec::Swept dst = vec::swept_dst(in, {v.dst, 1, v.dst_repeat_stride}, v.type);
  // Offsets are consumed without gaps.
  const vec::Swept offsets =
      vec::swept(in, {v.offsets, 1, lanes * 4 / vec::kBlock}, DType::U32, "srcOffset");
  std::array<uint32_t, vec::kMaxLanes> at{};
  if (in.checking()) {
    vec::note_swept(in, plan, offsets, Access::Read);
    vec::note_swept(in, plan, dst, Access::Write);
  }
  if (v.src_base % bytes)
    in.trap(TrapKind::Misaligned, "srcBaseAddr is %u, elements are %u bytes", v.src_base, bytes);
  const vec::Hull oh = vec::hull(plan, offsets), dh = vec::hull(plan, dst);
  vec::require_apart(in, dh.begin, dh.end - dh.begin, oh.begin, oh.end - oh.begin, "srcOffset");
  const std::byte* from =
      in.span(Buffer::UB, oh.begin, oh.end - oh.begin) - (oh.begin - v.offsets.addr);
  std::byte* out = in.span(Buffer::UB, dh.begin, dh.end - dh.begin) - (dh.begin - v.dst.addr);
  vec::vector_work(in, VectorClass::Gather, v.type, plan.repeats);
  if (in.timing_only()) return;
  for (uint32_t r = 0; r < plan.repeats; ++r) {
    vec::detail::gather(plan, r, offsets, from, reinterpret_cast<std::byte*>(at.data()));
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      if (!vec::active(plan.bits(r), lane)) continue;
      const uint64_t offset = uint64_t{v.src_base} + at[lane];
      if (offset % bytes)
        in.trap(TrapKind::Misaligned, "element %u has byte offset %llu, elements are %u bytes",
                lane, static_cast<unsigned long long>(offset), bytes);
      const uint64_t from_addr = v.src.addr + offset;
      if (from_addr >= dh.begin && from_addr < dh.end)
        vec::require_apart(in, dh.begin, dh.end - dh.begin, from_addr, bytes, "src");
      std::memcpy(out + dst.offset(r, lane), in.read(Buffer::UB, from_addr, bytes), bytes);
    }
  }
}

void vector_gather_blocks(DType type, Local dst, uint32_t dst_block_stride,
                          uint32_t dst_repeat_stride, Local src, Local offsets, uint32_t repeats) {
  Instruction in(Pipe::V, "Gatherb");
  vec::require_type(in, type, vec::types({DType::U16, DType::U32}), vec::kNoTypes);
  for (const auto& [operand, name] : {std::pair{dst, "dst"}, {src, "src"}, {offsets, "offset"}}) {
    vec::require_ub(in, operand, name);
    in.require_aligned(Buffer::UB, operand.addr, vec::kBlock, name);
  }
  in.require_range("repeatTime", repeats, 0, vec::kMaxRepeats);
  if (repeats == 0) return;
  const uint64_t block = uint64_t{dst_block_stride ? dst_block_stride : 1} * vec::kBlock;
  const uint64_t repeat = uint64_t{dst_repeat_stride} * vec::kBlock;
  const uint64_t dst_bytes = (repeats - 1) * repeat + 7 * block + vec::kBlock;
  vec::require_apart(in, dst.addr, dst_bytes, offsets.addr, uint64_t{repeats} * 32, "offset");
  const std::byte* from = in.read(Buffer::UB, offsets.addr, uint64_t{repeats} * 32);
  vec::vector_work(in, VectorClass::Gather, type, repeats);
  if (in.timing_only()) return;
  for (uint32_t i = 0; i < repeats * 8; ++i) {
    uint32_t offset;
    std::memcpy(&offset, from + i * 4, 4);
    if (offset % vec::kBlock)
      in.trap(TrapKind::Misaligned, "block %u has byte offset %u; blocks lie at multiples of 32", i,
              offset);
    const uint64_t block_at = uint64_t{src.addr} + offset;
    vec::require_apart(in, dst.addr, dst_bytes, block_at, vec::kBlock, "src");
    const std::byte* block_in = in.read(Buffer::UB, block_at, vec::kBlock);
    std::memmove(in.write(Buffer::UB, dst.addr + i / 8 * repeat + i % 8 * block, vec::kBlock),
                 block_in, vec::kBlock);
  }
}

uint64_t vector_gather_mask(const VecGatherMask& v) {
  Instruction in(Pipe::V, v.name);
  vec::require_type(in, v.type, kGathered, vec::kNoTypes);
  vec::require_ub(in, v.dst, "dst");
  in.require_aligned(Buffer::UB, v.dst.addr, vec::kBlock, "dst");
  const bool custom = v.fixed_pattern == 0;
  if (custom) in.require_data("what GatherMask keeps");
  if (custom) {
    vec::require_ub(in, v.pattern, "src1Pattern");
    in.require_aligned(Buffer::UB, v.pattern.addr, vec::kBlock, "src1Pattern");
  } else {
    in.require_range("src1Pattern", v.fixed_pattern, 1, 7);
  }
  ControlState& control = in.core().control;
  // The register keeps the mask of this call, the mode goes back to normal.
  control.mask_counter = false;
  control.mask_low = v.mask;
  control.mask_high = 0;
  const uint32_t bytes = size_of(v.type);
  if (v.counter) in.require_range("mask (Counter mode)", v.mask, 1, UINT32_MAX);
  const uint32_t n = v.counter ? v.mask : vec_lanes(v.type);
  control.remain_count = 0;
  if (n == 0 || v.repeats == 0) return 0;
  const vec::Swept src =
      vec::swept(in, {v.src, v.src_block_stride, v.src_repeat_stride}, v.type, "src0");
  uint64_t kept = 0;
  for (uint32_t r = 0; r < v.repeats; ++r) {
    const std::byte* bits = nullptr;
    if (custom)
      bits =
          in.read(Buffer::UB, v.pattern.addr + uint64_t{r} * v.pattern_repeat_stride * vec::kBlock,
                  (uint64_t{n} + 7) / 8);
    for (uint32_t i = 0; i < n; ++i) {
      const std::byte* element = in.read(Buffer::UB, src.addr(r, i), bytes);
      const bool take = custom ? (static_cast<uint8_t>(bits[i / 8]) >> (i % 8)) & 1
                               : fixed_bit(v.fixed_pattern, i);
      if (!take) continue;
      std::memmove(in.write(Buffer::UB, v.dst.addr + kept * bytes, bytes), element, bytes);
      ++kept;
    }
  }
  control.remain_count = kept;
  vec::vector_work(in, VectorClass::Gather, v.type,
                   static_cast<uint32_t>((uint64_t{n} * v.repeats * bytes + 255) / 256));
  return kept;
}

}  // namespace dav
