// DataCopy, DataCopyPad and ND to NZ: where each byte goes, atomics, limits and paths.
#include <numeric>

#include "dav/abi_scalar.h"
#include "isa_cube_rig.h"

namespace {

using namespace dav_test;
using dav::Buffer;
using dav::BurstDesc;
using dav::DType;
using dav::Half;
using dav::TrapKind;

std::vector<uint16_t> counting(size_t n) {
  std::vector<uint16_t> v(n);
  std::iota(v.begin(), v.end(), uint16_t{1});
  return v;
}

CubeKernel vector_kernel(Body body) { return CubeKernel(std::move(body), "Ascend910B3", true); }

TEST(CubeCopy, BurstsSkipGapsOnBothSides) {
  // Two bursts of one 32-byte block: one block skipped in GM, two in UB; out again with a gap of
  // one.
  const auto in = counting(64);
  std::vector<uint16_t> out(64, 0);
  CubeKernel k = vector_kernel([&] {
    dav::data_copy_in({Buffer::UB, 64}, addr(in), DType::U16, {2, 1, 1, 2});
    barrier();
    dav::data_copy_out(addr(out), {Buffer::UB, 64}, DType::U16, {2, 1, 2, 1});
  });
  k.input(in).inout(out).run();
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(out[i], i + 1);
    EXPECT_EQ(out[16 + i], 0);
    EXPECT_EQ(out[32 + i], 32 + i + 1);
    EXPECT_EQ(out[48 + i], 0);
  }
}

TEST(CubeCopy, ThroughL1AndWithinUb) {
  const auto in = counting(32);
  std::vector<uint16_t> by_l1(32), by_ub(32);
  CubeKernel cube([&] {
    dav::data_copy_in({Buffer::L1, 32}, addr(in), DType::U16, {1, 2, 0, 0});
    barrier();
    dav::data_copy_out(addr(by_l1), {Buffer::L1, 32}, DType::U16, {1, 2, 0, 0});
  });
  cube.input(in).output(by_l1).run();
  EXPECT_EQ(by_l1, in);
  CubeKernel vector = vector_kernel([&] {
    dav::data_copy_in({Buffer::UB, 0}, addr(in), DType::U16, {1, 2, 0, 0});
    barrier();
    dav::data_copy_local({Buffer::UB, 1024}, DType::U16, {Buffer::UB, 0}, DType::U16, {1, 2, 0, 0});
    barrier();
    dav::data_copy_out(addr(by_ub), {Buffer::UB, 1024}, DType::U16, {1, 2, 0, 0});
  });
  vector.input(in).output(by_ub).run();
  EXPECT_EQ(by_ub, in);
}

TEST(CubeCopy, LimitsAlignmentAndPaths) {
  const auto in = counting(64);
  const auto refuse = [&](bool vector, TrapKind kind, const char* text, Body body) {
    CubeKernel k(std::move(body), "Ascend910B3", vector);
    k.input(in);
    EXPECT_TRAP(k, kind, text);
  };
  const BurstDesc one{1, 1, 0, 0};
  refuse(true, TrapKind::IllegalArgument, "blockCount is 4096", [&] {
    dav::data_copy_in({Buffer::UB, 0}, addr(in), DType::U16, {4096, 1, 0, 0});
  });
  refuse(true, TrapKind::IllegalArgument, "blockLen is 65536", [&] {
    dav::data_copy_in({Buffer::UB, 0}, addr(in), DType::U16, {1, 65536, 0, 0});
  });
  refuse(true, TrapKind::Misaligned, "dst at UB", [&] {
    dav::data_copy_in({Buffer::UB, 16}, addr(in), DType::U16, one);
  });
  refuse(true, TrapKind::Misaligned, "src at GM", [&] {
    dav::data_copy_in({Buffer::UB, 0}, addr(in) + 1, DType::U16, one);
  });
  refuse(true, TrapKind::OutOfBounds, "UB", [&] {
    dav::data_copy_in({Buffer::UB, 192 * 1024}, addr(in), DType::U16, one);
  });
  refuse(true, TrapKind::OutOfBounds, "global memory", [&] {
    dav::data_copy_in({Buffer::UB, 0}, addr(in), DType::U16, {1, 5, 0, 0});
  });
  refuse(false, TrapKind::UnsupportedPath, "UB", [&] {
    dav::data_copy_in({Buffer::UB, 0}, addr(in), DType::U16, one);
  });
  refuse(true, TrapKind::UnsupportedPath, "L1", [&] {
    dav::data_copy_in({Buffer::L1, 0}, addr(in), DType::U16, one);
  });
  refuse(true, TrapKind::UnsupportedPath, "from UB to L1", [&] {
    dav::data_copy_local({Buffer::L1, 0}, DType::U16, {Buffer::UB, 0}, DType::U16, one);
  });
  // Any byte address will do into L1, and no length at all does nothing.
  CubeKernel fine([&] {
    dav::data_copy_in({Buffer::L1, 0}, addr(in) + 1, DType::U16, one);
    dav::data_copy_in({Buffer::L1, 0}, addr(in), DType::U16, {0, 1, 0, 0});
  });
  fine.input(in).run();
}

TEST(CubeCopy, StoringWhatNobodyWroteTraps) {
  std::vector<uint16_t> out(16);
  CubeKernel k = vector_kernel([&] {
    dav::data_copy_out(addr(out), {Buffer::UB, 0}, DType::U16, {1, 1, 0, 0});
  });
  k.output(out);
  EXPECT_TRAP(k, TrapKind::UninitialisedRead, "UB");
}

TEST(CubeCopy, WritingAnInputTraps) {
  const auto in = counting(16);
  CubeKernel k = vector_kernel([&] {
    dav::data_copy_in({Buffer::UB, 0}, addr(in), DType::U16, {1, 1, 0, 0});
    barrier();
    dav::data_copy_out(addr(in), {Buffer::UB, 0}, DType::U16, {1, 1, 0, 0});
  });
  k.input(in);
  EXPECT_TRAP(k, TrapKind::WriteToInput, "input");
}

TEST(CubeCopyPad, PadsWithValueWithRegisterAndWithTheFirstElement) {
  const std::vector<uint16_t> in = {11, 12, 13, 21, 22, 23};
  std::vector<uint16_t> out(64);
  CubeKernel k = vector_kernel([&] {
    // Two rows of three elements, one on the left and two on the right: 7.
    dav::data_copy_pad_in({Buffer::UB, 0}, addr(in), DType::U16, {2, 6, 0, 0}, {true, 1, 2, 7});
    dav::set_pad_value(9);
    dav::data_copy_pad_in({Buffer::UB, 64}, addr(in), DType::U16, {1, 6, 0, 0}, {false, 1, 0, 7});
    dav::data_copy_pad_in({Buffer::UB, 96}, addr(in, 3), DType::U16, {1, 6, 0, 0}, {true, 0, 0, 7});
    barrier();
    dav::data_copy_out(addr(out), {Buffer::UB, 0}, DType::U16, {1, 4, 0, 0});
  });
  k.input(in).output(out).run();
  const auto row = [](uint16_t left, std::vector<uint16_t> data, uint16_t right) {
    std::vector<uint16_t> r;
    if (left != 0) r.push_back(left);
    r.insert(r.end(), data.begin(), data.end());
    r.resize(16, right);
    return r;
  };
  const auto got = [&](int i) {
    return std::vector<uint16_t>(out.begin() + 16 * i, out.begin() + 16 * (i + 1));
  };
  EXPECT_EQ(got(0), row(7, {11, 12, 13}, 7));
  EXPECT_EQ(got(1), row(7, {21, 22, 23}, 7));
  EXPECT_EQ(got(2), row(9, {11, 12, 13}, 9));
  EXPECT_EQ(got(3), row(0, {21, 22, 23}, 21));
}

// isPad writes the register of SetPadValue; without either the padding is anything.
TEST(CubeCopyPad, TheValueStaysAndUnsetPaddingIsUndefined) {
  const std::vector<uint16_t> in = {11, 12, 13};
  std::vector<uint16_t> out(32), none(16);
  CubeKernel k = vector_kernel([&] {
    dav::data_copy_pad_in({Buffer::UB, 0}, addr(in), DType::U16, {1, 6, 0, 0}, {true, 0, 1, 7});
    dav::data_copy_pad_in({Buffer::UB, 32}, addr(in), DType::U16, {1, 6, 0, 0}, {false, 0, 1, 0});
    barrier();
    dav::data_copy_out(addr(out), {Buffer::UB, 0}, DType::U16, {1, 2, 0, 0});
  });
  k.input(in).output(out).run();
  for (int i = 3; i < 16; ++i) EXPECT_EQ(out[16 + i], 7);
  CubeKernel unset = vector_kernel([&] {
    dav::data_copy_pad_in({Buffer::UB, 0}, addr(in), DType::U16, {1, 6, 0, 0}, {false, 0, 1, 0});
    barrier();
    dav::data_copy_out(addr(none), {Buffer::UB, 0}, DType::U16, {1, 1, 0, 0});
  });
  unset.input(in).output(none);
  EXPECT_TRAP(unset, TrapKind::UninitialisedRead, "UB");
}

// Elements of eight bytes are two of four to the hardware, also where it repeats the first one.
TEST(CubeCopyPad, LongElementsRepeatTheirFirstHalf) {
  const std::vector<uint64_t> in = {0x100000002u};
  std::vector<uint64_t> out(4);
  CubeKernel k = vector_kernel([&] {
    dav::data_copy_pad_in({Buffer::UB, 0}, addr(in), DType::U64, {1, 8, 0, 0}, {});
    barrier();
    dav::data_copy_out(addr(out), {Buffer::UB, 0}, DType::U64, {1, 1, 0, 0});
  });
  k.input(in).output(out).run();
  EXPECT_EQ(out, (std::vector<uint64_t>{0x100000002u, 0x200000002u, 0x200000002u, 0x200000002u}));
}

TEST(CubeCopyPad, WritesExactlyTheBytesAskedFor) {
  const auto in = counting(32);
  std::vector<uint16_t> out(16, 99);
  CubeKernel k = vector_kernel([&] {
    dav::data_copy_in({Buffer::UB, 0}, addr(in), DType::U16, {1, 2, 0, 0});
    barrier();
    // Two bursts of three elements, one element apart in GM, each from its own block of UB.
    dav::data_copy_pad_out(addr(out, 1), {Buffer::UB, 0}, DType::U16, {2, 6, 0, 2});
  });
  k.input(in).inout(out).run();
  EXPECT_EQ(out,
            (std::vector<uint16_t>{99, 1, 2, 3, 99, 17, 18, 19, 99, 99, 99, 99, 99, 99, 99, 99}));
}

TEST(CubeCopyPad, Limits) {
  const auto in = counting(64);
  const auto refuse = [&](TrapKind kind, const char* text, DType type, dav::PadBurstDesc d,
                          dav::PadDesc pad) {
    CubeKernel k = vector_kernel([&, type, d, pad] {
      dav::data_copy_pad_in({Buffer::UB, 0}, addr(in), type, d, pad);
    });
    k.input(in);
    EXPECT_TRAP(k, kind, text);
  };
  refuse(TrapKind::IllegalArgument, "blockLen is 2097152", DType::U16, {1, 2097152, 0, 0}, {});
  refuse(TrapKind::IllegalArgument, "blockLen is 5", DType::U16, {1, 5, 0, 0}, {});
  refuse(TrapKind::IllegalArgument, "leftPadding", DType::U16, {1, 4, 0, 0}, {true, 17, 0, 0});
  refuse(TrapKind::IllegalArgument, "rightPadding", DType::U32, {1, 4, 0, 0}, {true, 0, 9, 0});
  refuse(TrapKind::IllegalArgument, "64-bit", DType::U64, {1, 8, 0, 0}, {true, 0, 1, 5});
  CubeKernel l1([&] {
    dav::data_copy_pad_in({Buffer::L1, 0}, addr(in), DType::U16, {1, 4, 0, 0}, {});
  });
  l1.input(in);
  EXPECT_TRAP(l1, TrapKind::UnsupportedPath, "from GM to L1");
}

TEST(CubeNd2Nz, ColumnsOfBlocksWithZeroFilledTail) {
  // Three rows of 20 halves: two columns of blocks, the second with 12 zeros at each end.
  const auto in = counting(3 * 24);
  std::vector<uint16_t> out(2 * 4 * 16, 0);
  CubeKernel k([&] {
    dav::Nd2NzDesc d;
    d.ndNum = 1;
    d.nValue = 3;
    d.dValue = 20;
    d.srcDValue = 24;
    d.dstNzC0Stride = 4;
    d.dstNzNStride = 1;
    dav::nd_to_nz({Buffer::L1, 64}, addr(in), DType::U16, d);
    barrier();
    dav::data_copy_out(addr(out), {Buffer::L1, 64}, DType::U16, {2, 3, 1, 1});
  });
  k.input(in).inout(out).run();
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 32; ++c) {
      const int expected = c < 20 ? r * 24 + c + 1 : 0;
      EXPECT_EQ(out[(c / 16 * 4 + r) * 16 + c % 16], expected) << r << "," << c;
    }
  }
}

TEST(CubeNd2Nz, SeveralMatricesAndRowStride) {
  const auto in = counting(2 * 2 * 16);
  std::vector<uint16_t> out(8 * 16, 0);
  CubeKernel k([&] {
    dav::Nd2NzDesc d;
    d.ndNum = 2;
    d.nValue = 2;
    d.dValue = 16;
    d.srcDValue = 16;
    d.srcNdMatrixStride = 32;
    d.dstNzC0Stride = 16;
    d.dstNzNStride = 2;
    d.dstNzMatrixStride = 64;
    dav::nd_to_nz({Buffer::L1, 0}, addr(in), DType::U16, d);
    barrier();
    dav::data_copy_out(addr(out), {Buffer::L1, 0}, DType::U16, {4, 1, 1, 1});
  });
  k.input(in).inout(out).run();
  for (int row = 0; row < 4; ++row) {
    for (int c = 0; c < 16; ++c) {
      EXPECT_EQ(out[row * 2 * 16 + c], row * 16 + c + 1);
      EXPECT_EQ(out[(row * 2 + 1) * 16 + c], 0);
    }
  }
}

TEST(CubeNd2Nz, Limits) {
  const auto in = counting(64);
  const auto refuse = [&](const char* text, void (*change)(dav::Nd2NzDesc&)) {
    CubeKernel k([&] {
      dav::Nd2NzDesc d{1, 1, 16, 0, 16, 1, 1, 0};
      change(d);
      dav::nd_to_nz({Buffer::L1, 0}, addr(in), DType::U16, d);
    });
    k.input(in);
    EXPECT_TRAP(k, TrapKind::IllegalArgument, text);
  };
  refuse("ndNum is 4096", [](dav::Nd2NzDesc& d) { d.ndNum = 4096; });
  refuse("nValue is 16385", [](dav::Nd2NzDesc& d) { d.nValue = 16385; });
  refuse("srcDValue is 0", [](dav::Nd2NzDesc& d) { d.srcDValue = 0; });
  refuse("srcDValue is 65536", [](dav::Nd2NzDesc& d) { d.srcDValue = 65536; });
  refuse("dstNzC0Stride is 16385", [](dav::Nd2NzDesc& d) { d.dstNzC0Stride = 16385; });
  refuse("dstNzNStride is 0", [](dav::Nd2NzDesc& d) { d.dstNzNStride = 0; });
  CubeKernel vector = vector_kernel([&] {
    dav::nd_to_nz({Buffer::L1, 0}, addr(in), DType::U16, {1, 1, 16, 0, 16, 1, 1, 0});
  });
  vector.input(in);
  EXPECT_TRAP(vector, TrapKind::UnsupportedPath, "L1");
}

TEST(CubeAtomic, AddMaxMinOnTheWayToGm) {
  const std::vector<float> in = {1, -2, 3, -4, 5, -6, 7, -8};
  for (const dav::Atomic op : {dav::Atomic::Add, dav::Atomic::Max, dav::Atomic::Min}) {
    std::vector<float> out(8, 2.f);
    CubeKernel k = vector_kernel([&] {
      dav::data_copy_in({Buffer::UB, 0}, addr(in), DType::F32, {1, 1, 0, 0});
      barrier();
      dav::set_atomic(op, DType::F32);
      dav::data_copy_out(addr(out), {Buffer::UB, 0}, DType::F32, {1, 1, 0, 0});
    });
    k.input(in).inout(out).run();
    for (int i = 0; i < 8; ++i) {
      const float expected = op == dav::Atomic::Add   ? 2 + in[i]
                             : op == dav::Atomic::Max ? std::max(2.f, in[i])
                                                      : std::min(2.f, in[i]);
      EXPECT_EQ(out[i], expected);
    }
  }
}

TEST(CubeAtomic, ManyCoresAddWithoutSynchronisation) {
  const std::vector<float> in(64, 1.f);
  std::vector<float> out(64, 0.f);
  CubeKernel k = vector_kernel([&] {
    dav::data_copy_in({Buffer::UB, 0}, addr(in), DType::F32, {1, 8, 0, 0});
    barrier();
    dav::set_atomic(dav::Atomic::Add, DType::F32);
    dav::data_copy_out(addr(out), {Buffer::UB, 0}, DType::F32, {1, 8, 0, 0});
  });
  k.spec().block_dim = 16;
  k.input(in).inout(out).run();
  EXPECT_EQ(out, std::vector<float>(64, 16.f));
}

TEST(CubeAtomic, TypeTheChipLacks) {
  const auto in = counting(16);
  std::vector<uint16_t> out(16);
  CubeKernel k = vector_kernel([&] {
    dav::data_copy_in({Buffer::UB, 0}, addr(in), DType::U16, {1, 1, 0, 0});
    barrier();
    dav::set_atomic(dav::Atomic::Add, DType::U16);
    dav::data_copy_out(addr(out), {Buffer::UB, 0}, DType::U16, {1, 1, 0, 0});
  });
  k.input(in).inout(out);
  EXPECT_TRAP(k, TrapKind::UnsupportedType, "uint16_t");
}

TEST(CubeScalar, LoadsStoresAndPorts) {
  std::vector<uint32_t> memory = {5, 6};
  CubeKernel k = vector_kernel([&] {
    dav::scalar_store(Buffer::UB, 4, 4, dav::scalar_load(Buffer::GM, addr(memory, 1), 4) + 1);
    dav::scalar_store(Buffer::GM, addr(memory), 4, dav::scalar_load(Buffer::UB, 4, 4));
  });
  k.inout(memory).run();
  EXPECT_EQ(memory[0], 7u);
  CubeKernel undefined = vector_kernel([] { dav::scalar_load(Buffer::UB, 0, 4); });
  EXPECT_TRAP(undefined, TrapKind::UninitialisedRead, "GetValue");
  CubeKernel port([] { dav::scalar_load(Buffer::L0C, 0, 4); });
  EXPECT_TRAP(port, TrapKind::UnsupportedPath, "L0C");
  CubeKernel odd = vector_kernel([] { dav::scalar_store(Buffer::UB, 2, 4, 0); });
  EXPECT_TRAP(odd, TrapKind::Misaligned, "UB");
}

}  // namespace
