// What the API reference states for single vector instructions, on arch 2201.
#include "vector_rig.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

template <typename T, typename Op>
std::vector<T> shifted(const std::vector<T>& values, const Op& op) {
  auto dst = ub<T>(4096, 64);
  op(dst, put<T>(0, values));
  return take(dst, static_cast<uint32_t>(values.size()));
}

TEST(VectorReference, ShiftLeftKeepsTheSignOfSignedElements) {
  on_aiv([] {
    const auto x = static_cast<int16_t>(0b1010101010101010);
    const auto by = [](int16_t n) {
      return [n](const LocalTensor<int16_t>& d, const LocalTensor<int16_t>& s) {
        ShiftLeft(d, s, n, 2);
      };
    };
    EXPECT_EQ(shifted<int16_t>({x, 0x4001}, by(1)),
              (std::vector<int16_t>{static_cast<int16_t>(0b1101010101010100), 2}));
    EXPECT_EQ(shifted<int16_t>({x, 0x4001}, by(3)),
              (std::vector<int16_t>{static_cast<int16_t>(0b1101010101010000), 8}));
    const auto logical = [](const LocalTensor<uint16_t>& d, const LocalTensor<uint16_t>& s) {
      ShiftLeft(d, s, uint16_t{1}, 1);
    };
    EXPECT_EQ(shifted<uint16_t>({0b1010101010101010}, logical),
              (std::vector<uint16_t>{0b0101010101010100}));
    const auto words = [](const LocalTensor<int32_t>& d, const LocalTensor<int32_t>& s) {
      ShiftLeft(d, s, 32, 2);
    };
    EXPECT_EQ(shifted<int32_t>({-1, 1}, words), (std::vector<int32_t>{INT32_MIN, 0}));
  });
}

TEST(VectorReference, ShiftRightRoundsSignedElementsOnly) {
  on_aiv([] {
    const auto rounded = [](const auto& d, const auto& s) {
      using T = typename std::decay_t<decltype(d)>::PrimType;
      ShiftRight(d, s, T{5}, uint64_t{1}, 1, {1, 1, 8, 8}, true);
    };
    EXPECT_EQ(shifted<int16_t>({17}, rounded), (std::vector<int16_t>{1}));
    EXPECT_EQ(shifted<uint16_t>({17}, rounded), (std::vector<uint16_t>{0}));
    EXPECT_EQ(shifted<uint32_t>({17}, rounded), (std::vector<uint32_t>{0}));
  });
}

// SetCtrlSpr, SetSaturationFlag: without infinities results are +-MAX, and NaN is 0.
TEST(VectorReference, SaturationModeOfFloats) {
  on_aiv([] {
    EXPECT_FALSE(GetSaturationFlag<SaturationMode::FLOAT>());
    SetSaturationFlag<SaturationMode::FLOAT>(true);
    EXPECT_EQ((GetCtrlSpr<48, 48>()), 0);
    auto large = put<half>(0, {half(60000.0f), half(-60000.0f)});
    auto dst = ub<half>(512, 16);
    Add(dst, large, large, 2);
    EXPECT_EQ(floats(take(dst, 2)), (std::vector<float>{65504, -65504}));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    auto wide = put<float>(1024, {1e30f, nan, INFINITY, 3e38f, 3.4e38f, -INFINITY});
    Cast(dst, wide, RoundMode::CAST_NONE, 3u);
    EXPECT_EQ(floats(take(dst, 3)), (std::vector<float>{65504, 0, 65504}));
    auto brain = ub<bfloat16_t>(1536, 16);
    Cast(brain, wide, RoundMode::CAST_RINT, 6u);
    const float most = std::ldexp(255.0f, 120);
    const auto out = floats(take(brain, 6));
    EXPECT_EQ(out[1], 0);
    EXPECT_EQ(out[2], most);
    EXPECT_EQ(out[4], most);
    EXPECT_EQ(out[5], -most);
    SetCtrlSpr<48, 48>(1);
    Add(dst, large, large, 2);
    EXPECT_EQ(floats(take(dst, 2)), (std::vector<float>{INFINITY, -INFINITY}));
  });
}

TEST(VectorReference, ConversionsToIntegersKeepLowBitsWithoutSaturation) {
  on_aiv([] {
    auto words = put<int32_t>(0, {0x12345678, -1});
    auto dst = ub<int16_t>(512, 16);
    Cast(dst, words, RoundMode::CAST_NONE, 2u);
    EXPECT_EQ(take(dst, 2), (std::vector<int16_t>{INT16_MAX, -1}));
    SetSaturationFlag<SaturationMode::CAST>(false);
    EXPECT_FALSE(GetSaturationFlag<SaturationMode::CAST>());
    Cast(dst, words, RoundMode::CAST_NONE, 2u);
    EXPECT_EQ(take(dst, 2), (std::vector<int16_t>{0x5678, -1}));
    auto halves = put<half>(1024, {half(300.0f), half(-129.0f)});
    auto bytes = ub<int8_t>(1536, 32);
    Cast(bytes, halves, RoundMode::CAST_NONE, 2u);
    EXPECT_EQ(take(bytes, 2), (std::vector<int8_t>{44, 127}));
  });
}

TEST(VectorReference, WholeTensorOperators) {
  on_aiv([] {
    auto a = put<float>(0, iota<float>(64)), b = put<float>(256, constant<float>(64, 2));
    auto dst = ub<float>(512, 64);
    dst = a + b;
    EXPECT_EQ(take(dst, 64), iota<float>(64, 2));
    dst = a - b;
    EXPECT_EQ(take(dst, 64), iota<float>(64, -2));
    dst = a * b;
    EXPECT_EQ(take(dst, 64), iota<float>(64, 0, 2));
    dst = a / b;
    EXPECT_EQ(take(dst, 64), iota<float>(64, 0, 0.5f));
    auto bits = ub<uint8_t>(1024, 32);
    bits = a < b;
    EXPECT_EQ(take(bits, 2), (std::vector<uint8_t>{3, 0}));
    bits = a == b;
    EXPECT_EQ(take(bits, 2), (std::vector<uint8_t>{4, 0}));
    bits = a >= b;
    EXPECT_EQ(take(bits, 2), (std::vector<uint8_t>{0xfc, 0xff}));
    auto x = put<uint16_t>(2048, {12, 10}), y = put<uint16_t>(2560, {10, 5});
    auto z = ub<uint16_t>(3072, 2);
    z = x & y;
    EXPECT_EQ(take(z, 2), (std::vector<uint16_t>{8, 0}));
    z = x | y;
    EXPECT_EQ(take(z, 2), (std::vector<uint16_t>{14, 15}));
    const LocalTensor<float> same = a;
    dst = same;
    EXPECT_EQ(dst.GetPhyAddr(), 0u);
  });
}

// And, Or of 32-bit elements count halves of them.
TEST(VectorReference, WordsInLogicCountAsTwo) {
  on_aiv([] {
    auto a = put<int32_t>(0, {0x0f0f0f0f, -1}), b = put<int32_t>(256, {0x00ffff00, 0x12345678});
    auto dst = put<int32_t>(512, {7, 7});
    And(dst, a, b, 3);
    EXPECT_EQ(take(dst, 2), (std::vector<int32_t>{0x000f0f00, 0x5678}));
    Or(dst, a, b, 2);
    EXPECT_EQ(take(dst, 1), (std::vector<int32_t>{0x0fffff0f}));
    auto both = ub<int32_t>(1024, 2);
    both = a & b;
    EXPECT_EQ(take(both, 2), (std::vector<int32_t>{0x000f0f00, 0x12345678}));
  });
}

TEST(VectorReference, ReduceSumWithItsMaskSetOutside) {
  on_aiv([] {
    auto a = put<float>(0, iota<float>(200, 1));
    auto work = ub<float>(8192, 8), dst = ub<float>(4096, 8);
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(100);
    ReduceSum<float, false>(dst, a, work, 1);
    SetMaskNorm();
    ResetMask();
    EXPECT_EQ(take(dst, 1), (std::vector<float>{5050}));
  });
}

TEST(VectorReference, GatherMaskLeavesItsMaskInTheRegister) {
  on_aiv([] {
    auto a = put<float>(0, iota<float>(64));
    auto dst = ub<float>(1024, 64);
    uint64_t kept = 0;
    GatherMask(dst, a, uint8_t{7}, true, 3, {1, 1, 8, 8}, kept);
    EXPECT_EQ(kept, 3u);
    auto b = put<float>(2048, constant<float>(64, 1));
    // The lowest two bits are on.
    Adds<float, false>(b, b, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
    EXPECT_EQ(take(b, 4), (std::vector<float>{2, 2, 1, 1}));
    ResetMask();
  });
}

// Reciprocal, Rsqrt: farther off than 1/1000 in half and 1/10000 in float.
TEST(VectorReference, ReciprocalsAreApproximations) {
  const auto worst = [](const auto& values, const auto& op, bool root) {
    using T = std::decay_t<decltype(values[0])>;
    auto dst = ub<T>(4096, 128);
    op(dst, put<T>(0, values));
    const auto out = floats(take(dst, static_cast<uint32_t>(values.size())));
    float error = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto x = static_cast<float>(values[i]);
      const float exact = 1.0f / (root ? std::sqrt(x) : x);
      error = std::max(error, std::abs(out[i] / exact - 1.0f));
    }
    return error;
  };
  on_aiv([&] {
    const auto reciprocal = [](const auto& d, const auto& s) { Reciprocal(d, s, 100); };
    const auto rsqrt = [](const auto& d, const auto& s) { Rsqrt(d, s, 100); };
    for (bool root : {false, true}) {
      const auto f = iota<float>(100, 1), h = iota<float>(100, 1);
      const std::vector<half> halves(h.begin(), h.end());
      const float single = root ? worst(f, rsqrt, true) : worst(f, reciprocal, false);
      const float brief = root ? worst(halves, rsqrt, true) : worst(halves, reciprocal, false);
      EXPECT_GT(single, 1e-4f);
      EXPECT_LT(single, 3e-4f);
      EXPECT_GT(brief, 1e-3f);
      EXPECT_LT(brief, 3e-3f);
    }
    // Infinities and zeros as ever.
    auto src = put<float>(0, {0.0f, -0.0f, INFINITY, -4.0f});
    auto dst = ub<float>(512, 8);
    Reciprocal(dst, src, 4);
    EXPECT_EQ(take(dst, 4), (std::vector<float>{INFINITY, -INFINITY, 0, -0.25f}));
  });
}

}  // namespace
