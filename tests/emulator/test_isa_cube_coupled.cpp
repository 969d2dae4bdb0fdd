// The coupled chip (910A): cube and vector on one core, L0C to UB to L1 on chip, what it lacks.
#include "isa_cube_rig.h"

namespace {

using namespace dav_test;
using dav::Bfloat16;
using dav::Buffer;
using dav::DType;
using dav::Half;
using dav::TrapKind;

constexpr const char* kSoc = "Ascend910A";

// NZ of rows x columns already in NZ order in GM: the chip cannot make it on the way.
template <typename T>
std::vector<T> nz_of(const std::vector<T>& m, uint32_t rows, uint32_t columns) {
  const uint32_t c0 = 32 / sizeof(T), high = tiles(rows) * 16;
  std::vector<T> nz(size_t{tiles(columns, c0)} * high * c0, T(0));
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t c = 0; c < columns; ++c) {
      nz[(size_t{c / c0} * high + r) * c0 + c % c0] = m[size_t{r} * columns + c];
    }
  }
  return nz;
}

template <typename T>
void to_l1(uint32_t at, const std::vector<T>& data, DType type) {
  dav::data_copy_in({Buffer::L1, at}, addr(data), type,
                    {1, static_cast<uint32_t>(data.size() * sizeof(T) / 32), 0, 0});
  barrier();
}

// Fractals of L0C, column of fractals after column, to rows.
template <typename T>
T at_nz(const std::vector<T>& nz, uint32_t rows, uint32_t r, uint32_t c) {
  return nz[(size_t{c / 16} * tiles(rows) * 16 + r) * 16 + c % 16];
}

template <typename C>
std::vector<C> product_by_ub(DType c_type, DType ub_type, bool relu, const std::vector<Half>& a,
                             const std::vector<Half>& bt, uint32_t m, uint32_t n, uint32_t k) {
  const auto a_nz = nz_of(a, m, k), bt_nz = nz_of(bt, n, k);
  const uint32_t fractals = tiles(m) * tiles(n);
  std::vector<C> out(fractals * 256);
  CubeKernel kernel(
      [&] {
        to_l1(0, a_nz, DType::F16);
        to_l1(512 * 1024, bt_nz, DType::F16);
        load_a(0, DType::F16, m, k);
        load_b_transposed(512 * 1024, DType::F16, n, k);
        dav::mmad(kL0c, c_type, kL0a, DType::F16, kL0b, DType::F16, product(m, n, k));
        barrier();
        dav::L0cToUbDesc d;
        d.blockLen = fractals;
        d.relu = relu;
        dav::l0c_to_ub({Buffer::UB, 0}, ub_type, kL0c, c_type, d);
        barrier();
        dav::data_copy_out(addr(out), {Buffer::UB, 0}, ub_type,
                           {1, static_cast<uint32_t>(out.size() * sizeof(C) / 32), 0, 0});
      },
      kSoc);
  kernel.input(a_nz).input(bt_nz).output(out).run();
  return out;
}

TEST(CubeCoupled, HalvesIntoFloatAndIntoHalf) {
  const uint32_t m = 32, n = 48, k = 64;
  const auto a = small_integers<Half>(m * k, 1), bt = small_integers<Half>(n * k, 4);
  const auto expected = reference<float>(a, bt, m, n, k);
  const auto wide = product_by_ub<float>(DType::F32, DType::F32, false, a, bt, m, n, k);
  const auto half = product_by_ub<Half>(DType::F16, DType::F16, false, a, bt, m, n, k);
  const auto narrowed = product_by_ub<Half>(DType::F32, DType::F16, true, a, bt, m, n, k);
  for (uint32_t r = 0; r < m; ++r) {
    for (uint32_t c = 0; c < n; ++c) {
      const float e = expected[r * n + c];
      EXPECT_EQ(at_nz(wide, m, r, c), e);
      EXPECT_EQ(float(at_nz(half, m, r, c)), e);
      EXPECT_EQ(float(at_nz(narrowed, m, r, c)), std::max(e, 0.f));
    }
  }
}

TEST(CubeCoupled, BytesOfBothSigns) {
  const uint32_t m = 16, n = 16, k = 32;
  std::vector<uint8_t> a(m * k);
  std::vector<int8_t> bt(n * k);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint8_t>(i * 11);
  for (size_t i = 0; i < bt.size(); ++i) bt[i] = static_cast<int8_t>(i * 7 - 90);
  const auto a_nz = nz_of(a, m, k);
  const auto bt_nz = nz_of(bt, n, k);
  std::vector<int32_t> out(256);
  CubeKernel kernel(
      [&] {
        to_l1(0, a_nz, DType::U8);
        to_l1(64 * 1024, bt_nz, DType::I8);
        load_a(0, DType::U8, m, k);
        load_b_transposed(64 * 1024, DType::I8, n, k);
        dav::mmad(kL0c, DType::I32, kL0a, DType::U8, kL0b, DType::I8, product(m, n, k));
        barrier();
        dav::L0cToUbDesc d;
        d.blockLen = 1;
        dav::l0c_to_ub({Buffer::UB, 0}, DType::I32, kL0c, DType::I32, d);
        barrier();
        dav::data_copy_out(addr(out), {Buffer::UB, 0}, DType::I32, {1, 32, 0, 0});
      },
      kSoc);
  kernel.input(a_nz).input(bt_nz).output(out).run();
  EXPECT_EQ(out, (reference<int32_t>(a, bt, m, n, k)));
}

TEST(CubeCoupled, UbFeedsL1AndTheAccumulator) {
  const auto a = small_integers<Half>(256, 1), bt = small_integers<Half>(256, 2);
  const auto a_nz = nz_of(a, 16, 16), bt_nz = nz_of(bt, 16, 16);
  std::vector<float> start(256), out(256);
  for (int i = 0; i < 256; ++i) start[i] = 1000.f + i;
  CubeKernel kernel(
      [&] {
        // The left operand goes through UB, as probabilities do in attention.
        dav::data_copy_in({Buffer::UB, 0}, addr(a_nz), DType::F16, {1, 16, 0, 0});
        dav::data_copy_in({Buffer::UB, 1024}, addr(start), DType::F32, {1, 32, 0, 0});
        barrier();
        dav::data_copy_local({Buffer::L1, 0}, DType::F16, {Buffer::UB, 0}, DType::F16,
                             {1, 16, 0, 0});
        dav::L0cToUbDesc one;
        one.blockLen = 1;
        dav::ub_to_l0c(kL0c, {Buffer::UB, 1024}, DType::F32, one);
        to_l1(1024, bt_nz, DType::F16);
        load_a(0, DType::F16, 16, 16);
        load_b_transposed(1024, DType::F16, 16, 16);
        dav::MmadDesc d = product(16, 16, 16);
        d.init_zero = false;
        dav::mmad(kL0c, DType::F32, kL0a, DType::F16, kL0b, DType::F16, d);
        barrier();
        dav::l0c_to_ub({Buffer::UB, 0}, DType::F32, kL0c, DType::F32, one);
        barrier();
        dav::data_copy_out(addr(out), {Buffer::UB, 0}, DType::F32, {1, 32, 0, 0});
      },
      kSoc);
  kernel.input(a_nz).input(bt_nz).input(start).output(out).run();
  auto expected = reference<float>(a, bt, 16, 16, 16);
  for (int i = 0; i < 256; ++i) expected[i] += start[i];
  EXPECT_EQ(out, expected);
}

// Four fractals in UB go to L0C; fractals 0 and 2 come back a block apart, and the first rows of
// fractals 0 and 1 in row mode.
TEST(CubeCoupled, GapsAndRows) {
  std::vector<float> in(4 * 256), out(2 * 264, -1.f), rows(32);
  for (size_t i = 0; i < in.size(); ++i) in[i] = float(i);
  CubeKernel kernel(
      [&] {
        dav::data_copy_in({Buffer::UB, 0}, addr(in), DType::F32, {1, 128, 0, 0});
        dav::data_copy_in({Buffer::UB, 8192}, addr(out), DType::F32, {1, 66, 0, 0});
        barrier();
        dav::L0cToUbDesc d;
        d.blockLen = 4;
        dav::ub_to_l0c(kL0c, {Buffer::UB, 0}, DType::F32, d);
        barrier();
        d.blockCount = 2;
        d.blockLen = 1;
        d.srcStride = 1;
        d.dstStride = 1;
        dav::l0c_to_ub({Buffer::UB, 8192}, DType::F32, kL0c, DType::F32, d);
        d = {};
        d.blockLen = 2;
        d.row_mode = true;
        dav::l0c_to_ub({Buffer::UB, 16384}, DType::F32, kL0c, DType::F32, d);
        barrier();
        dav::data_copy_out(addr(out), {Buffer::UB, 8192}, DType::F32, {1, 66, 0, 0});
        dav::data_copy_out(addr(rows), {Buffer::UB, 16384}, DType::F32, {1, 4, 0, 0});
      },
      kSoc);
  kernel.input(in).inout(out).output(rows).run();
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(out[i], float(i));
    EXPECT_EQ(out[264 + i], float(512 + i));
  }
  for (int i = 256; i < 264; ++i) EXPECT_EQ(out[i], -1.f);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(rows[i], float(i / 16 * 256 + i % 16));
}

// LoadData 2D: the library passes neither dstGap nor addrMode on. DataCopy: no way from L1 to GM.
TEST(CubeCoupled, LoadsAndCopiesLackOperandsAndPaths) {
  const auto refuse = [](TrapKind kind, const char* text, Body body) {
    CubeKernel k(std::move(body), "Ascend910A");
    EXPECT_TRAP(k, kind, text);
  };
  const dav::Local l1{Buffer::L1, 0};
  refuse(TrapKind::IllegalArgument, "dstGap is 1", [=] {
    dav::load_data_2d(kL0a, l1, DType::F16, {0, 2, 1, 1, false, false});
  });
  refuse(TrapKind::IllegalArgument, "dstGap is 1", [] {
    dav::load_data_2d_gm(kL0b, 4096, DType::F16, {0, 2, 1, 1, false, false});
  });
  refuse(TrapKind::IllegalArgument, "addrMode is 1", [=] {
    dav::load_data_2d_gm(l1, 4096, DType::F16, {2, 2, 1, 0, false, true});
  });
  refuse(TrapKind::UnsupportedPath, "from L1 to GM", [=] {
    dav::data_copy_out(4096, l1, DType::F16, {1, 1, 0, 0});
  });
}

TEST(CubeCoupled, LacksWhatLaterChipsBrought) {
  const auto refuse = [](TrapKind kind, const char* text, Body body) {
    CubeKernel k(std::move(body), kSoc);
    EXPECT_TRAP(k, kind, text);
  };
  const dav::Local l1{Buffer::L1, 0}, ub{Buffer::UB, 0};
  const auto one = product(16, 16, 16);
  refuse(TrapKind::UnsupportedOp, "Ascend910A lacks", [&] {
    dav::nd_to_nz(l1, 4096, DType::F16, {1, 1, 16, 0, 16, 1, 1, 0});
  });
  refuse(TrapKind::UnsupportedOp, "Ascend910A lacks", [&] {
    dav::data_copy_pad_in(ub, 4096, DType::F16, {1, 2, 0, 0}, {});
  });
  refuse(TrapKind::UnsupportedOp, "Ascend910A lacks",
         [&] { dav::load_data_3d(kL0a, l1, DType::F16, {}); });
  refuse(TrapKind::UnsupportedOp, "no pipe FIX",
         [&] { dav::fixpipe_to_gm(4096, DType::F32, kL0c, DType::F32, rows_out(16, 16)); });
  refuse(TrapKind::UnsupportedType, "float by float into float",
         [&] { dav::mmad(kL0c, DType::F32, kL0a, DType::F32, kL0b, DType::F32, one); });
  refuse(TrapKind::UnsupportedType, "bfloat16_t",
         [&] { dav::mmad(kL0c, DType::F32, kL0a, DType::BF16, kL0b, DType::BF16, one); });
  refuse(TrapKind::UnsupportedOp, "Ascend910A lacks", [&] {
    dav::MmadDesc d = one;
    d.init_zero = false;
    d.from_bias = true;
    dav::mmad(kL0c, DType::F32, kL0a, DType::F16, kL0b, DType::F16, d);
  });
  refuse(TrapKind::UnsupportedType, "cannot load float", [&] {
    dav::load_data_2d(kL0a, l1, DType::F32, {0, 1, 1, 0, false, false});
  });
  refuse(TrapKind::UnsupportedOp, "deqScale", [&] {
    dav::L0cToUbDesc d;
    d.blockLen = 1;
    d.quantised = true;
    dav::l0c_to_ub(ub, DType::F16, kL0c, DType::I32, d);
  });
  refuse(TrapKind::Misaligned, "1024", [&] {
    dav::L0cToUbDesc d;
    d.blockLen = 1;
    dav::l0c_to_ub(ub, DType::F32, {Buffer::L0C, 512}, DType::F32, d);
  });
}

}  // namespace
