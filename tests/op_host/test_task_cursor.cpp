// The order in which a core that is cube and vector unit in one visits the tiles of its tasks.
#include "fa/task_cursor.h"

#include <gtest/gtest.h>

#include <set>

#include "plan_forward.h"
#include "problems.h"

namespace ascendfa {
namespace {

struct Case {
  int64_t seq_q, seq_k;
  bool causal;
  int64_t left, right;
};

constexpr Case kCases[] = {
    {4096, 4096, false, -1, -1}, {4096, 4096, true, -1, -1}, {300, 40, true, -1, -1},
    {1000, 3000, true, 700, -1}, {1000, 1000, false, 0, 0},  {130, 5000, false, 2000, 900},
    {5, 7, true, -1, -1},
};

ForwardPlan Plan(const Case& c) {
  ForwardProblem problem = Attention({1, 3, c.seq_q, 64}, {1, 3, c.seq_k, 64}, {1, 3, c.seq_k, 64});
  problem.causal = c.causal;
  problem.window_left = c.left;
  problem.window_right = c.right;
  return PlanForward(problem, Dav1001(32));
}

TEST(TaskCursorTest, VisitsEachTileOfEachTaskOnce) {
  for (const Case& c : kCases) {
    const ForwardPlan plan = Plan(c);
    ASSERT_EQ(plan.error, "");
    for (uint32_t group = 0; group < plan.tiling.groups; ++group) {
      ForwardTasks tasks(plan.tiling, group);
      for (const Opening opening : {Opening::kAny, Opening::kFirst, Opening::kOwn}) {
        TaskCursor cursor(tasks, group, opening);
        Step step{};
        BlockRange range;
        for (uint32_t round = 0; tasks.Get(round, step, range); ++round) {
          std::set<uint32_t> keys;
          for (uint32_t tile = 0; tile < range.Tiles(); ++tile) {
            ASSERT_TRUE(cursor.Valid());
            ASSERT_EQ(cursor.Round(), round);
            const Step& at = cursor.Current();
            EXPECT_EQ(at.row, step.row);
            EXPECT_EQ(at.rows, step.rows);
            EXPECT_EQ(at.first, tile == 0);
            EXPECT_EQ(at.last, tile + 1 == range.Tiles());
            const uint32_t number = (at.key - range.Origin()) / plan.tiling.block_n;
            EXPECT_EQ(at.key, range.KeyOf(number));
            EXPECT_EQ(at.keys, range.KeysIn(number));
            EXPECT_EQ(at.ends_early, range.EndsEarly(number));
            EXPECT_EQ(at.starts_late, range.StartsLate(number));
            keys.insert(at.key);
            cursor.Next();
          }
          EXPECT_EQ(keys.size(), range.Tiles());
        }
        EXPECT_FALSE(cursor.Valid());
      }
    }
  }
}

TEST(TaskCursorTest, BeginsWithATileThatAllRowsSeeIfThereIsOne) {
  for (const Case& c : kCases) {
    const ForwardPlan plan = Plan(c);
    std::set<uint32_t> starts;
    for (uint32_t group = 0; group < plan.tiling.groups; ++group) {
      ForwardTasks tasks(plan.tiling, group);
      for (TaskCursor cursor(tasks, group, Opening::kAny); cursor.Valid(); cursor.SkipTask()) {
        Step step{};
        BlockRange range;
        ASSERT_TRUE(tasks.Get(cursor.Round(), step, range));
        bool any = false;
        for (uint32_t tile = 0; tile < range.Tiles(); ++tile) {
          any = any || !(range.StartsLate(tile) || range.EndsEarly(tile));
        }
        const Step& at = cursor.Current();
        EXPECT_EQ(at.starts_late || at.ends_early, !any) << at.row << " " << at.key;
        starts.insert(at.key);
      }
    }
    if (c.seq_k == 4096 && !c.causal) {
      EXPECT_EQ(starts.size(), 4096 / plan.tiling.block_n);  // not all with the same
    }
  }
}

TEST(TaskCursorTest, BeginsWithTheFirstTileOrTheRowsOwn) {
  for (const Case& c : kCases) {
    const ForwardPlan plan = Plan(c);
    for (uint32_t group = 0; group < plan.tiling.groups; ++group) {
      ForwardTasks tasks(plan.tiling, group);
      for (TaskCursor cursor(tasks, group, Opening::kOwn); cursor.Valid(); cursor.SkipTask()) {
        const Step& at = cursor.Current();
        const int64_t shift = c.seq_k - c.seq_q;
        const int64_t own = at.row + (c.causal || c.right >= 0 ? 0 : at.rows / 2) + shift;
        const bool beside = own < 0 || own >= c.seq_k;
        EXPECT_TRUE(beside || (own >= at.key && own < at.key + at.keys)) << own << " " << at.key;
      }
      for (TaskCursor cursor(tasks, group, Opening::kFirst); cursor.Valid(); cursor.SkipTask()) {
        EXPECT_TRUE(c.left >= 0 || cursor.Current().key == 0);
      }
    }
  }
}

}  // namespace
}  // namespace ascendfa
