// The plan for cores that are cube and vector core in one.
#include "plan_coupled.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "fa/forward_loop.h"
#include "plan_forward.h"
#include "problems.h"

namespace ascendfa {
namespace {

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PlanCoupledTest, EveryShapeFitsTheBuffers) {
  const Capacities chip = Dav1001(32);
  for (const int64_t head_dim : {1, 16, 40, 64, 80, 128, 192, 256}) {
    for (const int64_t value_dim : {1, 64, 128, 256}) {
      for (const int64_t seq : {1, 16, 17, 128, 129, 1000, 4096}) {
        const ForwardPlan plan = PlanForward(
            Attention({1, 8, seq, head_dim}, {1, 8, seq, head_dim}, {1, 8, seq, value_dim}), chip);
        const FlashAttentionTiling& t = plan.tiling;
        ASSERT_EQ(plan.error, "") << head_dim << " " << value_dim << " " << seq;
        EXPECT_EQ(t.cube_bytes, CoupledL1Bytes(t));
        EXPECT_LE(t.cube_bytes, 1024u * 1024);
        EXPECT_EQ(t.vector_bytes, CoupledUbBytes(t));
        EXPECT_LE(t.vector_bytes, 248u * 1024);
        EXPECT_EQ(t.block_m % 16, 0u);
        // Half of L0A; an output in L0C twice, beside two strips of 64 keys.
        EXPECT_LE(2 * t.block_m * t.head_dim_padded, 32u * 1024);
        EXPECT_LE(4 * t.block_m * (t.value_dim_padded + 16 + 2 * 64), 256u * 1024);
        EXPECT_EQ(plan.workspace_bytes, 0u);
      }
    }
  }
}

TEST(PlanCoupledTest, ResultsShorterThanACopyShareNoLineOfTheDataCache) {
  const Capacities chip = Dav1001(32);
  EXPECT_EQ(PlanForward(SelfAttention(16, 7, 64), chip).block_dim, 1u);
  EXPECT_EQ(PlanForward(SelfAttention(17, 7, 64), chip).block_dim, 2u);
  EXPECT_EQ(PlanForward(SelfAttention(1000, 1, 64), chip).block_dim, 32u);
  EXPECT_EQ(PlanForward(SelfAttention(8, 8, 64), chip).block_dim, 8u);
  EXPECT_EQ(PlanForward(SelfAttention(8, 4096, 15), chip).block_dim, 32u);
  EXPECT_EQ(PlanForward(SelfAttention(8, 4095, 15), chip).block_dim, 1u);
  EXPECT_EQ(PlanForward(SelfAttention(100, 7, 15), chip).block_dim, 1u);
  EXPECT_EQ(PlanForward(SelfAttention(8, 4096, 16), chip).block_dim, 32u);
  // Rows of other heads in between.
  ForwardProblem problem = SelfAttention(8, 4096, 15);
  problem.out = {8 * 4096 * 15, 15, 8 * 15};
  EXPECT_EQ(PlanForward(problem, chip).block_dim, 1u);
}

// The log-sum-exps of 16 heads lie in whole lines, which belong to one core.
TEST(PlanCoupledTest, HeadsOfFewRowsGoSixteenToACore) {
  for (const int64_t heads : {1, 16, 17, 100, 600, 1000}) {
    const ForwardPlan plan = PlanForward(SelfAttention(heads, 3, 64), Dav1001(32));
    ASSERT_EQ(plan.error, "");
    std::vector<int> owner(heads, -1);
    for (uint32_t group = 0; group < plan.tiling.groups; ++group) {
      ForwardTasks tasks(plan.tiling, group);
      Step step{};
      BlockRange range;
      for (uint32_t round = 0; tasks.Get(round, step, range); ++round) {
        EXPECT_EQ(owner[step.q_head], -1);
        owner[step.q_head] = static_cast<int>(group);
      }
    }
    for (int64_t head = 0; head < heads; ++head) {
      EXPECT_GE(owner[head], 0);
      EXPECT_EQ(owner[head], owner[head / 16 * 16]);
    }
  }
}

// The front end has the same sums, and its tests the same numbers.
TEST(PlanCoupledTest, BytesOfTwoPlans) {
  FlashAttentionTiling t{};
  t.block_m = 128;
  t.block_n = 512;
  t.head_dim_padded = t.value_dim_padded = 128;
  EXPECT_EQ(CoupledL1Bytes(t), 901120u);
  EXPECT_EQ(CoupledUbBytes(t), 246976u);
  t.block_m = 64;
  t.block_n = 128;
  t.head_dim_padded = t.value_dim_padded = 256;
  EXPECT_EQ(CoupledL1Bytes(t), 499712u);
  EXPECT_EQ(CoupledUbBytes(t), 248000u);
}

TEST(PlanCoupledTest, TermsTakeRoomFromTheQueries) {
  const Capacities chip = Dav1001(32);
  for (uint32_t terms = 0; terms < 16; ++terms) {
    for (const int64_t dim : {16, 64, 128, 256}) {
      ForwardProblem problem = SelfAttention(1, 4096, dim);
      problem.has_bias = terms % 2 != 0;
      problem.has_mask = terms / 2 % 2 != 0;
      problem.has_alibi = terms / 4 % 2 != 0;
      problem.softcap = terms / 8 % 2 != 0 ? 3.0f : 0.0f;
      const ForwardPlan plan = PlanForward(problem, chip);
      ASSERT_EQ(plan.error, "") << terms << " " << dim;
      EXPECT_LE(plan.tiling.vector_bytes, 248u * 1024);
      EXPECT_EQ(plan.tiling.block_m % 16, 0u);
      EXPECT_GE(plan.tiling.block_m, dim <= 128 ? 64u : 16u);
      EXPECT_EQ(plan.workspace_bytes, 0u);
      const ForwardPlan bare = PlanForward(SelfAttention(1, 4096, dim), chip);
      if (terms == 0) {
        EXPECT_EQ(plan.tiling.vector_bytes, bare.tiling.vector_bytes);
      } else if (plan.tiling.block_m == bare.tiling.block_m) {
        // At least a strip of fp32 scores, and a reference.
        EXPECT_GE(plan.tiling.vector_bytes,
                  bare.tiling.vector_bytes + 4 * plan.tiling.block_m * (64 + 16));
      }
    }
  }
  ForwardProblem problem = SelfAttention(1, 4096, 128);
  problem.has_bias = true;
  problem.block_m = 128;
  EXPECT_TRUE(Contains(PlanForward(problem, chip).error, "UB does not hold the strips"));
}

TEST(PlanCoupledTest, WidthsAndTypesItLacksAreNamed) {
  const Capacities chip = Dav1001(32);
  ForwardProblem problem;
  EXPECT_TRUE(Contains(PlanForward(SelfAttention(1, 100, 257), chip).error, "up to 256"));
  problem = SelfAttention(1, 100, 64);
  problem.element_bytes = 4;
  EXPECT_TRUE(Contains(PlanForward(problem, chip).error, "16-bit"));
}

TEST(PlanCoupledTest, BlocksTooLargeNameTheBuffer) {
  const Capacities chip = Dav1001(32);
  ForwardProblem problem = SelfAttention(1, 4096, 256);
  problem.block_m = 128;
  EXPECT_TRUE(Contains(PlanForward(problem, chip).error, "L0A does not hold 128 queries"));
  problem.block_m = 64;
  problem.block_n = 512;
  EXPECT_TRUE(Contains(PlanForward(problem, chip).error, "L1 does not hold"));
}

// Where L0A and UB would hold more rows, the vector unit still checks the sums of 128.
TEST(PlanCoupledTest, BlocksOfMoreRowsThanAreCheckedAreRefused) {
  ForwardProblem problem = SelfAttention(1, 4096, 64);
  problem.block_m = 144;
  EXPECT_TRUE(Contains(PlanForward(problem, Dav1001(32)).error, "block_m is 144, at most 128"));
}

// Every row once, no task with fewer rows than the shortest copy, one head after the other.
TEST(PlanCoupledTest, TasksCoverTheRowsHeadByHead) {
  for (const int64_t seq : {8, 15, 100, 128, 129, 135, 136, 150, 1000}) {
    for (const int64_t block_m : {0, 16, 48, 128}) {
      ForwardProblem problem = SelfAttention(3, seq, 64);
      problem.block_m = block_m;
      const ForwardPlan plan = PlanForward(problem, Dav1001(32));
      ASSERT_EQ(plan.error, "");
      std::set<std::pair<uint32_t, uint32_t>> rows;
      uint64_t counted = 0;
      uint32_t last_head = 0;
      for (uint32_t round = 0, more = 1; more != 0; ++round) {
        more = 0;
        for (uint32_t group = 0; group < plan.tiling.groups; ++group) {
          ForwardTasks tasks(plan.tiling, group);
          Step step{};
          BlockRange range;
          if (!tasks.Get(round, step, range)) {
            continue;
          }
          more = 1;
          EXPECT_GE(step.rows, 8u) << seq << " " << block_m;
          EXPECT_LE(step.rows, plan.tiling.block_m + 0u);
          last_head = step.q_head > last_head ? step.q_head : last_head;
          for (uint32_t row = step.row; row < step.row + step.rows; ++row) {
            rows.insert({step.q_head, row});
            ++counted;
          }
        }
      }
      EXPECT_EQ(counted, static_cast<uint64_t>(3 * seq));
      EXPECT_EQ(rows.size(), counted);
      EXPECT_EQ(last_head, 2u);
    }
  }
}

}  // namespace
}  // namespace ascendfa
