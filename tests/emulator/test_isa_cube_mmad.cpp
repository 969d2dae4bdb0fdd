// Mmad: values by definition, ragged shapes, accumulation, bias, GEMV, HF32, limits.
#include "isa_cube_rig.h"

namespace {

using namespace dav_test;
using dav::Bfloat16;
using dav::Buffer;
using dav::DType;
using dav::Half;
using dav::TrapKind;

constexpr uint32_t kLeft = 0, kRight = 128 * 1024;

struct Shape {
  uint32_t m, n, k;
};
constexpr Shape kShapes[] = {{16, 16, 16}, {128, 128, 128}, {30, 40, 70},
                             {17, 1, 33},  {1, 50, 48},     {48, 96, 5}};

template <typename C, typename T>
std::vector<C> multiply(const Shape& s, DType c_type, DType type, const std::vector<T>& a,
                        const std::vector<T>& bt, dav::MmadDesc d) {
  std::vector<C> c(size_t{s.m} * s.n);
  CubeKernel k([&] {
    to_nz(kLeft, a, type, s.m, s.k);
    to_nz(kRight, bt, type, s.n, s.k);
    if (s.m == 1) {
      // GEMV reads the row as it lies in memory, so it goes straight to L0A.
      const uint32_t bytes = s.k * dav::size_of(type);
      ASSERT_EQ(bytes % 32, 0u);
      dav::Load2dDesc row;
      row.repeatTimes = tiles(bytes, 512);
      row.srcStride = 1;
      dav::BurstDesc burst;
      burst.blockLen = bytes / 32;
      dav::data_copy_in({Buffer::L1, kLeft}, addr(a), type, burst);
      barrier();
      dav::load_data_2d(kL0a, {Buffer::L1, kLeft}, type, row);
      barrier();
    } else {
      load_a(kLeft, type, s.m, s.k);
    }
    load_b_transposed(kRight, type, s.n, s.k);
    dav::mmad(kL0c, c_type, kL0a, type, kL0b, type, d);
    barrier();
    dav::fixpipe_to_gm(addr(c), c_type, kL0c, c_type, rows_out(s.m, s.n));
  });
  k.input(a).input(bt).output(c).run();
  return c;
}

template <typename C, typename T>
void expect_product(const Shape& s, DType c_type, DType type) {
  SCOPED_TRACE(::testing::Message() << s.m << "x" << s.n << "x" << s.k);
  const auto a = small_integers<T>(size_t{s.m} * s.k, 1);
  const auto bt = small_integers<T>(size_t{s.n} * s.k, 5);
  const auto c = multiply<C>(s, c_type, type, a, bt, product(s.m, s.n, s.k));
  EXPECT_EQ(c, (reference<C>(a, bt, s.m, s.n, s.k)));
}

TEST(CubeMmad, MultipliesHalves) {
  for (const Shape& s : kShapes) expect_product<float, Half>(s, DType::F32, DType::F16);
}

TEST(CubeMmad, MultipliesBrainFloats) {
  for (const Shape& s : kShapes) expect_product<float, Bfloat16>(s, DType::F32, DType::BF16);
}

TEST(CubeMmad, MultipliesFloats) {
  for (const Shape& s : kShapes) expect_product<float, float>(s, DType::F32, DType::F32);
}

TEST(CubeMmad, MultipliesBytes) {
  for (const Shape& s : {Shape{16, 16, 32}, Shape{64, 80, 96}, Shape{30, 40, 70}}) {
    expect_product<int32_t, int8_t>(s, DType::I32, DType::I8);
  }
}

// A permutation matrix on the left moves rows of the right matrix: no sum can hide a wrong lane.
TEST(CubeMmad, PermutationMovesRows) {
  const Shape s{32, 32, 32};
  std::vector<Half> a(32 * 32, Half(0)), bt(32 * 32);
  for (int i = 0; i < 32; ++i) a[i * 32 + (i * 5 + 3) % 32] = Half(1);
  for (int i = 0; i < 32 * 32; ++i) bt[i] = Half(i);
  const auto c = multiply<float>(s, DType::F32, DType::F16, a, bt, product(32, 32, 32));
  for (int i = 0; i < 32; ++i) {
    for (int j = 0; j < 32; ++j) EXPECT_EQ(c[i * 32 + j], float(j * 32 + (i * 5 + 3) % 32));
  }
}

TEST(CubeMmad, AccumulatesWhenCStartsFromItself) {
  const auto a = small_integers<Half>(256, 2), bt = small_integers<Half>(256, 3);
  std::vector<float> c(256);
  CubeKernel k([&] {
    to_nz(kLeft, a, DType::F16, 16, 16);
    to_nz(kRight, bt, DType::F16, 16, 16);
    load_a(kLeft, DType::F16, 16, 16);
    load_b_transposed(kRight, DType::F16, 16, 16);
    dav::MmadDesc d = product(16, 16, 16);
    for (int i = 0; i < 3; ++i) {
      dav::mmad(kL0c, DType::F32, kL0a, DType::F16, kL0b, DType::F16, d);
      d.init_zero = false;
      barrier();
    }
    dav::fixpipe_to_gm(addr(c), DType::F32, kL0c, DType::F32, rows_out(16, 16));
  });
  k.input(a).input(bt).output(c).run();
  auto expected = reference<float>(a, bt, 16, 16, 16);
  for (float& e : expected) e *= 3;
  EXPECT_EQ(c, expected);
}

TEST(CubeMmad, StartsFromTheBiasRow) {
  const Shape s{20, 24, 16};
  const auto a = small_integers<Half>(s.m * s.k, 2), bt = small_integers<Half>(s.n * s.k, 3);
  std::vector<float> bias(32), c(s.m * s.n);
  for (int i = 0; i < 32; ++i) bias[i] = 100.f * i;
  CubeKernel k([&] {
    to_nz(kLeft, a, DType::F16, s.m, s.k);
    to_nz(kRight, bt, DType::F16, s.n, s.k);
    load_a(kLeft, DType::F16, s.m, s.k);
    load_b_transposed(kRight, DType::F16, s.n, s.k);
    dav::BurstDesc in;
    in.blockLen = 4;  // 128 bytes
    dav::data_copy_in({Buffer::L1, 0}, addr(bias), DType::F32, in);
    barrier();
    in.blockLen = 2;  // units of 64 bytes
    dav::data_copy_local({Buffer::BT, 64}, DType::F32, {Buffer::L1, 0}, DType::F32, in);
    barrier();
    dav::MmadDesc d = product(s.m, s.n, s.k);
    d.init_zero = false;
    d.from_bias = true;
    d.bias = {Buffer::BT, 64};
    dav::mmad(kL0c, DType::F32, kL0a, DType::F16, kL0b, DType::F16, d);
    barrier();
    dav::fixpipe_to_gm(addr(c), DType::F32, kL0c, DType::F32, rows_out(s.m, s.n));
  });
  k.input(a).input(bt).input(bias).output(c).run();
  auto expected = reference<float>(a, bt, s.m, s.n, s.k);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] += bias[i % s.n];
  EXPECT_EQ(c, expected);
}

// A copy into the bias table counts bytes of L1; 32 halves become 128 bytes of floats.
TEST(CubeMmad, AHalfBiasRowWidens) {
  const auto a = small_integers<Half>(16 * 16, 2), bt = small_integers<Half>(32 * 16, 3);
  std::vector<Half> bias(32);
  std::vector<float> c(16 * 32);
  for (int i = 0; i < 32; ++i) bias[i] = Half(100 * i);
  CubeKernel k([&] {
    to_nz(kLeft, a, DType::F16, 16, 16);
    to_nz(kRight, bt, DType::F16, 32, 16);
    load_a(kLeft, DType::F16, 16, 16);
    load_b_transposed(kRight, DType::F16, 32, 16);
    dav::BurstDesc in;
    in.blockLen = 2;
    dav::data_copy_in({Buffer::L1, 0}, addr(bias), DType::F16, in);
    barrier();
    in.blockLen = 1;
    dav::data_copy_local({Buffer::BT, 0}, DType::F32, {Buffer::L1, 0}, DType::F16, in);
    barrier();
    dav::MmadDesc d = product(16, 32, 16);
    d.init_zero = false;
    d.from_bias = true;
    dav::mmad(kL0c, DType::F32, kL0a, DType::F16, kL0b, DType::F16, d);
    barrier();
    dav::fixpipe_to_gm(addr(c), DType::F32, kL0c, DType::F32, rows_out(16, 32));
  });
  k.input(a).input(bt).input(bias).output(c).run();
  auto expected = reference<float>(a, bt, 16, 32, 16);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] += static_cast<float>(100 * (i % 32));
  EXPECT_EQ(c, expected);
}

// 1 + 2^-12 lies halfway between two values of 11 mantissa bits, 1 + 3 * 2^-12 too.
TEST(CubeMmad, Hf32RoundsOperands) {
  for (const bool even : {true, false}) {
    std::vector<float> a(16 * 8, 0.f), bt(16 * 8, 0.f), c(256);
    a[0] = 1 + 0x1p-12f;
    a[8] = 1 + 3 * 0x1p-12f;
    bt[0] = 1;
    CubeKernel k([&] {
      to_nz(kLeft, a, DType::F32, 16, 8);
      to_nz(kRight, bt, DType::F32, 16, 8);
      load_a(kLeft, DType::F32, 16, 8);
      load_b_transposed(kRight, DType::F32, 16, 8);
      dav::set_hf32(true);
      dav::set_hf32_rounding(even);
      dav::mmad(kL0c, DType::F32, kL0a, DType::F32, kL0b, DType::F32, product(16, 16, 8));
      barrier();
      dav::fixpipe_to_gm(addr(c), DType::F32, kL0c, DType::F32, rows_out(16, 16));
    });
    k.input(a).input(bt).output(c).run();
    EXPECT_EQ(c[0], 1.f);
    EXPECT_EQ(c[16], even ? 1 + 0x1p-10f : 1 + 0x1p-11f);
  }
}

TEST(CubeMmad, IntegerSumSaturates) {
  // 127 * 127 * 4064 * 33 passes 2^31 in the 33rd product.
  std::vector<int8_t> a(16 * 4064, 127), bt(16 * 4064, 127);
  std::vector<int32_t> c(256);
  CubeKernel k([&] {
    to_nz(kLeft, a, DType::I8, 16, 4064);
    to_nz(kRight, bt, DType::I8, 16, 4064);
    load_a(kLeft, DType::I8, 16, 4064);
    load_b_transposed(kRight, DType::I8, 16, 4064);
    dav::MmadDesc d = product(16, 16, 4064);
    for (int i = 0; i < 33; ++i) {
      dav::mmad(kL0c, DType::I32, kL0a, DType::I8, kL0b, DType::I8, d);
      d.init_zero = false;
      barrier();
    }
    dav::fixpipe_to_gm(addr(c), DType::I32, kL0c, DType::I32, rows_out(16, 16));
  });
  k.input(a).input(bt).output(c).run();
  EXPECT_EQ(c[0], 2147483647);
}

// Two four-bit elements per byte, the first in the low half: 64 of them in a fractal's row.
TEST(CubeMmad, MultipliesNibbles) {
  const uint32_t m = 16, n = 16, depth = 128;
  std::vector<int8_t> a(m * depth), bt(n * depth);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int8_t>((i * 5 + i / 17) % 16) - 8;
  for (size_t i = 0; i < bt.size(); ++i) bt[i] = static_cast<int8_t>((i * 3 + i / 29) % 16) - 8;
  const auto packed = [](const std::vector<int8_t>& v) {
    std::vector<uint8_t> p(v.size() / 2);
    for (size_t i = 0; i < v.size(); ++i) p[i / 2] |= (v[i] & 0xf) << (i % 2 * 4);
    return p;
  };
  const auto a4 = packed(a), bt4 = packed(bt);
  std::vector<int32_t> c(m * n);
  CubeKernel k([&] {
    to_nz(kLeft, a4, DType::U8, m, depth / 2);
    to_nz(kRight, bt4, DType::U8, n, depth / 2);
    load_a(kLeft, DType::U8, m, depth / 2);
    load_b_transposed(kRight, DType::U8, n, depth / 2);
    dav::mmad(kL0c, DType::I32, kL0a, DType::I4, kL0b, DType::I4, product(m, n, depth));
    barrier();
    dav::fixpipe_to_gm(addr(c), DType::I32, kL0c, DType::I32, rows_out(m, n));
  });
  k.input(a4).input(bt4).output(c).run();
  EXPECT_EQ(c, (reference<int32_t>(a, bt, m, n, depth)));
  CubeKernel odd(
      [&] { dav::mmad(kL0c, DType::I32, kL0a, DType::I4, kL0b, DType::I4, product(m, n, 63)); });
  EXPECT_TRAP(odd, TrapKind::IllegalArgument, "k is 63");
}

// A transposing 3D load of floats fills L0A in pairs of fractals along k. With k = 24 the fourth
// fractal of each row is not used, and kDirectionAlign tells Mmad that it is there.
TEST(CubeMmad, SkipsTheUnusedFractalOfAnAlignedRow) {
  const uint32_t m = 32, n = 16, depth = 24;
  const auto a = small_integers<float>(m * depth, 1), bt = small_integers<float>(n * depth, 2);
  std::vector<float> at(depth * m), c(m * n);
  for (uint32_t i = 0; i < m; ++i) {
    for (uint32_t l = 0; l < depth; ++l) at[l * m + i] = a[i * depth + l];
  }
  CubeKernel k([&] {
    to_nz(kLeft, at, DType::F32, depth, m);
    to_nz(kRight, bt, DType::F32, n, depth);
    const uint8_t pads[4] = {0, 0, 0, 0};
    dav::set_fmatrix(false, 1, 32, pads);
    dav::Load3dDesc load;
    load.channelSize = load.kExtension = m;
    load.mExtension = 32;
    load.enTranspose = true;
    dav::load_data_3d(kL0a, {Buffer::L1, kLeft}, DType::F32, load);
    load_b_transposed(kRight, DType::F32, n, depth);
    dav::MmadDesc d = product(m, n, depth);
    d.kDirectionAlign = true;
    dav::mmad(kL0c, DType::F32, kL0a, DType::F32, kL0b, DType::F32, d);
    barrier();
    dav::fixpipe_to_gm(addr(c), DType::F32, kL0c, DType::F32, rows_out(m, n));
  });
  k.input(at).input(bt).output(c).run();
  EXPECT_EQ(c, (reference<float>(a, bt, m, n, depth)));
}

CubeKernel mmad_kernel(dav::MmadDesc d, dav::Local c = kL0c, dav::Local a = kL0a,
                       dav::Local b = kL0b, DType type = DType::F16, DType out = DType::F32) {
  return CubeKernel([=] { dav::mmad(c, out, a, type, b, type, d); });
}

TEST(CubeMmad, Limits) {
  CubeKernel m = mmad_kernel(product(4096, 16, 16));
  EXPECT_TRAP(m, TrapKind::IllegalArgument, "m is 4096", "0 to 4095");
  CubeKernel n = mmad_kernel(product(16, 4096, 16));
  EXPECT_TRAP(n, TrapKind::IllegalArgument, "n is 4096");
  CubeKernel depth = mmad_kernel(product(16, 16, 4096));
  EXPECT_TRAP(depth, TrapKind::IllegalArgument, "k is 4096");
  dav::MmadDesc flag = product(16, 16, 16);
  flag.unitFlag = 1;
  CubeKernel unit = mmad_kernel(flag);
  EXPECT_TRAP(unit, TrapKind::IllegalArgument, "unitFlag is 1");
  CubeKernel nothing = mmad_kernel(product(0, 16, 16));
  nothing.run();
}

TEST(CubeMmad, Alignment) {
  CubeKernel c = mmad_kernel(product(16, 16, 16), {Buffer::L0C, 512});
  EXPECT_TRAP(c, TrapKind::Misaligned, "dst", "L0C", "1024");
  CubeKernel a = mmad_kernel(product(16, 16, 16), kL0c, {Buffer::L0A, 256});
  EXPECT_TRAP(a, TrapKind::Misaligned, "fm", "512");
  CubeKernel b = mmad_kernel(product(16, 16, 16), kL0c, kL0a, {Buffer::L0B, 32});
  EXPECT_TRAP(b, TrapKind::Misaligned, "filter", "512");
}

TEST(CubeMmad, WrongPlacesTypesAndCores) {
  CubeKernel place = mmad_kernel(product(16, 16, 16), kL0c, kL0b, kL0b);
  EXPECT_TRAP(place, TrapKind::UnsupportedPath, "fm lies in L0B");
  CubeKernel type = mmad_kernel(product(16, 16, 16), kL0c, kL0a, kL0b, DType::F16, DType::F16);
  EXPECT_TRAP(type, TrapKind::UnsupportedType, "half by half into half");
  CubeKernel vector(
      [] { dav::mmad(kL0c, DType::F32, kL0a, DType::F16, kL0b, DType::F16, product(16, 16, 16)); },
      "Ascend910B3", true);
  EXPECT_TRAP(vector, TrapKind::UnsupportedOp, "no pipe M");
  CubeKernel beyond = mmad_kernel(product(512, 128, 64));
  EXPECT_TRAP(beyond, TrapKind::OutOfBounds, "L0C");
}

// Rows 12 to 15 of A and columns 12 to 15 of B have no values.
CubeKernel partly_defined(const std::vector<Half>& a, const std::vector<Half>& bt,
                          std::vector<float>& out, uint32_t m, uint32_t n, uint32_t rows,
                          uint32_t columns) {
  CubeKernel k([&a, &bt, &out, m, n, rows, columns] {
    to_nz(kLeft, a, DType::F16, 12, 16);
    to_nz(kRight, bt, DType::F16, 12, 16);
    load_a(kLeft, DType::F16, 12, 16);
    load_b_transposed(kRight, DType::F16, 12, 16);
    dav::mmad(kL0c, DType::F32, kL0a, DType::F16, kL0b, DType::F16, product(m, n, 16));
    barrier();
    dav::MmadDesc more = product(m, n, 16);
    more.init_zero = false;
    dav::mmad(kL0c, DType::F32, kL0a, DType::F16, kL0b, DType::F16, more);
    barrier();
    if (rows != 0) {
      dav::fixpipe_to_gm(addr(out), DType::F32, kL0c, DType::F32, rows_out(rows, columns));
    }
  });
  k.input(a).input(bt).output(out);
  return k;
}

TEST(CubeMmad, UndefinedRowsAndColumnsOfOperandsAreErrorsWhereTheResultIsRead) {
  const auto a = small_integers<Half>(16 * 16, 1), bt = small_integers<Half>(16 * 16, 2);
  std::vector<float> out(256);
  partly_defined(a, bt, out, 12, 12, 12, 12).run();
  partly_defined(a, bt, out, 16, 16, 0, 0).run();
  partly_defined(a, bt, out, 16, 16, 12, 12).run();
  for (int row = 0; row < 12; ++row) {
    for (int column = 0; column < 12; ++column) {
      float sum = 0;
      for (int i = 0; i < 16; ++i) sum += float(a[row * 16 + i]) * float(bt[column * 16 + i]);
      EXPECT_EQ(out[row * 12 + column], 2 * sum);
    }
  }
  CubeKernel row = partly_defined(a, bt, out, 16, 16, 13, 12);
  EXPECT_TRAP(row, TrapKind::UninitialisedRead, "L0C");
  CubeKernel column = partly_defined(a, bt, out, 16, 16, 12, 13);
  EXPECT_TRAP(column, TrapKind::UninitialisedRead, "L0C");
}

TEST(CubeMmad, OperandsWithoutAnyDefinedRowTrapAtOnce) {
  const auto bt = small_integers<Half>(16 * 16, 2);
  CubeKernel k([&] {
    to_nz(kRight, bt, DType::F16, 16, 16);
    load_b_transposed(kRight, DType::F16, 16, 16);
    dav::mmad(kL0c, DType::F32, kL0a, DType::F16, kL0b, DType::F16, product(16, 16, 16));
  });
  k.input(bt);
  EXPECT_TRAP(k, TrapKind::UninitialisedRead, "Mmad", "L0A");
}

}  // namespace
