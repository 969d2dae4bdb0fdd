// Which problems hand their scores over as fp16, and where the hand-over lies.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "plan_forward.h"
#include "problems.h"

namespace ascendfa {
namespace {

using Change = std::function<void(ForwardProblem&)>;

ForwardProblem Long() {
  ForwardProblem problem = SelfAttention(8, 4096, 128);
  problem.scale = 0.088f;
  return problem;
}

FlashAttentionReferenced Plan(const ForwardProblem& problem) {
  const ForwardPlan plan = PlanForward(problem, Dav2201(20));
  EXPECT_EQ(plan.error, "");
  return plan.tiling.referenced;
}

FlashAttentionReferenced PlanWith(const Change& change) {
  ForwardProblem problem = Long();
  change(problem);
  return Plan(problem);
}

TEST(PlanReferencedTest, LongSequencesWithoutTermsAreReferenced) {
  EXPECT_EQ(Plan(Long()).enabled, 1u);
  const std::vector<Change> fitting = {
      [](ForwardProblem& p) { p.causal = true; },
      [](ForwardProblem& p) { p.window_right = 100; },
      [](ForwardProblem& p) { p.scale = 1.0f; },
      [](ForwardProblem& p) { p.block_n = 384; },
  };
  for (size_t i = 0; i < fitting.size(); ++i) {
    EXPECT_EQ(PlanWith(fitting[i]).enabled, 1u) << i;
  }
}

TEST(PlanReferencedTest, WhatReferencesDoNotSuitIsNot) {
  const std::vector<Change> others = {
      [](ForwardProblem& p) { p.has_bias = true; },
      [](ForwardProblem& p) { p.has_mask = true; },
      [](ForwardProblem& p) { p.has_alibi = true; },
      [](ForwardProblem& p) { p.softcap = 20.0f; },
      [](ForwardProblem& p) { p.element_bytes = 4; },
      // The first keys may be hidden from a row.
      [](ForwardProblem& p) { p.window_left = 100; },
      // A hidden score must vanish; the largest one must be what counts.
      [](ForwardProblem& p) { p.scale = 1.0e-3f; },
      [](ForwardProblem& p) { p.scale = -0.088f; },
      [](ForwardProblem& p) { p.block_n = 320; },
      [](ForwardProblem& p) { p.block_m = 112; },
      [](ForwardProblem& p) { p.fp32_scores = true; },
  };
  for (size_t i = 0; i < others.size(); ++i) {
    EXPECT_EQ(PlanWith(others[i]).enabled, 0u) << i;
  }
  EXPECT_EQ(Plan(SelfAttention(8, 1023, 128)).enabled, 0u);
  EXPECT_EQ(Plan(SelfAttention(8, 4096, 129)).enabled, 0u);
  // Rows that see nothing.
  ForwardProblem more_queries = Attention({1, 8, 4097, 64}, {1, 8, 4096, 64}, {1, 8, 4096, 64});
  EXPECT_EQ(Plan(more_queries).enabled, 1u);
  more_queries.causal = true;
  EXPECT_EQ(Plan(more_queries).enabled, 0u);
}

TEST(PlanReferencedTest, TheHandOverLiesInTheWorkspaceAndDoesNotOverlap) {
  for (const int64_t head_dim : {16, 64, 128}) {
    for (const int64_t block_n : {384, 448, 512}) {
      ForwardProblem problem = SelfAttention(8, 4096, head_dim);
      problem.block_n = block_n;
      const ForwardPlan plan = PlanForward(problem, Dav2201(20));
      ASSERT_EQ(plan.error, "");
      const FlashAttentionReferenced& r = plan.tiling.referenced;
      ASSERT_EQ(r.enabled, 1u);
      const uint64_t keys = static_cast<uint64_t>((block_n + 127) / 128 * 128);
      EXPECT_GE(r.slot_bytes, 128 * keys * 2);
      EXPECT_GE(r.depth, r.lag + 1);
      EXPECT_GE(r.shortest_lead, 2u);
      EXPECT_GE(r.longest_lead, r.shortest_lead);
      EXPECT_GE(r.weight_offset, r.depth * r.slot_bytes);
      EXPECT_GE(r.sample_offset, r.weight_offset + r.depth * r.slot_bytes);
      EXPECT_GE(r.reference_offset, r.sample_offset + 4 * 128 * 128 * 2);
      EXPECT_GE(r.output_offset, r.reference_offset + 4 * 128 * 4);
      const uint64_t outputs = 8 * 128 * static_cast<uint64_t>(head_dim) * 4;
      EXPECT_GE(r.verdict_offset, r.output_offset + outputs);
      // Read while the repetition writes its own.
      const uint64_t repetition =
          plan.tiling.partial_offset + plan.tiling.depth * plan.tiling.partial_slot_bytes;
      EXPECT_GE(r.verdict_offset, repetition);
      EXPECT_GE(plan.tiling.group_bytes, r.verdict_offset + 2 * (64 + 8) * 4);
      EXPECT_EQ(plan.tiling.group_bytes % 512, 0u);
    }
  }
}

}  // namespace
}  // namespace ascendfa
