// Element-wise vector instructions: values, masks, strides, counter mode.
#include "vector_rig.h"

#include <cmath>
#include <limits>

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(VectorUnary, ExpOfKnownValues) {
  on_aiv([] {
    const std::vector<float> in{0, 1, -1, 0.5f, -kInf, 88.0f, 89.5f, -103.0f};
    auto src = put<float>(0, in);
    auto dst = ub<float>(256, 8);
    Exp(dst, src, 8);
    const auto out = take(dst, 8);
    EXPECT_EQ(out[0], 1.0f);
    EXPECT_FLOAT_EQ(out[1], 2.7182817f);
    EXPECT_FLOAT_EQ(out[2], 0.36787945f);
    EXPECT_FLOAT_EQ(out[3], 1.6487213f);
    EXPECT_EQ(out[4], 0.0f);
    EXPECT_FLOAT_EQ(out[5], 1.6516363e38f);
    EXPECT_EQ(out[6], kInf);
    EXPECT_FLOAT_EQ(out[7], 1.8209373e-45f);  // subnormal: 1 unit
  });
}

TEST(VectorUnary, ExpStaysWithinOneUlp) {
  on_aiv([] {
    const uint32_t n = 4096;
    auto src = put<float>(0, iota<float>(n, -87.0f, 0.0427f));
    auto dst = ub<float>(n * 4, n);
    Exp(dst, src, static_cast<int32_t>(n));
    const auto out = take(dst, n);
    for (uint32_t i = 0; i < n; ++i) {
      const double exact = std::exp(static_cast<double>(-87.0f + 0.0427f * static_cast<float>(i)));
      const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
      ASSERT_LE(std::fabs(out[i] - exact), ulp) << i;
    }
  });
}

TEST(VectorUnary, HalfAndRest) {
  on_aiv([] {
    auto src = put<half>(0, {half(4.0f), half(0.25f), half(-2.0f), half(1.0f)});
    auto dst = ub<half>(32, 16);
    Abs(dst, src, 4);
    EXPECT_EQ(floats(take(dst, 4)), (std::vector<float>{4, 0.25f, 2, 1}));
    Relu(dst, src, 4);
    EXPECT_EQ(floats(take(dst, 4)), (std::vector<float>{4, 0.25f, 0, 1}));
    Sqrt(dst, src, 2);
    EXPECT_EQ(floats(take(dst, 2)), (std::vector<float>{2, 0.5f}));
    Rsqrt(dst, src, 2);
    EXPECT_EQ(floats(take(dst, 2)), (std::vector<float>{0.5f, 2}));
    Reciprocal(dst, src, 3);
    EXPECT_EQ(floats(take(dst, 3)), (std::vector<float>{0.25f, 4, -0.5f}));
    Ln(dst, src, 4);
    EXPECT_NEAR(take(dst, 1)[0], 1.3862944f, 1e-3);
    auto bits = put<uint16_t>(96, {0x00ff, 0xf0f0});
    auto inverted = ub<uint16_t>(128, 2);
    Not(inverted, bits, 2);
    EXPECT_EQ(take(inverted, 2), (std::vector<uint16_t>{0xff00, 0x0f0f}));
  });
}

TEST(VectorMask, LanesOutsideTheMaskKeepTheDestination) {
  on_aiv([] {
    auto src = put<float>(0, iota<float>(128));
    auto dst = put<float>(512, constant<float>(128, -7));
    Adds(dst, src, 100.0f, uint64_t{5}, 2, {1, 1, 8, 8});
    const auto out = take(dst, 128);
    for (uint32_t i = 0; i < 128; ++i)
      ASSERT_EQ(out[i], i % 64 < 5 ? static_cast<float>(i) + 100 : -7) << i;
  });
}

TEST(VectorMask, BitMaskSelectsSingleElements) {
  on_aiv([] {
    auto src = put<half>(0, iota<half>(128));
    auto dst = put<half>(256, constant<half>(128, -1));
    uint64_t mask[2] = {0x5, uint64_t{1} << 63};  // elements 0, 2 and 127
    Muls(dst, src, half(2.0f), mask, 1, {1, 1, 8, 8});
    const auto out = floats(take(dst, 128));
    EXPECT_EQ(out[0], 0);
    EXPECT_EQ(out[1], -1);
    EXPECT_EQ(out[2], 4);
    EXPECT_EQ(out[126], -1);
    EXPECT_EQ(out[127], 254);
  });
}

TEST(VectorMask, ZeroMaskAndZeroRepeatsDoNothing) {
  on_aiv([] {
    auto src = put<float>(0, constant<float>(64, 1));
    auto dst = put<float>(256, constant<float>(64, 9));
    Adds(dst, src, 1.0f, uint64_t{0}, 1, {1, 1, 8, 8});
    Adds(dst, src, 1.0f, uint64_t{64}, 0, {1, 1, 8, 8});
    Adds(dst, src, 1.0f, 0);
    EXPECT_EQ(take(dst, 64), constant<float>(64, 9));
  });
}

TEST(VectorMask, MaskSetOutsideTheCall) {
  on_aiv([] {
    auto src = put<float>(0, iota<float>(64));
    auto dst = put<float>(256, constant<float>(64, 0));
    SetMaskNorm();
    SetVectorMask<float, MaskMode::NORMAL>(0, 0xff00);
    Adds<float, false>(dst, src, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
    ResetMask();
    const auto out = take(dst, 64);
    for (uint32_t i = 0; i < 64; ++i)
      ASSERT_EQ(out[i], i >= 8 && i < 16 ? static_cast<float>(i) + 1 : 0) << i;
  });
}

TEST(VectorMask, CounterModeCountsElementsAndIgnoresRepeats) {
  on_aiv([] {
    auto src = put<half>(0, iota<half>(300));
    auto dst = put<half>(1024, constant<half>(300, -1));
    SetMaskCount();
    uint64_t mask[2] = {130, 0};
    Adds<half, true>(dst, src, half(0.5f), mask, 1, {1, 1, 8, 8});
    SetMaskNorm();
    const auto out = floats(take(dst, 300));
    EXPECT_EQ(out[129], 129.5f);
    EXPECT_EQ(out[130], -1);
    // The same through the register, with a gap of one block after every block.
    auto wide = put<half>(4096, constant<half>(600, -1));
    SetMaskCount();
    SetVectorMask<half, MaskMode::COUNTER>(130);
    Adds<half, false>(wide, src, half(0.5f), MASK_PLACEHOLDER, 1, {2, 1, 16, 8});
    SetMaskNorm();
    ResetMask();
    const auto gapped = floats(take(wide, 600));
    EXPECT_EQ(gapped[15], 15.5f);
    EXPECT_EQ(gapped[16], -1);
    EXPECT_EQ(gapped[32], 16.5f);
    EXPECT_EQ(gapped[256], 128.5f);
    EXPECT_EQ(gapped[257], 129.5f);
    EXPECT_EQ(gapped[258], -1);
  });
}

TEST(VectorMask, FirstNInterfaceLeavesTheMaskFull) {
  on_aiv([] {
    auto src = put<float>(0, iota<float>(64));
    auto dst = put<float>(256, constant<float>(64, 0));
    SetVectorMask<float>(0, 1);
    Adds(dst, src, 1.0f, 3);
    PipeBarrier<PIPE_V>();
    Muls<float, false>(dst, src, 2.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
    EXPECT_EQ(take(dst, 64)[63], 126);
  });
}

TEST(VectorBinary, StridedRepeatsBroadcastARowValue) {
  on_aiv([] {
    // Row r minus the block of its own value, as attention subtracts a row maximum.
    auto rows = put<float>(0, iota<float>(3 * 64));
    auto maxima = put<float>(1024, {10, 20, 30, 0, 0, 0, 0, 0});
    auto blocks = ub<float>(2048, 64);
    Brcb(blocks, maxima, 1, {1, 8});
    PipeBarrier<PIPE_V>();
    Sub(rows, rows, blocks, uint64_t{64}, 3, {1, 1, 0, 8, 8, 1});
    const auto out = take(rows, 192);
    for (uint32_t i = 0; i < 192; ++i)
      ASSERT_EQ(out[i], static_cast<float>(i) - 10.0f * static_cast<float>(i / 64 + 1)) << i;
  });
}

TEST(VectorBinary, Operations) {
  on_aiv([] {
    auto a = put<float>(0, {6, -3, 1, 0.5f});
    auto b = put<float>(32, {2, 4, -1, 0.25f});
    auto d = ub<float>(64, 8);
    Mul(d, a, b, 4);
    EXPECT_EQ(take(d, 4), (std::vector<float>{12, -12, -1, 0.125f}));
    Div(d, a, b, 4);
    EXPECT_EQ(take(d, 4), (std::vector<float>{3, -0.75f, -1, 2}));
    Max(d, a, b, 4);
    EXPECT_EQ(take(d, 4), (std::vector<float>{6, 4, 1, 0.5f}));
    Min(d, a, b, 4);
    EXPECT_EQ(take(d, 4), (std::vector<float>{2, -3, -1, 0.25f}));
    AddRelu(d, a, b, 4);
    EXPECT_EQ(take(d, 4), (std::vector<float>{8, 1, 0, 0.75f}));
    MulAddDst(d, a, b, 4);
    EXPECT_EQ(take(d, 4), (std::vector<float>{20, -11, -1, 0.875f}));
    FusedMulAdd(d, a, b, 4);  // d = a * d + b
    EXPECT_EQ(take(d, 4), (std::vector<float>{122, 37, -2, 0.6875f}));
    auto i = put<int32_t>(128, {INT32_MAX, -5});
    auto j = put<int32_t>(160, {1, 7});
    auto k = ub<int32_t>(192, 8);
    Add(k, i, j, 2);
    EXPECT_EQ(take(k, 2), (std::vector<int32_t>{INT32_MIN, 2}));
    auto m = put<uint16_t>(224, {0x0ff0});
    auto n = put<uint16_t>(256, {0x00ff});
    auto o = ub<uint16_t>(288, 1);
    And(o, m, n, 1);
    EXPECT_EQ(take(o, 1)[0], 0x00f0);
    Or(o, m, n, 1);
    EXPECT_EQ(take(o, 1)[0], 0x0fff);
  });
}

TEST(VectorBinary, HalfProductsAccumulateInFloat) {
  on_aiv([] {
    auto a = put<half>(0, constant<half>(64, 256));
    auto b = put<half>(128, constant<half>(64, 512));
    auto d = put<float>(256, constant<float>(64, 1));
    MulAddDst(d, a, b, uint64_t{64}, 1, {1, 1, 1, 8, 4, 4});
    EXPECT_EQ(take(d, 64), constant<float>(64, 131073));  // beyond what a half holds
  });
}

TEST(VectorBinary, NarrowedResults) {
  on_aiv([] {
    auto a = put<float>(0, {1.5f, -3, 2.25f});
    auto b = put<float>(32, {1, 1, 0.25f});
    auto h = ub<half>(64, 16);
    AddReluCast(h, a, b, 3u);
    EXPECT_EQ(floats(take(h, 3)), (std::vector<float>{2.5f, 0, 2.5f}));
    SubReluCast(h, a, b, 3u);
    EXPECT_EQ(floats(take(h, 3)), (std::vector<float>{0.5f, 0, 2}));
    auto x = put<half>(128, {half(30.0f), half(-3.0f), half(0.5f)});
    auto y = put<half>(160, {half(10.0f), half(2.0f), half(3.0f)});
    auto z = ub<int8_t>(192, 32);
    MulCast(z, x, y, 3u);
    EXPECT_EQ(take(z, 3), (std::vector<int8_t>{127, -6, 2}));  // saturates; 1.5 to even
  });
}

TEST(VectorBinary, HalfOverflowsToInfinity) {
  on_aiv([] {
    auto a = put<half>(0, constant<half>(16, 60000));
    Add(a, a, a, 16);
    EXPECT_EQ(float(take(a, 1)[0]), kInf);
  });
}

TEST(VectorBinary, AccumulatesOverRepeatsThroughTheSecondSource) {
  on_aiv([] {
    auto values = put<float>(0, iota<float>(256));
    auto sum = put<float>(2048, constant<float>(64, 0));
    Add(sum, values, sum, uint64_t{64}, 4, {1, 1, 1, 0, 8, 0});
    EXPECT_EQ(take(sum, 64)[1], 1 + 65 + 129 + 193);
  });
}

TEST(VectorScalar, ShiftsAndLimits) {
  on_aiv([] {
    auto a = put<int32_t>(0, {-8, 5, 7});
    auto d = ub<int32_t>(32, 8);
    ShiftRight(d, a, 1, 3);
    EXPECT_EQ(take(d, 3), (std::vector<int32_t>{-4, 2, 3}));
    ShiftRight(d, a, 1, uint64_t{3}, 1, {1, 1, 8, 8}, true);
    EXPECT_EQ(take(d, 3), (std::vector<int32_t>{-4, 3, 4}));
    ShiftLeft(d, a, 4, 3);
    EXPECT_EQ(take(d, 3), (std::vector<int32_t>{-128, 80, 112}));
    auto f = put<float>(64, {-4, 3});
    auto g = ub<float>(96, 8);
    Maxs(g, f, 0.0f, 2);
    EXPECT_EQ(take(g, 2), (std::vector<float>{0, 3}));
    Mins(g, f, 0.0f, 2);
    EXPECT_EQ(take(g, 2), (std::vector<float>{-4, 0}));
    LeakyRelu(g, f, 0.5f, 2);
    EXPECT_EQ(take(g, 2), (std::vector<float>{-2, 3}));
    Axpy(g, f, 2.0f, 2);
    EXPECT_EQ(take(g, 2), (std::vector<float>{-10, 9}));
  });
}

}  // namespace

namespace {

TEST(VectorWork, DescribesClassRepeatsConflictAndMode) {
  auto k = vector_kernel(
      [] {
        auto a = ub<float>(0, 64), b = ub<float>(512, 64), c = ub<float>(768, 64);
        Exp(a, a, uint64_t{64}, 1, {1, 1, 8, 8});
        Add(c, a, b, uint64_t{64}, 1, {1, 1, 1, 8, 8, 8});  // 512 bytes apart: the same groups
        Add(a, b, c, uint64_t{64}, 1, {1, 1, 1, 8, 8, 8});  // 256 apart: the other eight
        Muls(a, a, 2.0f, 100);
        Muls(a, a, 2.0f, 128);  // whole repeats
        // One block against rows of 256 bytes: it meets every second row, and the sixth of six not.
        auto rows = ub<float>(2048, 6 * 64), out = ub<float>(8192 + 256, 6 * 64);
        Add(out, rows, a, uint64_t{64}, 6, {1, 1, 0, 8, 8, 0});
      },
      dav::Mode::Fast);
  k.spec.profile = true;
  const dav::LaunchResult result = k.run();
  std::vector<dav::Work> work;
  for (const dav::CoreTrace& core : result.traces)
    for (const dav::TraceRecord& record : core.records)
      if (record.work.kind == dav::WorkKind::Vector) work.push_back(record.work);
  ASSERT_EQ(work.size(), 6u);
  EXPECT_EQ(work[0].vector, dav::VectorClass::Exp);
  EXPECT_EQ(work[0].repeats, 1u);
  EXPECT_FALSE(work[0].partial_count);
  EXPECT_EQ(work[1].bank_conflicts, work[1].repeats);
  EXPECT_EQ(work[2].bank_conflicts, 0u);
  EXPECT_EQ(work[3].repeats, 2u);
  EXPECT_TRUE(work[3].partial_count);
  EXPECT_EQ(work[4].repeats, 2u);
  EXPECT_FALSE(work[4].partial_count);
  EXPECT_EQ(work[5].bank_conflicts, 3u);
}

}  // namespace
