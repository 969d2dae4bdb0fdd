#include "plan_coupled.h"

#include "../../op_kernel/arch/dav_1001/capacities.h"
#include "arithmetic.h"
#include "message.h"

#include <algorithm>
#include <cstdint>

namespace ascendfa {
namespace {

constexpr uint64_t kHalf = 2;
constexpr uint64_t kFloat = 4;
constexpr uint64_t kLanes = 16;  // of a row in a column of the products
constexpr uint32_t kMaxBlockM = 128;
constexpr uint32_t kMaxBlockN = 512;
constexpr int64_t kMaxHeadDim = 256;
constexpr uint32_t kFewestRows = 8;  // the shortest copy of log-sum-exps
// A line of the data cache is 64 bytes: so many rows of one fp16 value, heads of one fp32 row.
constexpr uint32_t kRowsPerLine = 32;
constexpr uint32_t kHeadsPerLine = 16;

std::string CheckProblem(const ForwardProblem& p, const std::string& chip) {
  if (p.element_bytes != kHalf) {
    return Message(chip, " takes 16-bit floating point inputs only");
  }
  if (p.head_dim > kMaxHeadDim || p.value_dim > kMaxHeadDim) {
    return Message("head dimensions are ", p.head_dim, " and ", p.value_dim, ", ", chip,
                   " takes up to ", kMaxHeadDim);
  }
  return "";
}

std::string ChooseBlocks(const ForwardProblem& p, const Capacities& capacities,
                         FlashAttentionTiling& t) {
  // Queries fill half of L0A; results of 64 rows a staging slot in UB.
  const uint32_t widest = std::max(t.head_dim_padded, t.value_dim_padded);
  const uint64_t most = kQueryElements / widest / kLanes * kLanes;
  const uint64_t longest = std::min<uint64_t>(kMaxBlockM, AlignUp(t.seq_q, kLanes));
  t.block_m = static_cast<uint32_t>(p.block_m != 0 ? p.block_m : std::min(most, longest));
  if (t.block_m > kMaxBlockM) {
    return Message("block_m is ", t.block_m, ", at most ", kMaxBlockM,
                   " rows have their sums of weights checked on ", capacities.chip);
  }
  if (t.block_m > most) {
    return Message("L0A does not hold ", t.block_m, " queries of head dimension ", t.head_dim, ": ",
                   kHalf * t.block_m * t.head_dim_padded, " bytes needed, ", kHalf * kQueryElements,
                   " available on ", capacities.chip);
  }
  t.block_n = static_cast<uint32_t>(
      p.block_n != 0 ? p.block_n : std::min<uint64_t>(kMaxBlockN, AlignUp(t.seq_k, kStripKeys)));
  while (p.block_n == 0 && t.block_n > kStripKeys && CoupledL1Bytes(t) > capacities.l1_bytes) {
    t.block_n -= kStripKeys;
  }
  while (p.block_m == 0 && t.block_m > kLanes && CoupledUbBytes(t) > capacities.ub_bytes) {
    t.block_m -= kLanes;
  }
  const uint64_t l1 = CoupledL1Bytes(t);
  if (l1 > capacities.l1_bytes) {
    return Message("L1 does not hold the tiles of block_m ", t.block_m, ", block_n ", t.block_n,
                   ", head dimension ", t.head_dim, " and value dimension ", t.value_dim, ": ", l1,
                   " bytes needed, ", capacities.l1_bytes, " available on ", capacities.chip);
  }
  const uint64_t ub = CoupledUbBytes(t);
  if (ub > capacities.ub_bytes) {
    return Message("UB does not hold the strips of block_m ", t.block_m, ", head dimension ",
                   t.head_dim, " and value dimension ", t.value_dim, ": ", ub, " bytes needed, ",
                   capacities.ub_bytes, " available on ", capacities.chip);
  }
  t.cube_bytes = static_cast<uint32_t>(l1);
  t.vector_bytes = static_cast<uint32_t>(ub);
  return "";
}

}  // namespace

namespace {

// Results too short for a copy are written through a data cache, whose lines no two cores may
// share: how many cores can work on the tasks.
uint64_t CoresThatShareNoLine(const FlashAttentionTiling& t, uint64_t tasks) {
  const bool short_lse = t.seq_q < kFewestRows;
  if (t.value_dim < kLanes) {
    // Outputs of whole blocks of rows that lie side by side fill whole lines.
    const bool dense = t.out.row == t.value_dim && t.out.head == t.out.row * t.seq_q;
    const bool whole = t.seq_q % kRowsPerLine == 0 && t.block_m % kRowsPerLine == 0;
    return dense && whole && !short_lse ? tasks : 1;
  }
  return short_lse ? (tasks + kHeadsPerLine - 1) / kHeadsPerLine : tasks;
}

}  // namespace

uint64_t CoupledL1Bytes(const FlashAttentionTiling& t) {
  const uint64_t strips = (t.block_n + kStripKeys - 1) / kStripKeys;
  const uint64_t keys_and_values = strips * kStripKeys * (t.head_dim_padded + t.value_dim_padded);
  const uint64_t queries = static_cast<uint64_t>(t.block_m) * t.head_dim_padded;
  return kHalf * (t.block_m * kStripKeys + kTileSlots * (queries + keys_and_values));
}

namespace {

// What terms of the scores take beside scale and limits: a strip to work in, a reference that
// outlives its making, tiles of tensors.
uint64_t TermBytes(const FlashAttentionTiling& t) {
  const bool capped = t.softcap != 0.0f;
  if (!capped && t.has_alibi == 0 && t.has_bias == 0 && t.has_mask == 0) {
    return 0;
  }
  const uint64_t strip = t.block_m * kStripKeys;
  const uint64_t column = t.block_m * kLanes;
  uint64_t bytes = kFloat * (strip + column);
  bytes += t.has_bias != 0 ? kHalf * kTermSlots * strip : 0;
  bytes += t.has_mask != 0 ? kTermSlots * strip + kHalf * strip : 0;
  bytes += t.has_alibi != 0 ? kFloat * column : 0;
  bytes += capped ? kBlockBytes : 0;
  return bytes;
}

}  // namespace

uint64_t CoupledUbBytes(const FlashAttentionTiling& t) {
  const uint64_t strip = t.block_m * kStripKeys;
  const uint64_t output = kStripKeys * t.value_dim_padded;
  const uint64_t column = t.block_m * kLanes;
  const uint64_t width = std::max(t.head_dim_padded, t.value_dim_padded);
  const uint64_t dense = AlignUp(kHalf * t.block_m, kBlockBytes);
  uint64_t bytes = kFloat * std::max(kStages * strip, output);
  bytes += kHalf * kStagingSlots * std::max(strip, output);
  bytes += kFloat * 2 * kLanes * kLanes;      // masks
  bytes += kFloat * column + kHalf * column;  // scratch
  bytes += kFloat * column + dense;           // reference
  bytes += kFloat * column + dense + kFloat * (8 + 8) + kHalf * 4 * (kChecks + 1) + 24;  // output
  bytes += kFloat * 3 * (t.block_m + 8);  // references and log-sum-exps
  bytes += kHalf * kLoadSlots * kStripKeys * width;
  return bytes + TermBytes(t);
}

std::string PlanCoupled(const ForwardProblem& problem, const Capacities& capacities,
                        FlashAttentionTiling& t) {
  const std::string wrong = CheckProblem(problem, capacities.chip);
  if (!wrong.empty()) {
    return wrong;
  }
  const std::string unfit = ChooseBlocks(problem, capacities, t);
  if (!unfit.empty()) {
    return unfit;
  }
  t.head_by_head = 1;
  t.fewest_rows = kFewestRows;
  const uint64_t tasks =
      static_cast<uint64_t>(t.batch) * t.q_heads * ((t.seq_q + t.block_m - 1) / t.block_m);
  const uint64_t cores = std::min<uint64_t>(capacities.cube_cores, tasks);
  t.groups = static_cast<uint32_t>(std::min(cores, CoresThatShareNoLine(t, tasks)));
  return "";
}

}  // namespace ascendfa
