// The plan: what it accepts, that it fits, and how it says no.
#include "plan_forward.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "problems.h"

namespace ascendfa {
namespace {

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// What every plan has to keep to.
void ExpectSound(const ForwardPlan& plan, const Capacities& chip, uint32_t element_bytes) {
  const FlashAttentionTiling& t = plan.tiling;
  EXPECT_LE(CubeBytes(t, element_bytes), chip.l1_bytes);
  EXPECT_LE(VectorBytes(t, element_bytes), chip.ub_bytes);
  EXPECT_EQ(VectorBytes(t, element_bytes), t.vector_bytes);
  EXPECT_GE(t.depth, t.lag + 1);
  EXPECT_EQ(t.softmax_rows % 8, 0u);
  EXPECT_EQ(t.output_rows % 8, 0u);
  // A vector instruction takes at most 255 repeats of 64 lanes.
  EXPECT_LE(t.softmax_rows * ((t.block_n + 63) / 64), 255u);
  EXPECT_EQ(t.weight_offset % 512, 0u);
  EXPECT_EQ(t.partial_offset % 512, 0u);
  EXPECT_EQ(plan.workspace_bytes, t.groups * t.group_bytes);
}

TEST(PlanForwardTest, EveryShapeFitsTheBuffers) {
  const Capacities chip = Dav2201(20);
  for (const int64_t head_dim : {1, 16, 40, 64, 80, 128, 192, 256}) {
    for (const int64_t seq : {1, 16, 17, 128, 129, 1000, 4096}) {
      for (const int64_t block_n : {0, 16, 64, 80, 128, 256, 448, 496, 512}) {
        ForwardProblem problem = SelfAttention(8, seq, head_dim);
        problem.block_n = block_n;
        const ForwardPlan plan = PlanForward(problem, chip);
        ASSERT_EQ(plan.error, "") << head_dim << " " << seq << " " << block_n;
        ExpectSound(plan, chip, 2);
      }
    }
  }
}

TEST(PlanForwardTest, EveryCombinationOfTermsDimensionsAndTypesFitsTheBuffers) {
  const Capacities chip = Dav2201(20);
  for (const int64_t head_dim : {1, 128, 192, 256, 576}) {
    for (const int64_t value_dim : {1, 64, 128, 256, 512}) {
      for (uint32_t terms = 0; terms < 32; ++terms) {
        ForwardProblem problem =
            Attention({1, 4, 1000, head_dim}, {1, 4, 1000, head_dim}, {1, 4, 1000, value_dim});
        problem.has_bias = terms & 1;
        problem.has_mask = terms & 2;
        problem.has_alibi = terms & 4;
        problem.softcap = (terms & 8) != 0 ? 20.0f : 0.0f;
        problem.element_bytes = (terms & 16) != 0 ? 4 : 2;
        const ForwardPlan plan = PlanForward(problem, chip);
        ASSERT_EQ(plan.error, "") << head_dim << " " << value_dim << " " << terms;
        ExpectSound(plan, chip, problem.element_bytes);
      }
    }
  }
}

TEST(PlanForwardTest, DefaultBlocksAreNoLongerThanTheSequence) {
  const FlashAttentionTiling t = PlanForward(SelfAttention(1, 20, 64), Dav2201(20)).tiling;
  EXPECT_EQ(t.block_m, 32u);
  EXPECT_EQ(t.block_n, 64u);
  EXPECT_EQ(t.groups, 1u);
}

TEST(PlanForwardTest, WorkspaceDoesNotGrowWithTheSequence) {
  const Capacities chip = Dav2201(24);
  const ForwardPlan small = PlanForward(SelfAttention(32, 4096, 128), chip);
  const ForwardPlan huge = PlanForward(SelfAttention(32, 1 << 20, 128), chip);
  ASSERT_TRUE(small.ok() && huge.ok());
  EXPECT_EQ(small.workspace_bytes, huge.workspace_bytes);
}

TEST(PlanForwardTest, WorkspaceIsBoundedByTheFormulaOfTheDesign) {
  const Capacities chip = Dav2201(24);
  const ForwardPlan plan = PlanForward(SelfAttention(32, 1 << 20, 128), chip);
  ASSERT_EQ(plan.error, "");
  EXPECT_EQ(plan.workspace_bytes, 24u * (6 * (6 * 128 * 512 + 4 * 128 * 128) + 1024));
}

TEST(PlanForwardTest, StridesAre64Bit) {
  // Element counts just around 2^31, and far beyond 2^32.
  for (const int64_t heads : {(1ll << 24) - 1, 1ll << 24, (1ll << 24) + 1}) {
    const ForwardPlan plan = PlanForward(SelfAttention(heads, 1, 128), Dav2201(20));
    ASSERT_EQ(plan.error, "");
    EXPECT_EQ(plan.tiling.q.batch, heads * 128);
  }
  for (const int64_t count : {(1ll << 31) - 1, (1ll << 31) + 1}) {
    // Keys of one element, more than 31 bits of them in all.
    const Axes4 keys{3, 1, count / 3 + 1, 1};
    const ForwardPlan plan = PlanForward(Attention({3, 1, 1, 1}, keys, keys), Dav2201(20));
    ASSERT_EQ(plan.error, "");
    EXPECT_EQ(plan.tiling.k.batch, count / 3 + 1);
  }
  const ForwardPlan plan = PlanForward(SelfAttention(1024, 1 << 20, 128), Dav2201(20));
  ASSERT_EQ(plan.error, "");
  EXPECT_EQ(plan.tiling.k.head, (1ll << 20) * 128);
  EXPECT_EQ(plan.tiling.k.batch, 1024 * (1ll << 20) * 128);
}

TEST(PlanForwardTest, AMillionSquaredScoresHave64BitStrides) {
  ForwardProblem problem = SelfAttention(4, 1 << 20, 64);
  const Axes4 shape{1, 4, 1 << 20, 1 << 20};
  ASSERT_EQ(ReadBias({shape, RowMajor(shape)}, problem), "");
  const ForwardPlan plan = PlanForward(problem, Dav2201(20));
  ASSERT_EQ(plan.error, "");
  EXPECT_EQ(plan.tiling.bias.head, 1ll << 40);
  EXPECT_EQ(plan.tiling.bias.row, 1 << 20);
}

TEST(PlanForwardTest, WindowsBecomeLimits) {
  ForwardProblem problem = SelfAttention(1, 64, 64);
  const auto limits = [&] {
    const FlashAttentionTiling t = PlanForward(problem, Dav2201(20)).tiling;
    return std::pair<int64_t, int64_t>(t.window_left, t.window_right);
  };
  EXPECT_EQ(limits(), std::make_pair(int64_t{-1}, int64_t{-1}));
  problem.causal = true;
  EXPECT_EQ(limits(), std::make_pair(int64_t{-1}, int64_t{0}));
  problem.window_left = 7;
  problem.window_right = 9;  // a causal mask hides more
  EXPECT_EQ(limits(), std::make_pair(int64_t{7}, int64_t{0}));
  problem.causal = false;
  EXPECT_EQ(limits(), std::make_pair(int64_t{7}, int64_t{9}));
  problem.window_left = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(limits(), std::make_pair(int64_t{-1}, int64_t{9}));
}

TEST(PlanForwardTest, RefusalNamesBufferBytesAndLimit) {
  Capacities chip = Dav2201(20);
  chip.ub_bytes = 60000;
  ForwardProblem problem = SelfAttention(1, 1024, 128);
  problem.block_m = 128;
  problem.block_n = 512;
  const std::string ub = PlanForward(problem, chip).error;
  EXPECT_TRUE(Contains(ub, "UB") && Contains(ub, "60000") && Contains(ub, "block_n 512")) << ub;

  chip = Dav2201(20);
  chip.l1_bytes = 100000;
  const std::string l1 = PlanForward(problem, chip).error;
  EXPECT_TRUE(Contains(l1, "L1") && Contains(l1, "100000") && Contains(l1, "block_m 128")) << l1;
}

TEST(PlanForwardTest, WideHeadsShrinkTheBlockOfQueriesUnlessTheCallerSetIt) {
  const Capacities chip = Dav2201(20);
  ForwardProblem problem = Attention({1, 128, 1000, 576}, {1, 1, 1000, 576}, {1, 1, 1000, 512});
  const FlashAttentionTiling t = PlanForward(problem, chip).tiling;
  EXPECT_EQ(t.block_m, 64u);
  EXPECT_EQ(t.product_slots, 4u);
  problem.block_m = 128;
  const std::string l1 = PlanForward(problem, chip).error;
  EXPECT_TRUE(Contains(l1, "L1") && Contains(l1, "block_m 128")) << l1;
  problem = Attention({1, 8, 1000, 64}, {1, 8, 1000, 64}, {1, 8, 1000, 300});
  problem.block_m = 128;
  const std::string products = PlanForward(problem, chip).error;
  EXPECT_TRUE(Contains(products, "L0C") && Contains(products, "262144 bytes needed, 131072"))
      << products;
}

TEST(PlanForwardTest, BadArgumentsAreNamed) {
  const Capacities chip = Dav2201(20);
  const auto refused = [&](const ForwardProblem& problem, const std::string& part) {
    const std::string error = PlanForward(problem, chip).error;
    EXPECT_TRUE(Contains(error, part)) << "'" << error << "' should mention '" << part << "'";
  };
  ForwardProblem problem = SelfAttention(4, 64, 577);
  refused(problem, "head dimension is 577");
  problem = Attention({1, 4, 64, 64}, {1, 4, 64, 64}, {1, 4, 64, 513});
  refused(problem, "value dimension is 513");
  problem = SelfAttention(4, 64, 64);
  problem.softcap = -1.0f;
  refused(problem, "softcap is -1");
  problem.softcap = 1e-30f;
  problem.scale = 1e30f;
  refused(problem, "softcap is 1e-30");
  problem = SelfAttention(4, 64, 64);
  problem.window_left = -2;
  refused(problem, "window is (-2, -1)");
  problem = SelfAttention(4, 0, 64);
  refused(problem, "seq_q is 0");
  problem = SelfAttention(4, 64, 64);
  problem.kv_heads = 3;
  refused(problem, "4 heads");
  problem = SelfAttention(4, 64, 64);
  problem.block_m = 100;
  refused(problem, "block_m is 100");
  problem = SelfAttention(4, 64, 64);
  problem.block_n = 40;
  refused(problem, "block_n is 40");
  problem.block_n = 1024;
  refused(problem, "block_n is 1024");
  problem = SelfAttention(4, 64, 64);
  problem.scale = std::numeric_limits<float>::quiet_NaN();
  refused(problem, "scale");
  problem = SelfAttention(1ll << 20, 64, 64);
  problem.batch = 1 << 20;
  refused(problem, "heads is more than");
}

TEST(ReadTensorsTest, MismatchesAreNamed) {
  ForwardProblem problem;
  const auto read = [&](const Axes4& q, const Axes4& k, const Axes4& v) {
    return ReadTensors({q, RowMajor(q)}, {k, RowMajor(k)}, {v, RowMajor(v)}, false, problem);
  };
  const Axes4 q{2, 8, 100, 64};
  EXPECT_EQ(read(q, {2, 4, 50, 64}, {2, 4, 50, 32}), "");
  EXPECT_EQ(problem.seq_k, 50);
  EXPECT_EQ(problem.kv_heads, 4);
  EXPECT_EQ(problem.value_dim, 32);
  EXPECT_TRUE(Contains(read(q, {2, 8, 50, 64}, {2, 8, 51, 64}), "v [2, 8, 51, 64]"));
  EXPECT_TRUE(Contains(read(q, {3, 8, 50, 64}, {3, 8, 50, 64}), "batch"));
  EXPECT_TRUE(Contains(read(q, {2, 8, 50, 32}, {2, 8, 50, 32}), "head dimension"));
}

TEST(ReadTensorsTest, StridesAreKeptAndBadOnesNamed) {
  ForwardProblem problem;
  const Axes4 shape{2, 3, 5, 64};
  const TensorView plain{shape, RowMajor(shape)};
  TensorView view{shape, {0, 64, 200, 1}};
  ASSERT_EQ(ReadTensors(plain, view, plain, true, problem), "");
  EXPECT_EQ(problem.k.batch, 0);
  EXPECT_EQ(problem.k.row, 200);
  EXPECT_EQ(problem.out.head, 64);
  EXPECT_EQ(problem.out.row, 3 * 64);
  view.strides[3] = 2;
  EXPECT_TRUE(Contains(ReadTensors(plain, view, plain, true, problem), "k has stride 2"));
  view.strides = {1, 64, -64, 1};
  EXPECT_TRUE(Contains(ReadTensors(plain, view, plain, true, problem), "k has a negative stride"));
}

TEST(ReadTermsTest, AxesOfLengthOneRepeat) {
  ForwardProblem problem = SelfAttention(4, 10, 64);
  const Axes4 shape{1, 1, 1, 10};
  ASSERT_EQ(ReadMask({shape, RowMajor(shape)}, problem), "");
  EXPECT_EQ(problem.mask.batch, 0);
  EXPECT_EQ(problem.mask.head, 0);
  EXPECT_EQ(problem.mask.row, 0);
  const Axes4 whole{1, 4, 10, 10};
  ASSERT_EQ(ReadBias({whole, RowMajor(whole)}, problem), "");
  EXPECT_EQ(problem.bias.head, 100);
  EXPECT_EQ(problem.bias.row, 10);
  const Axes4 wrong{1, 2, 10, 10};
  EXPECT_TRUE(Contains(ReadBias({wrong, RowMajor(wrong)}, problem), "bias [1, 2, 10, 10]"));
  const Axes4 column{1, 4, 10, 1};
  EXPECT_TRUE(Contains(ReadMask({column, RowMajor(column)}, problem), "mask [1, 4, 10, 1]"));
}

TEST(ReadTermsTest, SlopesBelongToHeads) {
  ForwardProblem problem = SelfAttention(4, 10, 64);
  EXPECT_EQ(ReadAlibi(0, 4, problem), "");
  EXPECT_EQ(problem.alibi_batch_stride, 0);
  EXPECT_EQ(ReadAlibi(1, 4, problem), "");
  EXPECT_EQ(problem.alibi_batch_stride, 4);
  EXPECT_TRUE(Contains(ReadAlibi(0, 3, problem), "3 slopes"));
  EXPECT_TRUE(Contains(ReadAlibi(2, 4, problem), "2 batches"));
}

}  // namespace
}  // namespace ascendfa
