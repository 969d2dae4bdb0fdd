// What the API reference states for single vector instructions, on arch 2201.
#include "vector_rig.h"

#include <cmath>
#include <limits>

namespace {

using dav::TrapKind;

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

void illegal(const dav_test::Body& body, TrapKind kind, const char* part) {
  auto k = vector_kernel(body);
  EXPECT_TRAP(k, kind, part);
}

// MulAddDst, Axpy: no overlap when half sources meet a float destination.
TEST(VectorReference, WideningAccumulationWantsOperandsApart) {
  illegal(
      [] {
        auto h = put<half>(0, constant<half>(64, 1));
        auto d = h.template ReinterpretCast<float>();
        put<float>(128, constant<float>(32, 1));
        Axpy(d, h, half(2.0f), 64);
      },
      TrapKind::IllegalArgument, "apart");
  illegal(
      [] {
        auto h = put<half>(0, constant<half>(64, 1));
        auto g = put<half>(512, constant<half>(64, 1));
        put<float>(640, constant<float>(32, 1));
        MulAddDst(g.template ReinterpretCast<float>(), h, g, 64);
      },
      TrapKind::IllegalArgument, "apart");
}

TEST(VectorReference, GatheringWantsOperandsApartAndAligned) {
  const auto offsets = [](uint32_t step) {
    std::vector<uint32_t> values(64);
    for (uint32_t i = 0; i < 64; ++i) values[i] = i * step;
    return put<uint32_t>(8192, values);
  };
  illegal(
      [&] {
        auto a = put<float>(0, iota<float>(64));
        Gather(a, a, offsets(4), 0u, 64u);
      },
      TrapKind::IllegalArgument, "apart");
  illegal(
      [&] {
        auto a = put<float>(0, iota<float>(64));
        Gather(ub<float>(1024, 64), a, offsets(2), 2u, 1u);
      },
      TrapKind::Misaligned, "srcBaseAddr");
  illegal(
      [&] {
        auto a = put<uint32_t>(0, std::vector<uint32_t>(64, 1));
        Gatherb(ub<uint32_t>(1024, 64), a, offsets(4), 1, {1, 8});
      },
      TrapKind::Misaligned, "multiples of 32");
  illegal(
      [&] {
        auto a = put<uint32_t>(0, std::vector<uint32_t>(64, 1));
        Gatherb(a, a, offsets(32), 1, {1, 8});
      },
      TrapKind::IllegalArgument, "apart");
  illegal(
      [] {
        auto a = put<float>(0, iota<float>(64));
        uint64_t kept = 0;
        GatherMask(ub<float>(1024, 64), a, uint8_t{7}, true, 0, {1, 1, 8, 8}, kept);
      },
      TrapKind::IllegalArgument, "mask (Counter mode)");
}

TEST(VectorReference, MergedListsMayNotOverlapTheResult) {
  illegal(
      [] {
        auto a = put<float>(0, constant<float>(64, 0));
        const uint16_t lengths[4] = {16, 16, 0, 0};
        MrgSort(a, MrgSortSrcList<float>(a, a[32], a, a), MrgSort4Info(lengths, false, 3, 1));
      },
      TrapKind::IllegalArgument, "apart");
}

TEST(VectorReference, ImageTransposeLimits) {
  using Type = TransposeType;
  const auto transpose = [](uint32_t scratch, uint16_t c, uint16_t h, uint32_t dst) {
    auto src = put<half>(0, iota<half>(256));
    Transpose(ub<half>(dst, 256), src, ub<uint8_t>(8192, scratch),
              TransposeParamsExt(1, c, h, 16, Type::TRANSPOSE_NCHW2NHWC));
  };
  on_aiv([&] {
    transpose((4 + 2) * 512, 4, 2, 1024);
    EXPECT_EQ(floats(take(ub<half>(1024, 256), 5)), (std::vector<float>{0, 32, 64, 96, 1}));
    auto kept = put<half>(4096, constant<half>(16, 3));
    transpose(32, 0, 2, 4096);
    EXPECT_EQ(floats(take(kept, 1)), (std::vector<float>{3}));
  });
  illegal([&] { transpose((4 + 2) * 512 - 32, 4, 2, 1024); }, TrapKind::OutOfBounds,
          "sharedTmpBuffer");
  illegal([&] { transpose((4 + 2) * 512, 4, 2, 128); }, TrapKind::IllegalArgument, "apart");
  illegal(
      [] {
        auto src = put<half>(0, iota<half>(256));
        Transpose(ub<half>(1024, 256), src, ub<uint8_t>(8192, 4096),
                  TransposeParamsExt(1, 4, 1, 8, Type::TRANSPOSE_NCHW2NHWC));
      },
      TrapKind::Misaligned, "image");
  illegal(
      [] {
        auto src = put<half>(0, iota<half>(256));
        Transpose(ub<half>(1024, 256), src, ub<uint8_t>(8192, 4096),
                  TransposeParamsExt(1, 1, 16, 16, Type::TRANSPOSE_ND2ND_B16));
      },
      TrapKind::IllegalArgument, "transposeType");
}

// AddDeqRelu computes in its sources and in the last 8 KiB of UB.
TEST(VectorReference, AddDeqReluSpoilsItsSources) {
  const auto compute = [] {
    SetDeqScale(half(0.5f));
    auto a = put<int32_t>(0, {6, -8}), b = put<int32_t>(256, {2, 2});
    AddDeqRelu(ub<half>(512, 16), a, b, 2);
    return a;
  };
  on_aiv([&] {
    compute();
    EXPECT_EQ(floats(take(ub<half>(512, 16), 2)), (std::vector<float>{4, 0}));
  });
  illegal([&] { take(compute(), 1); }, TrapKind::UninitialisedRead, "");
  illegal(
      [&] {
        auto mine = put<float>(184 * 1024, {1});
        compute();
        if (take(mine, 1)[0] == 1) return;
        dav::raise_illegal("test", "the end of UB has changed");
      },
      TrapKind::IllegalArgument, "the end of UB");
}

TEST(VectorReference, GetCmpMaskWantsRoom) {
  illegal(
      [] {
        auto a = put<float>(0, iota<float>(64));
        Compare(a, a, CMPMODE::LT, uint64_t{64}, {1, 1, 1, 8, 8, 8});
        GetCmpMask(ub<uint8_t>(1024, 64));
      },
      TrapKind::IllegalArgument, "128");
}

TEST(VectorReference, FirstGenerationLacks) {
  const auto at = [](uint32_t offset) { return dav::VecOperand{{dav::Buffer::UB, offset}, 1, 8}; };
  const auto on_910a = [](dav_test::Body body) {
    dav_test::Kernel kernel(dav::KernelType::Coupled, 1, "Ascend910A");
    kernel.aic = std::move(body);
    return kernel;
  };
  auto k = on_910a([&] {
    dav::vector_binary({"MulAddDst", dav::BinaryOp::MulAddDst, dav::DType::F32, dav::DType::F32,
                        at(0), at(256), at(512), dav::VecMask::lanes(64), 1});
  });
  EXPECT_TRAP(k, TrapKind::UnsupportedOp, "MulAddDst");
  k = on_910a([&] {
    dav::vector_compare({"Compare",
                         dav::CompareOp::Lt,
                         dav::DType::F32,
                         {dav::Buffer::UB, 0},
                         true,
                         at(0),
                         at(256),
                         false,
                         0,
                         dav::VecMask::lanes(64),
                         1});
  });
  EXPECT_TRAP(k, TrapKind::UnsupportedOp, "Compare");
  k = on_910a([] { dav::vector_get_compare_mask({dav::Buffer::UB, 0}); });
  EXPECT_TRAP(k, TrapKind::UnsupportedOp, "GetCmpMask");
  k = on_910a([] {
    dav::vector_transpose_planes(dav::DType::F16, {dav::Buffer::UB, 0}, {dav::Buffer::UB, 1024},
                                 {dav::Buffer::UB, 4096}, 4096, 4096, 1, 4, 32, true);
  });
  EXPECT_TRAP(k, TrapKind::UnsupportedOp, "Transpose");
}

}  // namespace
