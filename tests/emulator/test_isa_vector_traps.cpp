// What a strict vector unit refuses, and the queues around it.
#include "vector_rig.h"

namespace {

using dav::TrapKind;

TEST(VectorTraps, Limits) {
  auto k = vector_kernel([] {
    auto a = put<float>(0, constant<float>(64, 1));
    Adds(a, a, 1.0f, uint64_t{65}, 1, {1, 1, 8, 8});
  });
  EXPECT_TRAP(k, TrapKind::IllegalArgument, "mask", "65", "64", "Adds");
  k = vector_kernel([] {
    auto a = put<float>(0, constant<float>(64, 1));
    Adds(a, a, 1.0f, uint64_t{64}, 1, {0, 1, 8, 8});
  });
  EXPECT_TRAP(k, TrapKind::IllegalArgument, "dstBlkStride");
  k = vector_kernel([] {
    auto a = put<float>(0, constant<float>(64, 1));
    Adds(a[1], a, 1.0f, 8);
  });
  EXPECT_TRAP(k, TrapKind::Misaligned, "dst");
  k = vector_kernel([] {
    auto a = put<float>(0, constant<float>(64, 1));
    Adds(a, a, 1.0f, -1);
  });
  EXPECT_TRAP(k, TrapKind::IllegalArgument, "count");
  k = vector_kernel([] {
    auto a = ub<float>(192 * 1024 - 256, 64);
    Duplicate(a, 1.0f, uint64_t{64}, 2, 1, 8);
  });
  EXPECT_TRAP(k, TrapKind::OutOfBounds, "Duplicate", "UB");
  k = vector_kernel([] {
    auto a = LocalTensor<float>(TPosition::A1, 0, 64);
    Duplicate(a, 1.0f, 64);
  });
  EXPECT_TRAP(k, TrapKind::UnsupportedPath, "L1");
  k = vector_kernel([] {
    auto a = put<float>(0, constant<float>(64, 1));
    auto d = ub<uint8_t>(512, 32);
    Compare(d, a, a, CMPMODE::LT, 63u);
  });
  EXPECT_TRAP(k, TrapKind::IllegalArgument, "256-byte");
  k = vector_kernel([] {
    auto a = put<float>(0, constant<float>(64, 1));
    auto d = ub<bfloat16_t>(512, 64);
    Cast(d, a, RoundMode::CAST_ODD, 64u);
  });
  EXPECT_TRAP(k, TrapKind::IllegalArgument, "CAST_ODD", "bfloat16_t");
  k = vector_kernel([] {
    auto a = put<float>(0, constant<float>(640, 1));
    auto w = ub<float>(8192, 8);
    auto d = ub<float>(16384, 8);
    ReduceMax(d, a, w, 640);
  });
  EXPECT_TRAP(k, TrapKind::OutOfBounds, "sharedTmpBuffer", "32 bytes", "96");
}

TEST(VectorTraps, Overlap) {
  auto k = vector_kernel([] {
    auto a = put<float>(0, constant<float>(128, 1));
    Adds(a[8], a, 1.0f, 64);
  });
  EXPECT_TRAP(k, TrapKind::IllegalArgument, "overlap partially");
  k = vector_kernel([] {
    auto a = put<float>(0, constant<float>(192, 1));
    Adds(a[64], a, 1.0f, 128);
  });
  EXPECT_TRAP(k, TrapKind::IllegalArgument, "repeat 1 reads src", "repeat 0 has written");
}

TEST(VectorTraps, UninitialisedOperand) {
  auto k = vector_kernel([] {
    auto a = ub<float>(0, 64);
    Exp(a, a, 64);
  });
  EXPECT_TRAP(k, TrapKind::UninitialisedRead, "Exp");
  // Lanes outside the mask are not read.
  on_aiv([] {
    auto a = put<float>(0, constant<float>(5, 0));
    auto b = ub<float>(256, 64);
    Exp(b, a, uint64_t{5}, 1, {1, 1, 8, 8});
    EXPECT_EQ(take(b, 5), constant<float>(5, 1));
  });
}

// 910A, through the library's own interface: its headers refuse these at compile time.
dav::VecOperand at(uint32_t offset) { return {{dav::Buffer::UB, offset}, 1, 8}; }

TEST(VectorTraps, FirstGeneration) {
  auto on_910a = [](dav_test::Body body) {
    dav_test::Kernel kernel(dav::KernelType::Coupled, 1, "Ascend910A");
    kernel.aic = std::move(body);
    return kernel;
  };
  auto k = on_910a([] {
    dav::vector_scalar({"Maxs", dav::ScalarOp::Maxs, dav::DType::F16, dav::DType::F16, at(0), at(0),
                        0, false, dav::VecMask::lanes(128), 1});
  });
  EXPECT_TRAP(k, TrapKind::UnsupportedOp, "Maxs");
  k = on_910a([] {
    dav::vector_cast({"Cast", dav::DType::BF16, dav::DType::F32, dav::Rounding::Rint, at(0), at(0),
                      dav::VecMask::lanes(64), 1});
  });
  EXPECT_TRAP(k, TrapKind::UnsupportedType, "bfloat16_t");
  k = on_910a([] {
    dav::vector_reduce_repeat({"WholeReduceMax",
                               dav::ReduceOp::Max,
                               dav::DType::F32,
                               dav::ReduceLayout::ValueIndex,
                               {dav::Buffer::UB, 0},
                               1,
                               {dav::Buffer::UB, 0},
                               1,
                               8,
                               dav::VecMask::lanes(64),
                               1});
  });
  EXPECT_TRAP(k, TrapKind::UnsupportedType, "float");
  k = on_910a([] {
    dav::vector_brcb(dav::DType::F16, {dav::Buffer::UB, 0}, 1, 8, {dav::Buffer::UB, 4096}, 1);
  });
  EXPECT_TRAP(k, TrapKind::UnsupportedOp, "Brcb");
  // Half results saturate there.
  float result = 0;
  k = on_910a([&] {
    dav::vector_duplicate(
        {"Duplicate", dav::DType::F16, at(0), 0x7b00, dav::VecMask::lanes(128), 1});
    dav::vector_binary({"Add", dav::BinaryOp::Add, dav::DType::F16, dav::DType::F16, at(256), at(0),
                        at(0), dav::VecMask::lanes(128), 1});
    result = dav::half_to_float(static_cast<uint16_t>(dav::scalar_load(dav::Buffer::UB, 256, 2)));
  });
  k.run();
  EXPECT_EQ(result, 65504.0f);
}

TEST(Pipe, QueueMovesFlagsAndBuffers) {
  on_aiv([] {
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> scratch;
    pipe.InitBuffer(in, 2, 100);  // rounds up to 128
    pipe.InitBuffer(out, 1, 256);
    pipe.InitBuffer(scratch, 64);
    EXPECT_EQ(scratch.Get<float>().GetPhyAddr(), 128u * 2 + 256);
    EXPECT_EQ(scratch.Get<half>().GetSize(), 32u);
    EXPECT_EQ(scratch.GetWithOffset<float>(4, 32).GetPhyAddr(), 128u * 2 + 256 + 32);
    for (int round = 0; round < 3; ++round) {
      auto a = in.AllocTensor<float>();
      EXPECT_EQ(a.GetPhyAddr(), round % 2 ? 128u : 0u);
      EXPECT_EQ(a.GetSize(), 32u);
      in.EnQue(a);
      EXPECT_TRUE(in.HasTensorInQue());
      auto b = in.DeQue<float>();
      auto c = out.AllocTensor<float>();
      Duplicate(c, 1.0f, 32);
      out.EnQue(c);
      in.FreeTensor(b);
      auto d = out.DeQue<float>();
      out.FreeTensor(d);
    }
    EXPECT_EQ(GetTPipePtr(), &pipe);
  });
}

TEST(Pipe, RefusesUnbalancedUse) {
  auto k = vector_kernel([] {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 1, 128);
    in.AllocTensor<float>();
    in.AllocTensor<float>();
  });
  EXPECT_TRAP(k, TrapKind::Unbalanced, "AllocTensor", "in use");
  k = vector_kernel([] {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 1, 128);
    in.DeQue<float>();
  });
  EXPECT_TRAP(k, TrapKind::Unbalanced, "DeQue", "empty");
  k = vector_kernel([] {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    pipe.InitBuffer(in, 1, 128);
    auto a = in.AllocTensor<float>();
    in.EnQue(a);
  });
  EXPECT_TRAP(k, TrapKind::Unbalanced, "never freed");
  k = vector_kernel([] {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in, other;
    pipe.InitBuffer(in, 1, 128);
    pipe.InitBuffer(other, 1, 128);
    auto a = in.AllocTensor<float>();
    other.EnQue(a);
  });
  EXPECT_TRAP(k, TrapKind::Unbalanced, "does not belong");
}

TEST(Pipe, RefusesWhatDoesNotFit) {
  auto k = vector_kernel([] {
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b;
    pipe.InitBuffer(a, 150 * 1024);
    pipe.InitBuffer(b, 50 * 1024);
  });
  EXPECT_TRAP(k, TrapKind::IllegalArgument, "UB", "51200", "153600", "196608");
  k = vector_kernel([] {
    TPipe pipe;
    std::vector<TBuf<TPosition::VECCALC>> buffers(65);
    for (auto& buffer : buffers) pipe.InitBuffer(buffer, 32);
  });
  EXPECT_TRAP(k, TrapKind::IllegalArgument, "64");
  k = vector_kernel([] {
    TPipe pipe;
    TBuf<TPosition::VECCALC> a;
    pipe.InitBuffer(a, 64);
    a.Get<float>(17);
  });
  EXPECT_TRAP(k, TrapKind::IllegalArgument, "64 bytes");
}

TEST(Pipe, PoolsShareTheirMemory) {
  on_aiv([] {
    TPipe pipe;
    TBufPool<TPosition::VECCALC> one, two;
    pipe.InitBufPool(one, 1024);
    pipe.InitBufPool(two, 512, one);
    TQue<TPosition::VECIN, 1> a, b;
    one.InitBuffer(a, 1, 512);
    auto x = a.AllocTensor<float>();
    EXPECT_EQ(x.GetPhyAddr(), 0u);
    a.FreeTensor(x);
    one.Reset();
    two.InitBuffer(b, 1, 512);
    auto y = b.AllocTensor<float>();
    EXPECT_EQ(y.GetPhyAddr(), 0u);
    b.FreeTensor(y);
  });
}

}  // namespace
