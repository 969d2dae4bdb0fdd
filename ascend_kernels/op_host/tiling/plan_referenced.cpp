#include "plan_referenced.h"

#include "../../op_kernel/arch/dav_2201/capacities.h"
#include "arithmetic.h"

#include <algorithm>
#include <cmath>

namespace ascendfa {
namespace {

constexpr uint64_t kVerdictBytes = (kVerdictFloats + kBlockFloats) * sizeof(float);
constexpr uint64_t kWorkspaceAlignment = 512;

// The second product stays five to six steps behind the first. Short steps keep the vector cores
// further behind than long ones: four steps would not do.
constexpr uint32_t kLag = 6;
// Two at least, so that the task before has a step left when the last band is sampled.
constexpr uint32_t kLongestLead = 5;
constexpr uint32_t kShortestLead = 3;
// What rounding a score of a row's maximum, times the scale, may cost its log-sum-exp: a little
// less than 1e-3, of which fp32 takes the rest.
constexpr double kRounding = 0.98e-3;
// The maximum of a row is at least its sample's: references lie above that, but well within the
// tolerance, since scores further below are rounded more coarsely and count as long as they are
// near the maximum. A little more than ln 4: fp16 and bf16 round weights of nearly 1/4 half as
// coarsely as those a little above. They stay below where fp16 has rounded the sample down by 1/64,
// scaled; and both hold this one, 252/1024, exactly.
constexpr float kMargin = 1.4020427f;
// Normally distributed rows of 4096 keys have their maximum out of reach in about one of 10^6 where
// tolerance and margin are 4.2, as for head dimension 128, and 128 keys are sampled; in fewer with
// 64 keys, where they are as much as this.
constexpr uint32_t kFewSampleKeys = 64;
constexpr float kWideReach = 5.0f;
// Hidden scores are -32752 at most: times this, beyond what exp() sees.
constexpr float kLeastScale = 1.0f / 256;
// fp16 numbers below 2^-14 are multiples of 2^-24: times half of this, nothing beside kRounding.
constexpr float kGreatestScale = 1024.0f;
// Keys below which sampling costs more than it saves.
constexpr int64_t kLeastKeys = 1024;
// With shorter steps and tasks the cube core would be too few steps ahead.
constexpr uint32_t kLeastBlockN = 384;
constexpr int64_t kLeastBlockM = 128;

// How far a scaled maximum may lie from its reference. fp16 rounds numbers below a power of two by
// at most 2^-12 of it.
float Tolerance(float scale) {
  const double bound = std::exp2(std::floor(std::log2(kRounding * 4096 / scale)));
  return static_cast<float>(bound * scale);
}

bool Suits(const ForwardProblem& p, const FlashAttentionTiling& t) {
  const bool terms = p.has_bias || p.has_mask || p.has_alibi || p.softcap != 0.0f;
  // Every query sees a key, and none is hidden on the left.
  const bool open = t.window_left < 0 && (t.window_right < 0 || t.seq_k >= t.seq_q);
  const bool long_steps = t.block_n >= kLeastBlockN && t.block_m >= std::min(kLeastBlockM, p.seq_q);
  return !p.fp32_scores && long_steps && t.piece_keys != 0 && !terms && open &&
         p.scale >= kLeastScale && p.scale <= kGreatestScale && p.seq_k >= kLeastKeys;
}

}  // namespace

uint64_t PlanReferenced(const ForwardProblem& problem, FlashAttentionTiling& t) {
  FlashAttentionReferenced& r = t.referenced;
  r = FlashAttentionReferenced{};
  if (!Suits(problem, t)) {
    return t.group_bytes;
  }
  r.enabled = 1;
  r.lag = kLag;
  r.depth = kLag + 1;
  r.longest_lead = kLongestLead;
  r.shortest_lead = kShortestLead;
  r.tolerance = Tolerance(problem.scale);
  r.margin = kMargin;
  r.sample_keys = r.tolerance + r.margin > kWideReach ? kFewSampleKeys : kMaxSampleKeys;
  uint64_t used = 0;
  const auto place = [&used](uint64_t bytes) {
    const uint64_t offset = used;
    used += AlignUp(bytes, kWorkspaceAlignment);
    return offset;
  };
  constexpr uint64_t kHalfBytes = 2;
  r.slot_bytes = kVectorCores * kVectorRows * AlignUp(t.block_n, kCubeEdge) * kHalfBytes;
  place(r.depth * r.slot_bytes);
  r.weight_offset = place(r.depth * r.slot_bytes);
  r.sample_offset =
      place(kReferenceSlots * kVectorCores * kMaxSampleKeys * kVectorRows * kHalfBytes);
  r.reference_offset = place(kReferenceSlots * kVectorCores * kVectorRows * sizeof(float));
  r.output_offset = place(kOutputSlots * kBandRows * t.value_dim_padded * sizeof(float));
  // Still read when the next loop begins.
  used = std::max(t.group_bytes, used);
  r.verdict_offset = place(kVectorCores * kVerdictBytes);
  return used;
}

}  // namespace ascendfa
