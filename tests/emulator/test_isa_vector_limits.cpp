// What the API reference asks of operands, on arch 2201, and what the 910A lacks.
#include "vector_rig.h"

namespace {

using dav::TrapKind;

void illegal(const dav_test::Body& body, TrapKind kind, const char* part) {
  auto k = vector_kernel(body);
  EXPECT_TRAP(k, kind, part);
}

// MulAddDst, Axpy: no overlap when half sources meet a float destination.
TEST(VectorLimits, WideningAccumulationWantsOperandsApart) {
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

// Cast: a wider result may spoil its source.
TEST(VectorLimits, WideningCastsAreNotInPlace) {
  illegal(
      [] {
        auto h = put<half>(0, constant<half>(64, 1));
        Cast(h.template ReinterpretCast<float>(), h, RoundMode::CAST_NONE, 64u);
      },
      TrapKind::IllegalArgument, "apart");
  on_aiv([] {
    auto f = put<float>(0, constant<float>(64, 1));
    auto h = f.template ReinterpretCast<half>();
    Cast(h, f, RoundMode::CAST_NONE, 64u);
    EXPECT_EQ(floats(take(h, 64)), constant<float>(64, 1));
  });
}

TEST(VectorLimits, GatheringWantsOperandsApartAndAligned) {
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

TEST(VectorLimits, MergedListsMayNotOverlapTheResult) {
  illegal(
      [] {
        auto a = put<float>(0, constant<float>(64, 0));
        const uint16_t lengths[4] = {16, 16, 0, 0};
        MrgSort(a, MrgSortSrcList<float>(a, a[32], a, a), MrgSort4Info(lengths, false, 3, 1));
      },
      TrapKind::IllegalArgument, "apart");
}

TEST(VectorLimits, ImageTransposeLimits) {
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
TEST(VectorLimits, AddDeqReluSpoilsItsSources) {
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
  on_aiv([] {
    SetDeqScale(half(0.5f));
    uint64_t mask[2] = {3, 0};
    auto a = put<int32_t>(0, {6, -8}), b = put<int32_t>(256, {2, 2});
    AddDeqRelu(ub<half>(512, 16), a, b, mask, 1, {1, 1, 1, 4, 8, 8});
    PipeBarrier<PIPE_V>();  // both work in the same scratch
    a = put<int32_t>(1024, {6, -8}), b = put<int32_t>(1280, {2, 2});
    AddDeqRelu<half, int32_t, true>(ub<half>(1536, 16), a, b, uint64_t{2}, 1, {1, 1, 1, 4, 8, 8});
    EXPECT_EQ(floats(take(ub<half>(512, 16), 2)), floats(take(ub<half>(1536, 16), 2)));
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

// ReduceMax, ReduceMin: an index of half tensors is a uint16_t.
TEST(VectorLimits, IndexOfHalfExtremaHasSixteenBits) {
  const auto reduce = [](uint32_t count) {
    auto src = ub<half>(0, 65536 + 128);
    Duplicate(src, half(1.0f), 65536 + 128);
    PipeBarrier<PIPE_V>();
    Duplicate(src[count - 16], half(2.0f), 16);
    PipeBarrier<PIPE_V>();
    ReduceMax(ub<half>(160 * 1024, 16), src, ub<half>(140 * 1024, 4096),
              static_cast<int32_t>(count), true);
  };
  on_aiv([&] {
    reduce(65536);
    EXPECT_EQ(take(ub<uint16_t>(160 * 1024, 2), 2)[1], 65520);
  });
  illegal([&] { reduce(65536 + 128); }, TrapKind::IllegalArgument, "65535");
}

TEST(PipeLimits, BuffersWhereTheKernelWantsThem) {
  on_aiv([] {
    TPipe pipe;
    TQue<TPosition::VECOUT, 2> queue;
    pipe.InitBuffer(queue, Std::make_tuple(2048, 100), Std::make_tuple(8192, 256));
    auto a = queue.AllocTensor<float>(), b = queue.AllocTensor<float>();
    EXPECT_EQ(a.GetPhyAddr(), 2048u);
    EXPECT_EQ(a.GetSize(), 32u);
    EXPECT_EQ(b.GetPhyAddr(), 8192u);
    queue.FreeTensor(a);
    queue.FreeTensor(b);
  });
  illegal(
      [] {
        TPipe pipe;
        TQue<TPosition::VECOUT, 1> queue;
        pipe.InitBuffer(queue, Std::make_tuple(192 * 1024 - 32, 64));
      },
      TrapKind::IllegalArgument, "InitBuffer");
  illegal(
      [] {
        TPipe pipe;
        TBuf<> buf;
        pipe.InitBuffer(buf, 256);
        buf.GetWithOffset<float>(8, 4);
      },
      TrapKind::IllegalArgument, "bufOffset");
}

// ReducePairElem: ReduceType::SUM only.
TEST(VectorLimits, PairsHaveSumsOnly) {
  illegal(
      [] {
        put<float>(0, iota<float>(64));
        dav::vector_reduce_pair({"ReducePairElem",
                                 dav::ReduceOp::Max,
                                 dav::DType::F32,
                                 dav::ReduceLayout::OnlyValue,
                                 {dav::Buffer::UB, 512},
                                 1,
                                 {dav::Buffer::UB, 0},
                                 1,
                                 8,
                                 dav::VecMask::lanes(64),
                                 1});
      },
      TrapKind::UnsupportedOp, "pairs");
}

TEST(VectorLimits, FirstGenerationLacks) {
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
  k = on_910a([&] {
    dav::vector_duplicate({"Duplicate", dav::DType::BF16, at(0), 0, dav::VecMask::lanes(128), 1});
  });
  EXPECT_TRAP(k, TrapKind::UnsupportedType, "bfloat16_t");
  k = on_910a([] { dav::vector_get_compare_mask({dav::Buffer::UB, 0}); });
  EXPECT_TRAP(k, TrapKind::UnsupportedOp, "GetCmpMask");
  k = on_910a([] {
    dav::vector_transpose_planes(dav::DType::F16, {dav::Buffer::UB, 0}, {dav::Buffer::UB, 1024},
                                 {dav::Buffer::UB, 4096}, 4096, 4096, 1, 4, 32, true);
  });
  EXPECT_TRAP(k, TrapKind::UnsupportedOp, "Transpose");
}

}  // namespace
