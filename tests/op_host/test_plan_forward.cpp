// The plan: what it accepts, that it fits, and how it says no.
#include "plan_forward.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ascendfa {
namespace {

ForwardProblem Problem(int64_t heads, int64_t seq, int64_t head_dim) {
  ForwardProblem problem;
  problem.batch = 1;
  problem.q_heads = heads;
  problem.kv_heads = heads;
  problem.seq_q = seq;
  problem.seq_k = seq;
  problem.head_dim = head_dim;
  return problem;
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PlanForwardTest, EveryShapeFitsTheBuffers) {
  const Capacities chip = Dav2201(20);
  for (const int64_t head_dim : {1, 16, 40, 64, 80, 128, 192, 256}) {
    for (const int64_t seq : {1, 16, 17, 128, 129, 1000, 4096}) {
      for (const int64_t block_n : {0, 16, 64, 80, 128, 256, 448, 496, 512}) {
        ForwardProblem problem = Problem(8, seq, head_dim);
        problem.block_n = block_n;
        const ForwardPlan plan = PlanForward(problem, chip);
        ASSERT_EQ(plan.error, "") << head_dim << " " << seq << " " << block_n;
        const FlashAttentionTiling& t = plan.tiling;
        EXPECT_LE(CubeBytes(t), chip.l1_bytes);
        EXPECT_LE(VectorBytes(t), chip.ub_bytes);
        EXPECT_GE(t.depth, t.lag + 1);
        EXPECT_EQ(t.softmax_rows % 8, 0u);
        EXPECT_EQ(t.output_rows % 8, 0u);
        // A vector instruction takes at most 255 repeats of 64 lanes.
        EXPECT_LE(t.softmax_rows * ((t.block_n + 63) / 64), 255u);
        EXPECT_EQ(t.weight_offset % 512, 0u);
        EXPECT_EQ(t.partial_offset % 512, 0u);
        EXPECT_EQ(plan.workspace_bytes, t.groups * t.group_bytes);
      }
    }
  }
}

TEST(PlanForwardTest, DefaultBlocksAreNoLongerThanTheSequence) {
  const FlashAttentionTiling t = PlanForward(Problem(1, 20, 64), Dav2201(20)).tiling;
  EXPECT_EQ(t.block_m, 32u);
  EXPECT_EQ(t.block_n, 64u);
  EXPECT_EQ(t.groups, 1u);
}

TEST(PlanForwardTest, WorkspaceDoesNotGrowWithTheSequence) {
  const Capacities chip = Dav2201(24);
  const ForwardPlan small = PlanForward(Problem(32, 4096, 128), chip);
  const ForwardPlan huge = PlanForward(Problem(32, 1 << 20, 128), chip);
  ASSERT_TRUE(small.ok() && huge.ok());
  EXPECT_EQ(small.workspace_bytes, huge.workspace_bytes);
}

TEST(PlanForwardTest, StridesAre64Bit) {
  // Element counts just around 2^31, and far beyond 2^32.
  for (const int64_t heads : {(1ll << 24) - 1, 1ll << 24, (1ll << 24) + 1}) {
    const ForwardPlan plan = PlanForward(Problem(heads, 1, 128), Dav2201(20));
    ASSERT_EQ(plan.error, "");
    EXPECT_EQ(plan.tiling.q.batch, heads * 128);
  }
  const ForwardPlan plan = PlanForward(Problem(1024, 1 << 20, 128), Dav2201(20));
  ASSERT_EQ(plan.error, "");
  EXPECT_EQ(plan.tiling.k.head, (1ll << 20) * 128);
  EXPECT_EQ(plan.tiling.k.batch, 1024 * (1ll << 20) * 128);
}

TEST(PlanForwardTest, RefusalNamesBufferBytesAndLimit) {
  Capacities chip = Dav2201(20);
  chip.ub_bytes = 60000;
  const std::string ub = PlanForward(Problem(1, 1024, 128), chip).error;
  EXPECT_TRUE(Contains(ub, "UB") && Contains(ub, "60000") && Contains(ub, "block_n 512")) << ub;

  chip = Dav2201(20);
  chip.l1_bytes = 100000;
  const std::string l1 = PlanForward(Problem(1, 1024, 128), chip).error;
  EXPECT_TRUE(Contains(l1, "L1") && Contains(l1, "100000") && Contains(l1, "block_m 128")) << l1;
}

TEST(PlanForwardTest, BadArgumentsAreNamed) {
  const Capacities chip = Dav2201(20);
  const auto refused = [&](const ForwardProblem& problem, const std::string& part) {
    const std::string error = PlanForward(problem, chip).error;
    EXPECT_TRUE(Contains(error, part)) << "'" << error << "' should mention '" << part << "'";
  };
  ForwardProblem problem = Problem(4, 64, 257);
  refused(problem, "head dimension is 257");
  problem = Problem(4, 0, 64);
  refused(problem, "seq_q is 0");
  problem = Problem(4, 64, 64);
  problem.kv_heads = 3;
  refused(problem, "4 heads");
  problem = Problem(4, 64, 64);
  problem.block_m = 100;
  refused(problem, "block_m is 100");
  problem = Problem(4, 64, 64);
  problem.block_n = 40;
  refused(problem, "block_n is 40");
  problem.block_n = 1024;
  refused(problem, "block_n is 1024");
  problem = Problem(4, 64, 64);
  problem.scale = std::numeric_limits<float>::quiet_NaN();
  refused(problem, "scale");
  problem = Problem(1ll << 20, 64, 64);
  problem.batch = 1 << 20;
  refused(problem, "heads is more than");
}

TEST(ReadShapesTest, MismatchesAreNamed) {
  ForwardProblem problem;
  const Shape4 q{2, 8, 100, 64};
  EXPECT_EQ(ReadShapes(q, {2, 4, 50, 64}, {2, 4, 50, 64}, problem), "");
  EXPECT_EQ(problem.seq_k, 50);
  EXPECT_EQ(problem.kv_heads, 4);
  EXPECT_TRUE(Contains(ReadShapes(q, {2, 8, 50, 64}, {2, 8, 51, 64}, problem), "v [2, 8, 51, 64]"));
  EXPECT_TRUE(Contains(ReadShapes(q, {3, 8, 50, 64}, {3, 8, 50, 64}, problem), "batch"));
  EXPECT_TRUE(Contains(ReadShapes(q, {2, 8, 50, 32}, {2, 8, 50, 32}, problem), "head dimension"));
}

}  // namespace
}  // namespace ascendfa
