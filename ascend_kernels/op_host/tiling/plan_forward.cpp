#include "plan_forward.h"

#include "../../op_kernel/arch/dav_2201/capacities.h"
#include "arithmetic.h"
#include "message.h"
#include "plan_coupled.h"
#include "plan_referenced.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ascendfa {
namespace {

constexpr uint32_t kVectorLanes = kRepeatFloats;
constexpr uint32_t kMaxBlockM = kMaxBands * kBandRows;
constexpr uint32_t kMaxBlockN = 512;  // the row reduction folds 8 x 64 columns
constexpr uint32_t kDefaultBlockN = 512;
constexpr uint32_t kMaxHeadDim = 576;
constexpr uint32_t kMaxValueDim = 512;  // four products of 128 columns
constexpr uint32_t kLag = 2;
// The cube core of a banded task asks for weights up to two steps ahead of their use, and a vector
// core finishes a step once it has asked for the scores of the next: four steps at least. An odd
// number lets keys and values begin their tiles in different steps.
constexpr uint32_t kBandedLag = 5;
constexpr uint64_t kWorkspaceAlignment = 512;
constexpr int64_t kMaxLength = std::numeric_limits<int32_t>::max();
// Distances between rows of the result travel through a 32-bit field, in bytes.
constexpr int64_t kMaxOutputGap = std::numeric_limits<uint32_t>::max();

std::string CheckOptions(const ForwardProblem& p) {
  if (!std::isfinite(p.scale)) {
    return Message("scale is ", p.scale, ", it must be finite");
  }
  if (!(p.softcap >= 0.0f) || (p.softcap != 0.0f && !std::isfinite(2.0f * p.scale / p.softcap)) ||
      !std::isfinite(2.0f * p.softcap)) {
    return Message("softcap is ", p.softcap, ", it must be a finite number above 0, or 0 for none");
  }
  if (p.window_left < -1 || p.window_right < -1) {
    return Message("the window is (", p.window_left, ", ", p.window_right,
                   "), allowed are numbers of keys from 0 on, and -1 for no limit");
  }
  if (p.block_m < 0 || p.block_m > kMaxBlockM || p.block_m % kFractalRows != 0) {
    return Message("block_m is ", p.block_m, ", allowed are multiples of ", kFractalRows, " up to ",
                   kMaxBlockM, ", and 0 for the plan's choice");
  }
  if (p.block_n < 0 || p.block_n > kMaxBlockN || p.block_n % kFractalRows != 0) {
    return Message("block_n is ", p.block_n, ", allowed are multiples of ", kFractalRows, " up to ",
                   kMaxBlockN, ", and 0 for the plan's choice");
  }
  return "";
}

std::string CheckProblem(const ForwardProblem& p) {
  const struct {
    const char* name;
    int64_t value;
  } sizes[] = {{"batch", p.batch},
               {"q heads", p.q_heads},
               {"kv heads", p.kv_heads},
               {"seq_q", p.seq_q},
               {"seq_k", p.seq_k},
               {"head dimension", p.head_dim},
               {"value dimension", p.value_dim}};
  for (const auto& size : sizes) {
    if (size.value < 1 || size.value > kMaxLength) {
      return Message(size.name, " is ", size.value, ", allowed are 1 to ", kMaxLength);
    }
  }
  if (p.q_heads % p.kv_heads != 0) {
    return Message("q has ", p.q_heads, " heads and k has ", p.kv_heads,
                   ": the former must be a multiple of the latter");
  }
  if (p.head_dim > kMaxHeadDim) {
    return Message("head dimension is ", p.head_dim, ", allowed are 1 to ", kMaxHeadDim);
  }
  if (p.value_dim > kMaxValueDim) {
    return Message("value dimension is ", p.value_dim, ", allowed are 1 to ", kMaxValueDim);
  }
  if (p.out.row * p.element_bytes > kMaxOutputGap) {
    return Message("rows of out are ", p.out.row, " elements apart, at most ",
                   kMaxOutputGap / p.element_bytes, " can be written");
  }
  return CheckOptions(p);
}

int64_t Limit(int64_t keys) { return keys > kMaxLength ? -1 : keys; }

// A tile no longer than the sequence, in whole units.
uint32_t Choose(int64_t asked, uint32_t preferred, int64_t length, uint32_t unit) {
  if (asked != 0) {
    return static_cast<uint32_t>(asked);
  }
  return static_cast<uint32_t>(std::min<uint64_t>(preferred, AlignUp(length, unit)));
}

void Describe(const ForwardProblem& p, FlashAttentionTiling& t) {
  t.q = p.q;
  t.k = p.k;
  t.v = p.v;
  t.out = p.out;
  t.bias = p.bias;
  t.mask = p.mask;
  // Limits as long as the sequence hide nothing, and no sum with them overflows.
  t.window_left = Limit(p.window_left);
  t.window_right = p.causal ? 0 : Limit(p.window_right);
  t.batch = static_cast<uint32_t>(p.batch);
  t.q_heads = static_cast<uint32_t>(p.q_heads);
  t.kv_heads = static_cast<uint32_t>(p.kv_heads);
  t.seq_q = static_cast<uint32_t>(p.seq_q);
  t.seq_k = static_cast<uint32_t>(p.seq_k);
  t.head_dim = static_cast<uint32_t>(p.head_dim);
  t.head_dim_padded = static_cast<uint32_t>(AlignUp(p.head_dim, kFractalRows));
  t.value_dim = static_cast<uint32_t>(p.value_dim);
  t.value_dim_padded = static_cast<uint32_t>(AlignUp(p.value_dim, kFractalRows));
  t.block_m = Choose(p.block_m, kBandRows, p.seq_q, kFractalRows);
  t.block_n = Choose(p.block_n, kDefaultBlockN, p.seq_k, kVectorLanes);
  t.lag = kLag;
  t.depth = kLag + 1;
  t.scale = p.scale;
  t.softcap = p.softcap;
  t.has_bias = p.has_bias ? 1 : 0;
  t.has_mask = p.has_mask ? 1 : 0;
  t.has_alibi = p.has_alibi ? 1 : 0;
  t.alibi_batch_stride = static_cast<uint32_t>(p.alibi_batch_stride);
}

// Bands share what is fetched of keys and values; but fewer, larger tasks may leave core groups
// idle in the last round.
uint32_t PreferBlockM(const FlashAttentionTiling& t, uint32_t groups) {
  const auto idle_share = [&](uint32_t block_m) {
    const uint64_t blocks = (t.seq_q + uint64_t{block_m} - 1) / block_m;
    const uint64_t tasks = blocks * t.batch * t.q_heads;
    const uint64_t rounds = (tasks + groups - 1) / groups;
    return 1.0 - static_cast<double>(tasks) / static_cast<double>(rounds * groups);
  };
  constexpr double kWorth = 0.12;  // of the time, what the second band saves
  return idle_share(kMaxBlockM) > idle_share(kBandRows) + kWorth ? kBandRows : kMaxBlockM;
}

// Tasks of bands, for 16-bit elements and head dimensions up to a product's edge. Two pieces of
// keys, and of values, are in L1, which with two bands have to be the whole tile; pieces are long,
// because long transfers are fast.
bool PlanBands(const ForwardProblem& p, const Capacities& capacities, FlashAttentionTiling& t) {
  if (p.element_bytes != 2 || t.head_dim_padded > kCubeEdge || t.value_dim_padded > kCubeEdge) {
    return false;
  }
  FlashAttentionTiling banded = t;
  banded.block_m = Choose(p.block_m, PreferBlockM(t, capacities.cube_cores), p.seq_q, kFractalRows);
  banded.lag = kBandedLag;
  banded.depth = kBandedLag + 1;
  banded.kv_slots = 2;
  banded.piece_keys = (t.block_n > kCubeEdge ? 2 : 1) * kCubeEdge;
  if (CubeBytes(banded, p.element_bytes) > capacities.l1_bytes) {
    return false;
  }
  t = banded;
  return true;
}

// Deepest rings and largest slices that fit, in this order: long vector runs and many loads in
// flight are worth more than nothing being left.
uint32_t ValueParts(const FlashAttentionTiling& t) {
  return static_cast<uint32_t>(AlignUp(t.value_dim_padded, kCubeEdge) / kCubeEdge);
}

// Bytes of the products in L0C: a score tile's and the next one's, or all parts of an output.
uint64_t ProductBytes(const FlashAttentionTiling& t) {
  return static_cast<uint64_t>(t.product_slots) * t.block_m * kCubeEdge * sizeof(float);
}

bool FitsCube(const Capacities& capacities, uint32_t element_bytes, FlashAttentionTiling& t) {
  const uint32_t depth = kCubeDepthBytes / element_bytes;
  t.product_slots = ValueParts(t) <= 2 ? 2 : 4;
  for (t.key_chunk = depth; t.key_chunk >= depth / 2; t.key_chunk /= 2) {
    for (t.kv_slots = 3; t.kv_slots >= 2; --t.kv_slots) {
      if (CubeBytes(t, element_bytes) <= capacities.l1_bytes) {
        return ProductBytes(t) <= capacities.l0c_bytes;
      }
    }
  }
  // What the message states: the least there is.
  t.key_chunk = depth / 2;
  t.kv_slots = 2;
  return false;
}

// The plan's own choice of block_m shrinks until the cube's buffers hold it, a caller's does not.
std::string FitCube(const Capacities& capacities, uint32_t element_bytes, bool fixed,
                    FlashAttentionTiling& t) {
  bool fits = FitsCube(capacities, element_bytes, t);
  while (!fits && !fixed && t.block_m > kFractalRows) {
    t.block_m = static_cast<uint32_t>(AlignUp(t.block_m / 2, kFractalRows));
    fits = FitsCube(capacities, element_bytes, t);
  }
  if (fits) {
    return "";
  }
  const bool l1 = CubeBytes(t, element_bytes) > capacities.l1_bytes;
  return Message(l1 ? "L1" : "L0C", " does not hold the tiles of block_m ", t.block_m,
                 ", head dimension ", t.head_dim, " and value dimension ", t.value_dim, ": ",
                 l1 ? CubeBytes(t, element_bytes) : ProductBytes(t), " bytes needed, ",
                 l1 ? capacities.l1_bytes : capacities.l0c_bytes, " available on ",
                 capacities.chip);
}

// The largest slices that fit: the start of a vector instruction is worth many of its repeats.
bool FitsUb(const Capacities& capacities, uint32_t element_bytes, FlashAttentionTiling& t) {
  constexpr uint32_t kMaxRepeats = 255;
  const uint32_t repeats = static_cast<uint32_t>(AlignUp(t.block_n, kVectorLanes)) / kVectorLanes;
  for (t.softmax_rows = kVectorLanes; t.softmax_rows != 0; t.softmax_rows -= 8) {
    if (t.softmax_rows * repeats > kMaxRepeats) {
      continue;
    }
    for (const uint32_t output_rows : {16u, 8u}) {
      for (const uint32_t slots : {2u, 1u}) {
        t.output_rows = output_rows;
        t.weight_slots = slots;
        t.vector_bytes = static_cast<uint32_t>(VectorBytes(t, element_bytes));
        if (t.vector_bytes <= capacities.ub_bytes) {
          return true;
        }
      }
    }
  }
  t.softmax_rows = 8;
  return false;
}

// What the plan chose itself shrinks: first the tile of keys, then the block of queries.
std::string FitUb(const Capacities& capacities, const ForwardProblem& p, FlashAttentionTiling& t) {
  while (!FitsUb(capacities, p.element_bytes, t)) {
    if (p.block_n == 0 && t.block_n > kVectorLanes) {
      t.block_n = static_cast<uint32_t>(AlignUp(t.block_n / 2, kVectorLanes));
    } else if (p.block_m == 0 && t.block_m > kFractalRows) {
      t.block_m = static_cast<uint32_t>(AlignUp(t.block_m / 2, kFractalRows));
    } else {
      return Message("UB does not hold the tiles of block_m ", t.block_m, ", block_n ", t.block_n,
                     " and value dimension ", t.value_dim, ": ", t.vector_bytes, " bytes needed, ",
                     capacities.ub_bytes, " available on ", capacities.chip);
    }
  }
  return "";
}

void PlaceWorkspace(uint32_t element_bytes, FlashAttentionTiling& t) {
  const uint64_t rows = std::min(t.block_m, kBandRows);
  const uint64_t tile = rows * AlignUp(t.block_n, kCubeEdge);
  t.score_slot_bytes = AlignUp(tile * sizeof(float), kWorkspaceAlignment);
  t.weight_slot_bytes = AlignUp(tile * element_bytes, kWorkspaceAlignment);
  t.partial_slot_bytes = AlignUp(rows * t.value_dim_padded * sizeof(float), kWorkspaceAlignment);
  t.weight_offset = t.depth * t.score_slot_bytes;
  t.partial_offset = t.weight_offset + t.depth * t.weight_slot_bytes;
  t.group_bytes = t.partial_offset + t.depth * t.partial_slot_bytes;
}

}  // namespace

uint64_t CubeBytes(const FlashAttentionTiling& t, uint32_t element_bytes) {
  constexpr uint64_t kSlots = 2;
  const uint64_t rows = std::min(t.block_m, kBandRows);
  const uint64_t chunk = t.piece_keys != 0 ? t.piece_keys : t.key_chunk;
  const uint64_t weight_slots = t.piece_keys != 0 ? kSlots : t.kv_slots;
  return element_bytes * (kSlots * rows * t.head_dim_padded +
                          t.kv_slots * chunk * (t.head_dim_padded + t.value_dim_padded) +
                          weight_slots * rows * chunk);
}

uint64_t VectorBytes(const FlashAttentionTiling& t, uint32_t element_bytes) {
  constexpr uint64_t kSlots = 2;
  constexpr uint64_t kLanes = kVectorLanes;
  constexpr uint64_t kBlock = 8;
  constexpr uint64_t kSpread = kVectorLanes * kBlock;  // one value per row, a block each
  constexpr uint64_t kLimits = kLanes + kSpread;
  const uint64_t bands = AlignUp(t.block_m, kBandRows) / kBandRows;
  const uint64_t band_rows = std::min(t.block_m, kBandRows) / kVectorCores;
  const uint64_t columns = AlignUp(t.block_n, kVectorLanes);
  const uint64_t scores = t.softmax_rows * columns;
  const uint64_t partials = static_cast<uint64_t>(t.output_rows) * t.value_dim_padded;
  const uint64_t staging = std::max(scores, partials);
  const uint64_t strip = t.softmax_rows * kLanes;
  const uint64_t window = columns + 2 * kLimits;
  const uint64_t reductions = strip + 2 * t.softmax_rows * kBlock;
  const uint64_t statistics = (3ull * t.depth + 3) * kLanes + kSpread + 2 * kBlock + reductions;
  const uint64_t output = bands * band_rows * t.value_dim_padded + 2 * kLanes + kSpread;
  uint64_t floats = kSlots * (scores + partials) + strip + window + statistics + output;
  floats += t.softcap != 0.0f ? kBlock : 0;
  floats += t.has_alibi != 0 ? kLimits : 0;
  uint64_t bytes = sizeof(float) * floats + element_bytes * t.weight_slots * staging;
  bytes += t.has_bias != 0 ? element_bytes * kSlots * scores : 0;
  bytes += t.has_mask != 0 ? kSlots * scores + 2 * strip : 0;
  return bytes;
}

ForwardPlan PlanForward(const ForwardProblem& problem, const Capacities& capacities) {
  ForwardPlan plan;
  plan.error = CheckProblem(problem);
  if (!plan.ok()) {
    return plan;
  }
  FlashAttentionTiling& t = plan.tiling;
  Describe(problem, t);
  // At most 2^31 heads times 2^31 rows: fits 64 bits, but a batch of heads has to fit 32.
  const uint64_t batch_heads = static_cast<uint64_t>(t.batch) * t.q_heads;
  if (batch_heads > static_cast<uint64_t>(kMaxLength)) {
    plan.error =
        Message("batch ", t.batch, " times ", t.q_heads, " heads is more than ", kMaxLength);
    return plan;
  }
  if (capacities.vector_cores == 0) {
    plan.error = PlanCoupled(problem, capacities, t);
    plan.block_dim = t.groups;
    return plan;
  }
  if (!PlanBands(problem, capacities, t)) {
    plan.error = t.block_m > kBandRows
                     ? Message("block_m is ", t.block_m, ", at most ", kBandRows,
                               " are allowed with head dimensions above ", kCubeEdge,
                               " and elements of more than 2 bytes")
                     : FitCube(capacities, problem.element_bytes, problem.block_m != 0, t);
  }
  if (plan.ok()) {
    plan.error = FitUb(capacities, problem, t);
  }
  if (!plan.ok()) {
    return plan;
  }
  PlaceWorkspace(problem.element_bytes, t);
  t.group_bytes = PlanReferenced(problem, t);
  const uint64_t blocks = (static_cast<uint64_t>(t.seq_q) + t.block_m - 1) / t.block_m;
  t.groups = static_cast<uint32_t>(std::min<uint64_t>(capacities.cube_cores, batch_heads * blocks));
  plan.block_dim = t.groups;
  plan.workspace_bytes = t.groups * t.group_bytes;
  return plan;
}

}  // namespace ascendfa
