// Distribution of work: every tile of every task once, and evenly.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "fa/forward_loop.h"
#include "plan_forward.h"
#include "problems.h"

namespace ascendfa {
namespace {

TEST(TileSchedulerTest, EveryTaskGoesToOneGroup) {
  for (const uint32_t groups : {1u, 2u, 3u, 20u, 24u}) {
    for (const uint32_t batch_heads : {1u, 5u, 32u}) {
      for (const uint32_t blocks : {1u, 2u, 7u, 32u}) {
        for (const bool head_by_head : {false, true}) {
          std::set<std::pair<uint32_t, uint32_t>> seen;
          for (uint32_t group = 0; group < groups; ++group) {
            const TileScheduler scheduler(batch_heads, blocks, group, groups, head_by_head);
            Task task;
            for (uint32_t round = 0; scheduler.Get(round, task); ++round) {
              ASSERT_LT(task.batch_head, batch_heads);
              ASSERT_LT(task.block, blocks);
              ASSERT_TRUE(seen.emplace(task.batch_head, task.block).second);
            }
          }
          ASSERT_EQ(seen.size(), batch_heads * blocks);
        }
      }
    }
  }
}

FlashAttentionTiling Plan(int64_t heads, int64_t seq_q, int64_t seq_k, bool causal) {
  ForwardProblem problem =
      Attention({1, heads, seq_q, 128}, {1, heads, seq_k, 128}, {1, heads, seq_k, 128});
  problem.causal = causal;
  const ForwardPlan plan = PlanForward(problem, Dav2201(20));
  EXPECT_EQ(plan.error, "");
  return plan.tiling;
}

uint64_t Steps(const FlashAttentionTiling& tiling, uint32_t group) {
  uint64_t steps = 0;
  for (StepCursor cursor(tiling, ForwardTasks(tiling, group)); cursor.Valid(); cursor.Next()) {
    ++steps;
  }
  return steps;
}

TEST(StepCursorTest, WalksEveryVisibleTileOnce) {
  const FlashAttentionTiling tiling = Plan(3, 700, 900, true);
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> seen;
  uint64_t expected = 0;
  for (uint32_t row = 0; row < tiling.seq_q; row += tiling.block_m) {
    const uint32_t last_row = std::min(row + tiling.block_m, tiling.seq_q) - 1;
    const uint32_t keys = std::min(last_row + 200 + 1, tiling.seq_k);
    expected += 3 * ((keys + tiling.block_n - 1) / tiling.block_n);
  }
  for (uint32_t group = 0; group < tiling.groups; ++group) {
    bool fresh = true;
    uint32_t slot = 0;
    for (StepCursor cursor(tiling, ForwardTasks(tiling, group)); cursor.Valid(); cursor.Next()) {
      const Step& step = cursor.Current();
      EXPECT_TRUE(seen.emplace(step.q_head, step.row, step.key).second);
      EXPECT_EQ(step.first, fresh);
      EXPECT_EQ(step.slot, slot);
      fresh = step.last;
      slot = (slot + 1) % tiling.depth;
    }
    EXPECT_TRUE(fresh);
  }
  EXPECT_EQ(seen.size(), expected);
}

TEST(StepCursorTest, SkipsBlocksWithoutAVisibleKey) {
  // 1024 queries, 100 keys: only the last 100 queries, in the last block, see any.
  const FlashAttentionTiling tiling = Plan(1, 1024, 100, true);
  uint64_t steps = 0;
  for (uint32_t group = 0; group < tiling.groups; ++group) {
    steps += Steps(tiling, group);
  }
  EXPECT_EQ(steps, 1u);
}

TEST(StepCursorTest, AWindowCostsItsLengthNotTheSequences) {
  ForwardProblem problem = SelfAttention(1, 1 << 20, 128);
  problem.window_left = 1000;
  problem.window_right = 0;
  const FlashAttentionTiling tiling = PlanForward(problem, Dav2201(20)).tiling;
  uint64_t steps = 0;
  for (uint32_t group = 0; group < tiling.groups; ++group) {
    steps += Steps(tiling, group);
  }
  // A block of 128 queries sees 1128 keys: three tiles of 512. The first eight blocks see fewer.
  EXPECT_EQ(tiling.block_n, 512u);
  EXPECT_LE(steps, 3u * (1 << 20) / 128);
  EXPECT_GT(steps, 3u * ((1 << 20) / 128 - 9));
}

TEST(StepCursorTest, HeadsThatShareKeysReadTheSameOnes) {
  const ForwardProblem problem = Attention({2, 6, 64, 64}, {2, 2, 64, 64}, {2, 2, 64, 64});
  const FlashAttentionTiling tiling = PlanForward(problem, Dav2201(1)).tiling;
  for (StepCursor cursor(tiling, ForwardTasks(tiling, 0)); cursor.Valid(); cursor.Next()) {
    EXPECT_EQ(cursor.Current().kv_head, cursor.Current().q_head / 3);
  }
}

TEST(StepCursorTest, CausalLoadIsEven) {
  const FlashAttentionTiling tiling = Plan(32, 4096, 4096, true);
  std::vector<uint64_t> steps;
  for (uint32_t group = 0; group < tiling.groups; ++group) {
    steps.push_back(Steps(tiling, group));
  }
  const auto [least, most] = std::minmax_element(steps.begin(), steps.end());
  EXPECT_LE(static_cast<double>(*most) / static_cast<double>(*least), 1.05);
}

}  // namespace
}  // namespace ascendfa
