// Reductions, compare, select, fills and casts.
#include "vector_rig.h"

#include <cstring>

namespace {

uint32_t as_index(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}

TEST(VectorReduce, WholeRepeatMaximumWithIndexInEveryOrder) {
  on_aiv([] {
    std::vector<float> in = iota<float>(128, -200);
    in[17] = 5;
    in[40] = 5;  // the lower index wins
    in[64 + 63] = 7;
    auto src = put<float>(0, in);
    auto dst = put<float>(1024, constant<float>(8, 0));
    WholeReduceMax(dst, src, 64, 2, 1, 1, 8);
    auto out = take(dst, 4);
    EXPECT_EQ(out[0], 5);
    EXPECT_EQ(as_index(out[1]), 17u);
    EXPECT_EQ(out[2], 7);
    EXPECT_EQ(as_index(out[3]), 63u);
    WholeReduceMax(dst, src, 64, 2, 1, 1, 8, ReduceOrder::ORDER_INDEX_VALUE);
    out = take(dst, 4);
    EXPECT_EQ(as_index(out[0]), 17u);
    EXPECT_EQ(out[1], 5);
    WholeReduceMax(dst, src, 64, 2, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    out = take(dst, 2);
    EXPECT_EQ(out, (std::vector<float>{5, 7}));
    WholeReduceMax(dst, src, 64, 2, 1, 1, 8, ReduceOrder::ORDER_ONLY_INDEX);
    out = take(dst, 2);
    EXPECT_EQ(as_index(out[0]), 17u);
    EXPECT_EQ(as_index(out[1]), 63u);
    WholeReduceMin(dst, src, 16, 1, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    EXPECT_EQ(take(dst, 1)[0], -200);
    float value = 0, index = 0;
    GetReduceRepeatMaxMinSpr(value, index);
    EXPECT_EQ(value, -200);
    EXPECT_EQ(as_index(index), 0u);
  });
}

TEST(VectorReduce, HalfIndexIsStoredAsSixteenBits) {
  on_aiv([] {
    std::vector<half> in = constant<half>(128, 1);
    in[114] = half(3.0f);
    auto src = put<half>(0, in);
    auto dst = put<half>(512, constant<half>(4, 0));
    WholeReduceMax(dst, src, 128, 1, 1, 1, 8);
    const auto out = take(dst, 2);
    EXPECT_EQ(float(out[0]), 3);
    EXPECT_EQ(out[1].bits, 114);
  });
}

TEST(VectorReduce, SumAddsAsABinaryTree) {
  on_aiv([] {
    // Left to right 2^24 + 1 + 1 loses both ones; the tree adds them to each other first.
    std::vector<float> in = constant<float>(64, 0);
    in[0] = 16777216.0f;
    in[2] = 1;
    in[3] = 1;
    auto src = put<float>(0, in);
    auto dst = put<float>(512, constant<float>(8, 0));
    WholeReduceSum(dst, src, 64, 1, 1, 1, 8);
    EXPECT_EQ(take(dst, 1)[0], 16777218.0f);
    // Halves round at every level: 2048 + 1 is 2048.
    std::vector<half> h = constant<half>(128, 0);
    h[0] = half(2048.0f);
    h[1] = half(1.0f);
    h[2] = half(1.0f);
    auto hs = put<half>(1024, h);
    auto hd = put<half>(2048, constant<half>(2, 0));
    WholeReduceSum(hd, hs, 128, 1, 1, 1, 8);
    EXPECT_EQ(float(take(hd, 1)[0]), 2048.0f);
  });
}

TEST(VectorReduce, BlocksWithoutActiveElementsKeepTheDestination) {
  on_aiv([] {
    auto src = put<float>(0, iota<float>(128));
    auto dst = put<float>(1024, constant<float>(16, -1));
    BlockReduceMax(dst, src, 2, 20, 1, 1, 8);
    EXPECT_EQ(take(dst, 16), (std::vector<float>{7, 15, 19, -1, -1, -1, -1, -1,  //
                                                 71, 79, 83, -1, -1, -1, -1, -1}));
    BlockReduceSum(dst, src, 1, 64, 1, 1, 8);
    EXPECT_EQ(take(dst, 8), (std::vector<float>{28, 92, 156, 220, 284, 348, 412, 476}));
    auto pairs = put<float>(2048, constant<float>(32, -1));
    PairReduceSum(pairs, src, 1, 5, 1, 1, 8);
    EXPECT_EQ(take(pairs, 4), (std::vector<float>{1, 5, 4, -1}));
  });
}

TEST(VectorReduce, WholeTensor) {
  on_aiv([] {
    std::vector<float> in = iota<float>(1000);
    in[777] = 5000;
    auto src = put<float>(0, in);
    auto work = ub<float>(8192, 256);
    auto dst = put<float>(16384, constant<float>(8, 0));
    ReduceMax(dst, src, work, 1000, true);
    const auto out = take(dst, 2);
    EXPECT_EQ(out[0], 5000);
    EXPECT_EQ(as_index(out[1]), 777u);
    ReduceSum(dst, src, work, 1000);
    EXPECT_EQ(take(dst, 1)[0], 499500 - 777 + 5000);
    ReduceMin(dst, src, work, 1000);
    EXPECT_EQ(take(dst, 1)[0], 0);
  });
}

TEST(VectorFill, DuplicateIndexAndCopy) {
  on_aiv([] {
    auto a = put<float>(0, constant<float>(128, -1));
    Duplicate(a, 3.5f, uint64_t{2}, 2, 1, 8);
    auto out = take(a, 128);
    EXPECT_EQ(out[1], 3.5f);
    EXPECT_EQ(out[2], -1);
    EXPECT_EQ(out[65], 3.5f);
    auto index = ub<int32_t>(1024, 100);
    CreateVecIndex(index, 10, 100u);
    EXPECT_EQ(take(index, 100)[99], 109);
    auto steps = ub<float>(2048, 100);
    ArithProgression(steps, 1.0f, 0.5f, 100);
    EXPECT_EQ(take(steps, 100), iota<float>(100, 1, 0.5f));
    auto copy = put<float>(4096, constant<float>(128, 0));
    Copy(copy, a, 64, 2, {1, 1, 8, 8});
    EXPECT_EQ(take(copy, 128), out);
  });
}

TEST(VectorFill, BrcbSpreadsEightElementsARepeat) {
  on_aiv([] {
    auto src = put<half>(0, iota<half>(16));
    auto dst = put<half>(1024, constant<half>(512, -1));
    Brcb(dst, src, 2, {2, 16});
    const auto out = floats(take(dst, 512));
    for (uint32_t i = 0; i < 512; ++i)
      ASSERT_EQ(out[i], i / 16 % 2 ? -1 : static_cast<float>(i / 32)) << i;
  });
}

TEST(VectorCompare, BitsAreLittleEndian) {
  on_aiv([] {
    // The example of the API reference: 2 3 5 7 11 13 17 19 against 2 4 6 ... 16.
    std::vector<float> a = constant<float>(64, 0), b = constant<float>(64, 0);
    const float primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
    for (int i = 0; i < 8; ++i) {
      a[static_cast<size_t>(i)] = primes[i];
      b[static_cast<size_t>(i)] = static_cast<float>(2 * i + 2);
    }
    auto x = put<float>(0, a);
    auto y = put<float>(256, b);
    auto d = ub<uint8_t>(512, 32);
    const std::pair<CMPMODE, uint8_t> expected[] = {{CMPMODE::GT, 240}, {CMPMODE::GE, 241},
                                                    {CMPMODE::LE, 15},  {CMPMODE::EQ, 1},
                                                    {CMPMODE::NE, 254}, {CMPMODE::LT, 14}};
    for (const auto& [mode, byte] : expected) {
      Compare(d, x, y, mode, 64u);
      EXPECT_EQ(take(d, 8)[0], byte);
    }
    CompareScalar(d, x, 11.0f, CMPMODE::GE, 64u);
    EXPECT_EQ(take(d, 8)[0], 0xf0);
  });
}

TEST(VectorSelect, AllModes) {
  on_aiv([] {
    auto a = put<float>(0, iota<float>(128));
    auto b = put<float>(512, constant<float>(128, -1));
    auto d = put<float>(1024, constant<float>(128, 0));
    std::vector<uint8_t> bits(32, 0);
    bits[0] = 0x03;   // elements 0 and 1
    bits[15] = 0x80;  // element 127
    auto m = put<uint8_t>(2048, bits);
    Select(d, m, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, 128u);
    auto out = take(d, 128);
    EXPECT_EQ(out[1], 1);
    EXPECT_EQ(out[2], -1);
    EXPECT_EQ(out[64], -1);
    EXPECT_EQ(out[127], 127);
    Select(d, m, a, 9.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 128u);
    out = take(d, 128);
    EXPECT_EQ(out[2], 9);
    EXPECT_EQ(out[127], 127);
    // Mode 0 uses the first 64 bits for every repeat.
    Select(d, m, a, b, SELMODE::VSEL_CMPMASK_SPR, 128u);
    out = take(d, 128);
    EXPECT_EQ(out[65], 65);
    EXPECT_EQ(out[127], -1);
    // Lanes outside the mask keep the destination.
    auto e = put<float>(4096, constant<float>(64, 50));
    Select(e, m, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, uint64_t{3}, 1, {1, 1, 1, 8, 8, 8});
    EXPECT_EQ(take(e, 4), (std::vector<float>{0, 1, -1, 50}));
  });
}

TEST(VectorCast, RoundingModes) {
  on_aiv([] {
    auto src = put<float>(0, {0.5f, 1.5f, -0.5f, -1.5f, 2.3f, -2.3f, 3e9f, -3e9f});
    auto dst = ub<int32_t>(256, 8);
    const std::pair<RoundMode, std::vector<int32_t>> expected[] = {
        {RoundMode::CAST_RINT, {0, 2, 0, -2, 2, -2}},
        {RoundMode::CAST_FLOOR, {0, 1, -1, -2, 2, -3}},
        {RoundMode::CAST_CEIL, {1, 2, 0, -1, 3, -2}},
        {RoundMode::CAST_ROUND, {1, 2, -1, -2, 2, -2}},
        {RoundMode::CAST_TRUNC, {0, 1, 0, -1, 2, -2}}};
    for (const auto& [mode, values] : expected) {
      Cast(dst, src, mode, 8u);
      const auto out = take(dst, 8);
      EXPECT_EQ(std::vector<int32_t>(out.begin(), out.begin() + 6), values);
      EXPECT_EQ(out[6], INT32_MAX);
      EXPECT_EQ(out[7], INT32_MIN);
    }
  });
}

TEST(VectorCast, SixteenBitFloats) {
  on_aiv([] {
    // 1 + 2^-11 is half way between two halves, 1 + 3 * 2^-12 above it.
    auto src = put<float>(0, {1.00048828125f, 1.000732421875f, 65520.0f, 3e-8f});
    auto h = ub<half>(64, 8);
    Cast(h, src, RoundMode::CAST_NONE, 4u);
    auto out = take(h, 4);
    EXPECT_EQ(out[0].bits, 0x3c00);
    EXPECT_EQ(out[1].bits, 0x3c01);
    EXPECT_EQ(out[2].bits, 0x7c00);
    EXPECT_EQ(out[3].bits, 0x0001);
    Cast(h, src, RoundMode::CAST_TRUNC, 4u);
    out = take(h, 4);
    EXPECT_EQ(out[1].bits, 0x3c00);
    EXPECT_EQ(out[2].bits, 0x7bff);
    EXPECT_EQ(out[3].bits, 0x0000);
    Cast(h, src, RoundMode::CAST_ODD, 4u);
    out = take(h, 4);
    EXPECT_EQ(out[0].bits, 0x3c01);
    EXPECT_EQ(out[3].bits, 0x0001);
    Cast(h, src, RoundMode::CAST_CEIL, 4u);
    EXPECT_EQ(take(h, 1)[0].bits, 0x3c01);
    auto b = ub<bfloat16_t>(128, 8);
    Cast(b, src, RoundMode::CAST_RINT, 4u);
    EXPECT_EQ(take(b, 4)[2].bits, 0x4780);  // 65536
    auto back = ub<float>(192, 8);
    Cast(back, h, RoundMode::CAST_NONE, 4u);
    EXPECT_EQ(take(back, 1)[0], 1.0009765625f);
  });
}

TEST(VectorCast, StridesFollowTheWiderType) {
  on_aiv([] {
    auto src = put<half>(0, iota<half>(128));
    auto dst = put<float>(1024, constant<float>(128, -1));
    Cast(dst, src, RoundMode::CAST_NONE, uint64_t{64}, 2, {1, 1, 8, 4});
    EXPECT_EQ(take(dst, 128), iota<float>(128));
    auto bytes = ub<int8_t>(2048, 128);
    auto wide = put<half>(4096, constant<half>(128, 200));
    Cast(bytes, wide, RoundMode::CAST_NONE, 128u);
    EXPECT_EQ(take(bytes, 128)[127], 127);  // saturates
    auto numbers = put<int32_t>(5120, {100, -3});
    auto scaled = ub<half>(5152, 16);
    SetDeqScale(half(0.5f));
    Cast(scaled, numbers, RoundMode::CAST_NONE, 2u);
    EXPECT_EQ(floats(take(scaled, 2)), (std::vector<float>{50, -1.5f}));
  });
}

}  // namespace
