// ReduceMax, ReduceMin and ReduceSum over a whole tensor: library calls made of several vector
// instructions, here one, with the work area they demand.
#include <algorithm>
#include <vector>

#include "dav/float_bits.h"
#include "isa/vector_half.h"
#include "isa/vector_reduce.h"

namespace dav {
namespace {

uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// Elements of work area, from the API reference's formula.
uint64_t work_elements(const VecReduceAll& v, uint64_t repeats, uint32_t lanes) {
  const uint32_t block = vec::kBlock / size_of(v.type);
  if (v.op == ReduceOp::Sum) return ceil_div(repeats, block) * block;
  const uint64_t first = repeats * 2;
  const uint64_t first_end = ceil_div(first, block) * block;
  if (!v.with_index) return first_end;
  const uint64_t second = ceil_div(first, lanes) * 2;
  const uint64_t second_end = ceil_div(second, block) * block;
  if (second <= 2) return first_end + second_end;
  const uint64_t third = ceil_div(second, lanes) * 2;
  return first_end + second_end + ceil_div(third, block) * block;
}

// Sums of repeats, reduced like any other data until one is left.
float tree_of_repeats(std::vector<float> sums, uint32_t lanes, DType type, bool saturate) {
  while (sums.size() > 1) {
    std::vector<float> next;
    for (size_t i = 0; i < sums.size(); i += lanes) {
      float group[vec::kMaxLanes] = {};
      const size_t n = std::min<size_t>(lanes, sums.size() - i);
      std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>(i), n, group);
      next.push_back(vec::tree_sum(group, lanes, type, saturate));
    }
    sums = std::move(next);
  }
  return sums[0];
}

}  // namespace

void vector_reduce_all(const VecReduceAll& v) {
  Instruction in(Pipe::V, v.name);
  vec::require_type(in, v.type, vec::kFloats, vec::types({DType::F16}));
  const uint32_t lanes = vec_lanes(v.type);
  const uint32_t bytes = size_of(v.type);
  // "First n" calls; only their mask may have been set outside.
  const bool whole = v.mask.kind == VecMask::Kind::Total || v.mask.kind == VecMask::Kind::Keep;
  // The library splits these calls, so repeats are not limited to 255.
  in.require_range("repeatTime", v.repeats, 0, INT32_MAX);
  vec::LanePlan plan = vec::plan_lanes(in, v.mask, lanes, std::min<int64_t>(v.repeats, 255));
  if (!whole && !in.core().control.mask_counter && plan.repeats != 0)
    plan.repeats = static_cast<uint32_t>(v.repeats);
  if (plan.repeats == 0) return;
  vec::require_ub(in, v.dst, "dst");
  vec::require_ub(in, v.work, "sharedTmpBuffer");
  in.require_aligned(Buffer::UB, v.work.addr, vec::kBlock, "sharedTmpBuffer");
  const bool sum = v.op == ReduceOp::Sum;
  in.require_aligned(Buffer::UB, v.dst.addr, sum || !v.with_index ? bytes : 2 * bytes, "dst");
  const vec::Swept src = vec::reduce_source(in, v.src, 1, v.src_repeat_stride, v.type);

  // 2201 sums "first n" calls in the accumulator, one repeat after another, without work area.
  const bool sequential = sum && whole && !vec::is_1001(in);
  if (!sequential) {
    const uint64_t count = uint64_t{plan.repeats - 1} * lanes + (whole ? plan.tail_prefix : lanes);
    const uint64_t first = whole ? std::max<uint64_t>(1, count / lanes) : plan.repeats;
    const uint64_t need = work_elements(v, first, lanes) * bytes;
    if (v.work_bytes < need)
      in.trap(TrapKind::OutOfBounds, "sharedTmpBuffer holds %u bytes, the call needs %llu",
              v.work_bytes, static_cast<unsigned long long>(need));
  }

  const bool saturate = vec::half_overflow(in) == vec::HalfOverflow::Saturate;
  vec::RepeatReader reader(in, plan, src, v.type);
  std::vector<float> sums;
  float running = 0;
  vec::Extremum best{0, ~0u};
  uint64_t best_index = 0;
  for (uint32_t r = 0; r < plan.repeats; ++r) {
    const float* values =
        reader.lanes(r, sum ? 0.0f : vec::extremum_identity(v.op == ReduceOp::Max));
    if (sum) {
      const float x = vec::tree_sum(values, lanes, v.type, saturate);
      if (!sequential) {
        sums.push_back(x);
      } else {
        running = v.type == DType::F32 ? running + x
                                       : half_to_float(vec::reduce_half(running + x, saturate));
      }
      continue;
    }
    const bool largest = v.op == ReduceOp::Max;
    const vec::Extremum here = vec::extremum(values, plan.bits(r), lanes, largest);
    const bool nan = here.value != here.value;
    if (best.index == ~0u ||
        (best.value == best.value &&
         (nan || (largest ? here.value > best.value : here.value < best.value)))) {
      best = here;
      best_index = uint64_t{r} * lanes + here.index;
    }
  }

  if (!sum && v.with_index && v.type == DType::F16 && best_index > UINT16_MAX)
    in.trap(TrapKind::IllegalArgument, "the extremum has index %llu; indices end at 65535 in half",
            static_cast<unsigned long long>(best_index));
  // What the intermediate rounds leave behind in the work area is theirs: only that it is written.
  if (!sequential) {
    const uint64_t used =
        std::min<uint64_t>(v.work_bytes, work_elements(v, plan.repeats, lanes) * bytes);
    std::memset(in.write(Buffer::UB, v.work.addr, used), 0xff, used);
  }
  const float value =
      sum ? (sequential ? running : tree_of_repeats(sums, lanes, v.type, saturate)) : best.value;
  const uint32_t out_bytes = !sum && v.with_index ? 2 * bytes : bytes;
  std::byte* out = in.write(Buffer::UB, v.dst.addr, out_bytes);
  vec::store_value(out, v.type, value, saturate);
  if (!sum && v.with_index) std::memcpy(out + bytes, &best_index, bytes);
  uint64_t stored = 0;
  vec::store_value(reinterpret_cast<std::byte*>(&stored), v.type, value, saturate);
  if (sum)
    in.core().control.accumulator = stored;
  else
    in.core().control.reduce_result = stored | best_index << 32;
  vec::vector_work(in, VectorClass::RepeatReduce, v.type, plan.repeats);
}

uint64_t vector_sum_register() {
  Instruction in(Pipe::S, "GetAccVal");
  in.require_data("the sum");
  return in.core().control.accumulator;
}

uint64_t vector_extremum_register() {
  Instruction in(Pipe::S, "GetReduceMaxMinCount");
  in.require_data("the extremum");
  return in.core().control.reduce_result;
}

}  // namespace dav
