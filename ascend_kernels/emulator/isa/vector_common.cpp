#include "isa/vector_common.h"

#include <algorithm>
#include <vector>

namespace dav::vec {
namespace {

uint32_t prefix_of(const LaneBits& bits, uint32_t lanes) {
  const uint32_t n = count_lanes(bits);
  return bits == first_lanes(n) && n <= lanes ? n : kScattered;
}

uint32_t first_active(const LaneBits& bits) {
  return static_cast<uint32_t>(bits[0] ? __builtin_ctzll(bits[0]) : 64 + __builtin_ctzll(bits[1]));
}
uint32_t last_active(const LaneBits& bits) {
  return static_cast<uint32_t>(bits[1] ? 127 - __builtin_clzll(bits[1])
                                       : 63 - __builtin_clzll(bits[0]));
}

LanePlan counted(uint64_t total, uint32_t lanes) {
  LanePlan plan;
  plan.counter = true;
  plan.lanes = lanes;
  plan.repeats = static_cast<uint32_t>((total + lanes - 1) / lanes);
  plan.body_prefix = lanes;
  plan.tail_prefix =
      plan.repeats ? static_cast<uint32_t>(total - uint64_t{plan.repeats - 1} * lanes) : 0;
  plan.body = first_lanes(lanes);
  plan.tail = first_lanes(plan.tail_prefix);
  return plan;
}

// Calls f(addr, bytes) for the active lanes of an operand, in as few pieces as there are.
template <typename F>
void for_pieces(const LanePlan& plan, const Swept& operand, F&& note) {
  if (detail::is_dense(plan, operand)) {
    const uint64_t lanes = uint64_t{plan.repeats - 1} * plan.lanes + plan.tail_prefix;
    note(operand.at.addr, (lanes * operand.bits + 7) / 8);
    return;
  }
  // Repeats that all read the same place are noted once; the first covers the last.
  const uint32_t repeats = operand.repeat_bytes == 0 && plan.repeats > 1 ? 1 : plan.repeats;
  for (uint32_t r = 0; r < repeats; ++r) {
    LaneBits bits = plan.bits(r);
    if (operand.block_bytes == 0) {
      // All blocks are the first one.
      const uint32_t per = operand.per_block();
      LaneBits once{};
      for (uint32_t lane = 0; lane < plan.lanes; ++lane)
        if (active(bits, lane)) once[(lane % per) >> 6] |= 1ull << ((lane % per) & 63);
      bits = once;
    }
    for_runs(bits, plan.lanes, operand.per_block(), operand.block_bytes == kBlock,
             [&](uint32_t first, uint32_t last) {
               note(operand.addr(r, first), ((last - first) * operand.bits + 7) / 8);
             });
  }
}

}  // namespace

LanePlan plan_lanes(const Instruction& in, const VecMask& mask, uint32_t lanes, int64_t repeats) {
  ControlState& control = in.core().control;
  control.counted = control.mask_counter || mask.kind == VecMask::Kind::Total;
  switch (mask.kind) {
    case VecMask::Kind::Keep:
      break;
    case VecMask::Kind::Bits:
      control.mask_low = mask.low;
      control.mask_high = mask.high;
      break;
    case VecMask::Kind::Lanes:
      if (control.mask_counter) {
        control.mask_low = mask.low;
        control.mask_high = 0;
      } else {
        in.require_range("mask", static_cast<int64_t>(mask.low), 0, lanes);
        const LaneBits bits = first_lanes(static_cast<uint32_t>(mask.low));
        control.mask_low = bits[0];
        control.mask_high = bits[1];
      }
      break;
    case VecMask::Kind::Total:
      in.require_range("count", static_cast<int64_t>(mask.low), 0, INT32_MAX);
      // The "first n" interfaces leave the mask full and the mode normal behind.
      control.mask_counter = false;
      control.mask_low = control.mask_high = ~0ull;
      return counted(mask.low, lanes);
  }
  if (control.mask_counter) {
    in.require_range("mask (element count)", static_cast<int64_t>(control.mask_low), 0, INT32_MAX);
    return counted(control.mask_low, lanes);
  }
  in.require_range("repeatTime", repeats, 0, kMaxRepeats);
  LanePlan plan;
  plan.lanes = lanes;
  plan.body[0] = control.mask_low & low_bits(lanes);
  plan.body[1] = lanes > 64 ? control.mask_high & low_bits(lanes - 64) : 0;
  plan.tail = plan.body;
  plan.body_prefix = plan.tail_prefix = prefix_of(plan.body, lanes);
  plan.repeats = count_lanes(plan.body) ? static_cast<uint32_t>(repeats) : 0;
  return plan;
}

const char* type_name(DType t) {
  static const char* const names[] = {
      "half",     "bfloat16_t", "float",    "double",  "int4b_t",  "int8_t", "uint8_t",  "int16_t",
      "uint16_t", "int32_t",    "uint32_t", "int64_t", "uint64_t", "bool",   "complex64"};
  return names[static_cast<int>(t)];
}

bool is_1001(const Instruction& in) { return in.core().chip().arch == Arch::Dav1001; }

void require_type(const Instruction& in, DType t, uint32_t on2201, uint32_t on1001) {
  const Arch arch = in.core().chip().arch;
  const uint32_t allowed = arch == Arch::Dav2201 ? on2201 : arch == Arch::Dav1001 ? on1001 : 0;
  if (allowed == 0) in.trap(TrapKind::UnsupportedOp, "this chip lacks the instruction");
  if (!((allowed >> static_cast<int>(t)) & 1))
    in.trap(TrapKind::UnsupportedType, "%s is not supported on this chip", type_name(t));
}

void require_ub(const Instruction& in, Local at, const char* operand) {
  if (at.buffer != Buffer::UB)
    in.trap(TrapKind::UnsupportedPath, "%s lies in %s; vector operands lie in UB", operand,
            to_string(at.buffer));
}

Swept swept(const Instruction& in, const VecOperand& operand, DType type, const char* name) {
  require_ub(in, operand.at, name);
  in.require_aligned(Buffer::UB, operand.at.addr, kBlock, name);
  Swept s;
  s.at = operand.at;
  s.block_bytes = uint64_t{operand.block_stride} * kBlock;
  s.repeat_bytes = uint64_t{operand.repeat_stride} * kBlock;
  s.bits = bits_of(type);
  s.name = name;
  return s;
}

Swept swept_dst(const Instruction& in, const VecOperand& operand, DType type) {
  if (operand.block_stride == 0)
    in.trap(TrapKind::IllegalArgument, "dstBlkStride is 0; blocks of dst may not coincide");
  return swept(in, operand, type, "dst");
}

Hull hull(const LanePlan& plan, const Swept& operand) {
  const uint32_t last = plan.repeats - 1;
  uint64_t begin = operand.offset(last, first_active(plan.tail));
  uint64_t end = operand.offset(last, last_active(plan.tail));
  if (last > 0) {
    begin = std::min(begin, operand.offset(0, first_active(plan.body)));
    end = std::max(end, operand.offset(last - 1, last_active(plan.body)));
    // Later blocks lie lower only when the block stride is 0, which the first lane covers.
  }
  if (operand.block_bytes == 0) {
    const uint64_t final_repeat = uint64_t{last} * operand.repeat_bytes;
    begin = std::min(begin, operand.offset(0, 0));
    end =
        std::max(end, final_repeat + std::min(plan.lanes, operand.per_block()) * operand.bits / 8 -
                          operand.bits / 8);
  }
  const uint64_t element = operand.bits < 8 ? 1 : operand.bits / 8;
  return {operand.at.addr + begin, operand.at.addr + end + element};
}

void note_swept(Instruction& in, const LanePlan& plan, const Swept& operand, Access access) {
  for_pieces(plan, operand, [&](uint64_t addr, uint64_t bytes) {
    if (access == Access::Write) {
      in.note_write(operand.at.buffer, addr, bytes);
    } else if (access == Access::Move) {
      in.note_move(operand.at.buffer, addr, bytes);
    } else {
      in.note_read(operand.at.buffer, addr, bytes);
    }
  });
}

bool swept_defined(const Instruction& in, const LanePlan& plan, const Swept& operand) {
  bool defined = true;
  for_pieces(plan, operand, [&](uint64_t addr, uint64_t bytes) {
    defined = defined && in.is_defined(operand.at.buffer, addr, bytes);
  });
  return defined;
}

void note_lanewise(Instruction& in, const LanePlan& plan, const Swept& dst, const Swept* sources,
                   size_t count) {
  const auto sources_have = [&](uint32_t r, uint32_t lane) {
    return std::all_of(sources, sources + count, [&](const Swept& s) {
      return in.is_defined(s.at.buffer, s.addr(r, lane), (s.bits + 7) / 8);
    });
  };
  const bool defined = std::all_of(sources, sources + count,
                                   [&](const Swept& s) { return swept_defined(in, plan, s); });
  std::vector<uint64_t> lost;
  bool any = false;
  for (uint32_t r = 0; r < plan.repeats && !defined; ++r) {
    for (uint32_t lane = 0; lane < plan.lanes; ++lane) {
      if (!active(plan.bits(r), lane)) continue;
      const bool has = sources_have(r, lane);
      any = any || has;
      if (!has) lost.push_back(dst.addr(r, lane));
    }
  }
  for (size_t i = 0; i < count; ++i) {
    note_swept(in, plan, sources[i], any ? Access::Move : Access::Read);
  }
  note_swept(in, plan, dst, Access::Write);
  for (uint64_t addr : lost) in.set_undefined(dst.at.buffer, addr, (dst.bits + 7) / 8);
}

void check_overlap(const Instruction& in, const LanePlan& plan, const Swept& dst, const Swept& src,
                   bool accumulates) {
  const bool same_place =
      dst.at.addr == src.at.addr && dst.bits == src.bits && dst.block_bytes == src.block_bytes;
  if (same_place && dst.repeat_bytes == src.repeat_bytes &&
      (dst.repeat_bytes >= plan.lanes * dst.bits / 8 * (dst.block_bytes / kBlock) ||
       plan.repeats == 1))
    return;
  const Hull d = hull(plan, dst), s = hull(plan, src);
  if (d.end <= s.begin || s.end <= d.begin) return;
  if (accumulates && same_place && (dst.repeat_bytes == 0 || src.repeat_bytes == 0)) return;

  // writer[b]: first repeat that writes block b.
  const uint64_t base = std::min(d.begin, s.begin) / kBlock;
  const uint64_t blocks = (std::max(d.end, s.end) + kBlock - 1) / kBlock - base;
  std::vector<uint32_t> writer(blocks, ~0u);
  auto for_blocks = [&](const Swept& operand, uint32_t r, auto&& f) {
    for_runs(plan.bits(r), plan.lanes, operand.per_block(), false,
             [&](uint32_t first, uint32_t) { f(operand.addr(r, first) / kBlock - base); });
  };
  for (uint32_t r = 0; r < plan.repeats; ++r) {
    for_blocks(src, r, [&](uint64_t block) {
      if (writer[block] < r)
        in.trap(
            TrapKind::IllegalArgument,
            "repeat %u reads %s where repeat %u has written dst (UB offset 0x%llx); repeats may "
            "overlap in any order",
            r, src.name, writer[block], static_cast<unsigned long long>((block + base) * kBlock));
    });
    for_blocks(dst, r, [&](uint64_t block) { writer[block] = std::min(writer[block], r); });
    const bool aligned_lanes = dst.addr(r, 0) == src.addr(r, 0) &&
                               (dst.bits != src.bits || dst.block_bytes == src.block_bytes);
    if (aligned_lanes) continue;
    for_blocks(src, r, [&](uint64_t block) {
      if (writer[block] == r)
        in.trap(TrapKind::IllegalArgument,
                "dst and %s overlap partially in repeat %u (UB offset 0x%llx); they must coincide "
                "or be disjoint",
                src.name, r, static_cast<unsigned long long>((block + base) * kBlock));
    });
  }
}

void require_apart(const Instruction& in, uint64_t dst, uint64_t dst_bytes, uint64_t src,
                   uint64_t src_bytes, const char* src_name) {
  if (dst < src + src_bytes && src < dst + dst_bytes)
    in.trap(TrapKind::IllegalArgument,
            "dst (UB offset 0x%llx) and %s (0x%llx) overlap; this instruction wants them apart",
            static_cast<unsigned long long>(dst), src_name, static_cast<unsigned long long>(src));
}

void require_apart(const Instruction& in, const LanePlan& plan, const Swept& dst,
                   const Swept& src) {
  const Hull d = hull(plan, dst), s = hull(plan, src);
  require_apart(in, d.begin, d.end - d.begin, s.begin, s.end - s.begin, src.name);
}

uint32_t bank_conflicts(const LanePlan& plan, const Swept& a, const Swept& b) {
  constexpr uint32_t kGroups = 16;
  if (plan.repeats == 0 || a.at.addr == b.at.addr) return 0;
  auto conflict = [&](uint32_t r) {
    auto groups = [&](const Swept& operand) {
      uint32_t set = 0;
      for_runs(plan.bits(r), plan.lanes, operand.per_block(), false, [&](uint32_t first, uint32_t) {
        set |= 1u << (operand.addr(r, first) / kBlock % kGroups);
      });
      return set;
    };
    return (groups(a) & groups(b)) != 0;
  };
  // Repeats are whole blocks apart, so that groups recur after 16 of them. The last may be partial.
  const uint32_t body = plan.repeats - 1;
  uint32_t count = conflict(body) ? 1 : 0;
  for (uint32_t r = 0; r < std::min(body, kGroups); ++r) {
    if (conflict(r)) count += (body - r + kGroups - 1) / kGroups;
  }
  return count;
}

void vector_work(Instruction& in, VectorClass cls, DType type, uint32_t repeats,
                 uint32_t conflicts) {
  Work work;
  work.kind = WorkKind::Vector;
  work.vector = cls;
  work.dtype = type;
  work.repeats = repeats;
  work.bank_conflicts = conflicts;
  in.work(work);
}

void vector_work(Instruction& in, VectorClass cls, DType type, const LanePlan& plan,
                 uint32_t conflicts) {
  Work work;
  work.kind = WorkKind::Vector;
  work.vector = cls;
  work.dtype = type;
  work.repeats = plan.repeats;
  work.bank_conflicts = conflicts;
  // 910A has no counter mode: its headers split such calls into repeats.
  work.partial_count = plan.counter && count_lanes(plan.tail) != plan.lanes && !is_1001(in);
  in.work(work);
}

namespace detail {

bool is_dense(const LanePlan& plan, const Swept& operand) {
  if (plan.tail_prefix == kScattered) return false;
  const uint64_t repeat = uint64_t{plan.lanes} * operand.bits / 8;
  const bool blocks = operand.block_bytes == kBlock || repeat <= kBlock;
  if (plan.repeats == 1) return blocks || plan.tail_prefix <= operand.per_block();
  return blocks && operand.repeat_bytes == repeat && plan.body_prefix == plan.lanes;
}

void gather(const LanePlan& plan, uint32_t r, const Swept& operand, const std::byte* base,
            std::byte* lanes) {
  for_runs(plan.bits(r), plan.lanes, operand.per_block(), operand.block_bytes == kBlock,
           [&](uint32_t first, uint32_t last) {
             std::memcpy(lanes + first * operand.bits / 8, base + operand.offset(r, first),
                         (last - first) * operand.bits / 8);
           });
}

void scatter(const LanePlan& plan, uint32_t r, const Swept& operand, std::byte* base,
             const std::byte* lanes) {
  for_runs(plan.bits(r), plan.lanes, operand.per_block(), operand.block_bytes == kBlock,
           [&](uint32_t first, uint32_t last) {
             std::memcpy(base + operand.offset(r, first), lanes + first * operand.bits / 8,
                         (last - first) * operand.bits / 8);
           });
}

}  // namespace detail
}  // namespace dav::vec
