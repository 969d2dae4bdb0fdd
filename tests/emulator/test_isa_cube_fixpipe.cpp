// Fixpipe: formats, conversions, quantisation, registers, limits.
#include <algorithm>
#include <cmath>

#include "isa_cube_rig.h"

namespace {

using namespace dav_test;
using dav::Bfloat16;
using dav::Buffer;
using dav::DType;
using dav::FixpipeDesc;
using dav::Half;
using dav::Quant;
using dav::TrapKind;

// Puts `values` (rows x columns, multiples of 16) into L0C by multiplying them with the identity.
// They are the products' left operand, so float passes exactly.
void into_l0c(const std::vector<float>& values, const std::vector<float>& identity, uint32_t rows,
              uint32_t columns) {
  to_nz(0, values, DType::F32, rows, columns);
  to_nz(256 * 1024, identity, DType::F32, columns, columns);
  load_a(0, DType::F32, rows, columns);
  load_b_transposed(256 * 1024, DType::F32, columns, columns);
  dav::mmad(kL0c, DType::F32, kL0a, DType::F32, kL0b, DType::F32, product(rows, columns, columns));
  barrier();
}

std::vector<float> identity(uint32_t n) {
  std::vector<float> m(size_t{n} * n, 0.f);
  for (uint32_t i = 0; i < n; ++i) m[size_t{i} * n + i] = 1;
  return m;
}

// Integers in L0C: the same way, with bytes.
void into_l0c(const std::vector<int8_t>& values, const std::vector<int8_t>& identity, uint32_t rows,
              uint32_t columns) {
  to_nz(0, values, DType::I8, rows, columns);
  to_nz(256 * 1024, identity, DType::I8, columns, columns);
  load_a(0, DType::I8, rows, columns);
  load_b_transposed(256 * 1024, DType::I8, columns, columns);
  dav::mmad(kL0c, DType::I32, kL0a, DType::I8, kL0b, DType::I8, product(rows, columns, columns));
  barrier();
}

std::vector<float> signed_ramp(size_t count) {
  std::vector<float> v(count);
  for (size_t i = 0; i < count; ++i) v[i] = (i % 2 != 0 ? -1.f : 1.f) * float(i) / 8;
  return v;
}

FixpipeDesc nz_out(uint32_t m, uint32_t n, uint32_t dst_stride, Quant quant) {
  FixpipeDesc d;
  d.nSize = n;
  d.mSize = m;
  d.srcStride = tiles(m) * 16;
  d.dstStride = dst_stride;
  d.quant = quant;
  return d;
}

TEST(CubeFixpipe, RowsWithAnyWidthAndStride) {
  const auto values = signed_ramp(32 * 48);
  const auto unit = identity(48);
  std::vector<float> out(20 * 50, -1.f);
  CubeKernel k([&] {
    into_l0c(values, unit, 32, 48);
    FixpipeDesc d = rows_out(20, 37);
    d.srcStride = 32;
    d.dstStride = 50;
    dav::fixpipe_to_gm(addr(out), DType::F32, kL0c, DType::F32, d);
  });
  k.input(values).input(unit).inout(out).run();
  for (int r = 0; r < 20; ++r) {
    for (int c = 0; c < 50; ++c) EXPECT_EQ(out[r * 50 + c], c < 37 ? values[r * 48 + c] : -1.f);
  }
}

template <typename T>
std::vector<T> converted_rows(const std::vector<float>& values, DType type, Quant quant,
                              bool relu) {
  const auto unit = identity(16);
  std::vector<T> out(256);
  CubeKernel k([&] {
    into_l0c(values, unit, 16, 16);
    FixpipeDesc d = rows_out(16, 16);
    d.quant = quant;
    d.relu = relu;
    dav::fixpipe_to_gm(addr(out), type, kL0c, DType::F32, d);
  });
  k.input(values).input(unit).output(out).run();
  return out;
}

TEST(CubeFixpipe, RoundsToNearestEvenAndClampsNegatives) {
  auto values = signed_ramp(256);
  values[0] = 1 + 0x1p-11f;      // halfway in half: down to even
  values[2] = 1 + 3 * 0x1p-11f;  // up to even
  values[4] = 1 + 0x1p-8f;       // halfway in bfloat16: down
  values[6] = 1 + 3 * 0x1p-8f;   // up
  const auto half = converted_rows<Half>(values, DType::F16, Quant::F16, false);
  EXPECT_EQ(half[0].bits, 0x3c00);
  EXPECT_EQ(half[2].bits, 0x3c02);
  EXPECT_EQ(float(half[255]), values[255]);
  const auto brain = converted_rows<Bfloat16>(values, DType::BF16, Quant::Bf16, false);
  EXPECT_EQ(brain[4].bits, 0x3f80);
  EXPECT_EQ(brain[6].bits, 0x3f82);
  const auto relu = converted_rows<Half>(values, DType::F16, Quant::F16, true);
  for (int i = 8; i < 256; ++i) EXPECT_EQ(float(relu[i]), std::max(values[i], 0.f));
  const auto plain = converted_rows<float>(values, DType::F32, Quant::None, true);
  for (int i = 0; i < 256; ++i) EXPECT_EQ(plain[i], std::max(values[i], 0.f));
}

TEST(CubeFixpipe, SeveralMatricesOfRows) {
  // Two 16x16 matrices side by side in L0C: 1024 bytes, one unit of srcNdStride, apart.
  const auto values = signed_ramp(16 * 32);
  const auto unit = identity(32);
  std::vector<float> out(2 * 256 + 8, -1.f);
  CubeKernel k([&] {
    into_l0c(values, unit, 16, 32);
    FixpipeDesc d = rows_out(16, 16);
    d.ndNum = 2;
    d.srcNdStride = 1;
    d.dstNdStride = 264;
    dav::fixpipe_to_gm(addr(out), DType::F32, kL0c, DType::F32, d);
  });
  k.input(values).input(unit).inout(out).run();
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(out[i], values[i / 16 * 32 + i % 16]);
    EXPECT_EQ(out[264 + i], values[i / 16 * 32 + 16 + i % 16]);
  }
}

TEST(CubeFixpipe, NzToL1ServesTheNextProduct) {
  const auto values = signed_ramp(32 * 48);
  const auto unit = identity(48);
  std::vector<Half> out(3 * 32 * 16);
  CubeKernel k([&] {
    into_l0c(values, unit, 32, 48);
    dav::fixpipe_to_l1({Buffer::L1, 64}, DType::F16, kL0c, DType::F32,
                       nz_out(32, 48, 32, Quant::F16));
    barrier();
    dav::data_copy_out(addr(out), {Buffer::L1, 64}, DType::F16, {1, 96, 0, 0});
  });
  k.input(values).input(unit).output(out).run();
  for (int r = 0; r < 32; ++r) {
    for (int c = 0; c < 48; ++c) {
      EXPECT_EQ(float(out[(c / 16 * 32 + r) * 16 + c % 16]), float(Half(values[r * 48 + c])));
    }
  }
}

TEST(CubeFixpipe, NzOfFloatWholeAndSplit) {
  const auto values = signed_ramp(16 * 32);
  const auto unit = identity(32);
  alignas(32) static float storage[2][512];
  for (const bool split : {false, true}) {
    std::vector<float> out(512 + 8);
    // NZ output wants 32-byte addresses.
    const size_t skip = (32 - addr(out) % 32) % 32 / 4;
    CubeKernel k([&] {
      into_l0c(values, unit, 16, 32);
      FixpipeDesc d = nz_out(16, 32, split ? 16 : 32, Quant::None);
      d.channelSplit = split;
      dav::fixpipe_to_gm(addr(out, skip), DType::F32, kL0c, DType::F32, d);
    });
    k.input(values).input(unit).output(out).run();
    std::copy(out.begin() + skip, out.begin() + skip + 512, storage[split]);
  }
  for (int r = 0; r < 16; ++r) {
    for (int c = 0; c < 32; ++c) {
      EXPECT_EQ(storage[0][(c / 16 * 16 + r) * 16 + c % 16], values[r * 32 + c]);
      EXPECT_EQ(storage[1][(c / 8 * 16 + r) * 8 + c % 8], values[r * 32 + c]);
    }
  }
}

uint64_t factor(float scale, int offset, bool is_signed) {
  return uint64_t{dav::float_bits(scale)} | uint64_t(offset & 0x1ff) << 37 |
         uint64_t{is_signed} << 46;
}

TEST(CubeFixpipe, QuantisesFloatToBytesAndMergesChannels) {
  // value * 0.5 + 3, as int8_t: three columns of fractals, two merged, one alone.
  std::vector<float> values(16 * 48);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i % 600) - 300;
  const auto unit = identity(48);
  std::vector<int8_t> out(16 * 48);
  CubeKernel k([&] {
    into_l0c(values, unit, 16, 48);
    FixpipeDesc d = nz_out(16, 48, 16, Quant::F32ToB8);
    d.quant_scalar = factor(0.5f, 3, true);
    dav::fixpipe_to_l1({Buffer::L1, 0}, DType::I8, kL0c, DType::F32, d);
    barrier();
    dav::data_copy_out(addr(out), {Buffer::L1, 0}, DType::I8, {1, 24, 0, 0});
  });
  k.input(values).input(unit).output(out).run();
  for (int r = 0; r < 16; ++r) {
    for (int c = 0; c < 48; ++c) {
      const double rounded = std::nearbyint(values[r * 48 + c] * 0.5);
      const int expected = std::min(127, std::max(-128, static_cast<int>(rounded) + 3));
      const int at = c < 32 ? r * 32 + c : 512 + r * 16 + c - 32;
      EXPECT_EQ(out[at], expected) << r << "," << c;
    }
  }
}

TEST(CubeFixpipe, DequantisesPerColumnAndPerTensor) {
  std::vector<int8_t> values(256), unit(256, 0);
  for (int i = 0; i < 256; ++i) values[i] = static_cast<int8_t>(i - 128);
  for (int i = 0; i < 16; ++i) unit[i * 17] = 1;
  std::vector<uint64_t> factors(16);
  for (int i = 0; i < 16; ++i) factors[i] = factor(float(i + 1) / 4, 0, false);
  std::vector<Half> by_column(256), by_tensor(256);
  CubeKernel k([&] {
    into_l0c(values, unit, 16, 16);
    dav::data_copy_in({Buffer::L1, 0}, addr(factors), DType::U64, {1, 4, 0, 0});
    barrier();
    dav::data_copy_local({Buffer::FB, 0}, DType::U64, {Buffer::L1, 0}, DType::U64, {1, 1, 0, 0});
    barrier();
    FixpipeDesc d = rows_out(16, 16);
    d.quant = Quant::VDeqF16;
    dav::fixpipe_to_gm(addr(by_column), DType::F16, kL0c, DType::I32, d);
    d.quant = Quant::DeqF16;
    d.quant_scalar = factor(0.5f, 0, false);
    d.relu = true;
    dav::fixpipe_to_gm(addr(by_tensor), DType::F16, kL0c, DType::I32, d);
  });
  k.input(values).input(unit).input(factors).output(by_column).output(by_tensor).run();
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(float(by_column[i]), (i - 128) * float(i % 16 + 1) / 4);
    EXPECT_EQ(float(by_tensor[i]), std::max(0.f, (i - 128) * 0.5f));
  }
}

TEST(CubeFixpipe, DataCopyTakesItsParametersFromRegisters) {
  const auto values = signed_ramp(256);
  const auto unit = identity(16);
  std::vector<uint8_t> out(256);
  CubeKernel k([&] {
    into_l0c(values, unit, 16, 16);
    dav::set_fixpipe_nz2nd(1, 0, 0);
    dav::set_fixpipe_quant_scalar(factor(2, 0, false));
    FixpipeDesc d = rows_out(16, 16);
    d.quant = Quant::F32ToB8;
    dav::l0c_copy_to_gm(addr(out), DType::U8, kL0c, DType::F32, d);
  });
  k.input(values).input(unit).output(out).run();
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(out[i], std::max(0.f, std::nearbyint(std::min(values[i] * 2, 255.f))));
  }
  CubeKernel unset(
      [&] { dav::l0c_copy_to_gm(addr(out), DType::F32, kL0c, DType::F32, rows_out(16, 16)); });
  unset.output(out);
  EXPECT_TRAP(unset, TrapKind::IllegalArgument, "SetFixpipeNz2ndFlag");
}

TEST(CubeFixpipe, AtomicAddsAndUndefinedLanesTrap) {
  const auto values = signed_ramp(256);
  const auto unit = identity(16);
  std::vector<float> out(256, 10.f);
  CubeKernel k([&] {
    into_l0c(values, unit, 16, 16);
    dav::set_atomic(dav::Atomic::Add, DType::F32);
    dav::fixpipe_to_gm(addr(out), DType::F32, kL0c, DType::F32, rows_out(16, 16));
  });
  k.input(values).input(unit).inout(out).run();
  for (int i = 0; i < 256; ++i) EXPECT_EQ(out[i], 10 + values[i]);

  CubeKernel beyond([&] {
    into_l0c(values, unit, 15, 16);
    dav::fixpipe_to_gm(addr(out), DType::F32, kL0c, DType::F32, rows_out(16, 16));
  });
  beyond.input(values).input(unit).inout(out);
  EXPECT_TRAP(beyond, TrapKind::UninitialisedRead, "L0C");
}

TEST(CubeFixpipe, Refusals) {
  std::vector<float> out(4096);
  const auto refuse = [&](TrapKind kind, const char* text, DType to, DType from, dav::Local src,
                          FixpipeDesc d) {
    CubeKernel k([&, to, from, src, d] { dav::fixpipe_to_gm(addr(out), to, src, from, d); });
    k.output(out);
    EXPECT_TRAP(k, kind, text);
  };
  const DType f32 = DType::F32;
  FixpipeDesc d = rows_out(16, 16);
  refuse(TrapKind::Misaligned, "64", f32, f32, {Buffer::L0C, 32}, d);
  refuse(TrapKind::UnsupportedPath, "L0A", f32, f32, kL0a, d);
  refuse(TrapKind::UnsupportedType, "float to half", DType::F16, f32, kL0c, d);
  d.nSize = 4096;
  refuse(TrapKind::IllegalArgument, "nSize is 4096", f32, f32, kL0c, d);
  d = rows_out(8193, 16);
  refuse(TrapKind::IllegalArgument, "mSize is 8193", f32, f32, kL0c, d);
  d = rows_out(16, 16);
  d.dstStride = 0;
  refuse(TrapKind::IllegalArgument, "dstStride is 0", f32, f32, kL0c, d);
  d = rows_out(16, 16);
  d.unitFlag = 1;
  refuse(TrapKind::IllegalArgument, "unitFlag is 1", f32, f32, kL0c, d);
  d = rows_out(16, 16);
  d.channelSplit = true;
  refuse(TrapKind::IllegalArgument, "exclude each other", f32, f32, kL0c, d);
  d = rows_out(16, 16);
  d.ndNum = 2;
  d.srcNdStride = 513;
  refuse(TrapKind::IllegalArgument, "srcNdStride is 513", f32, f32, kL0c, d);
  CubeKernel width([&] {
    dav::fixpipe_to_l1({Buffer::L1, 0}, DType::F16, kL0c, f32, nz_out(16, 24, 16, Quant::F16));
  });
  EXPECT_TRAP(width, TrapKind::IllegalArgument, "nSize is 24");
  CubeKernel plain([&] {
    dav::fixpipe_to_l1({Buffer::L1, 0}, f32, kL0c, f32, nz_out(16, 16, 16, Quant::None));
  });
  EXPECT_TRAP(plain, TrapKind::UnsupportedType, "in L1");
  CubeKernel vector([&] { dav::fixpipe_to_gm(addr(out), f32, kL0c, f32, rows_out(16, 16)); },
                    "Ascend910B3", true);
  EXPECT_TRAP(vector, TrapKind::UnsupportedOp, "no pipe FIX");
}

}  // namespace
