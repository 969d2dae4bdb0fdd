// LoadData 3D: image to column, and the matrix an NZ matrix in L1 is to it.
#include "isa_cube_rig.h"

namespace {

using namespace dav_test;
using dav::Buffer;
using dav::DType;
using dav::Half;
using dav::TrapKind;

dav::Load3dDesc matrix_3d(uint32_t rows, uint32_t columns) {
  dav::Load3dDesc d;
  d.channelSize = columns;
  d.kExtension = columns;
  d.mExtension = rows;
  return d;
}

void feature_map(uint32_t h, uint32_t w, std::vector<uint8_t> pads = {0, 0, 0, 0}) {
  dav::set_fmatrix(false, h, w, pads.data());
}

// NZ of rows x columns in L1 read as a feature map of one row of positions.
template <typename T, typename Check>
void with_3d(DType type, uint32_t rows, uint32_t columns, dav::Local dst, dav::Load3dDesc d,
             size_t count, const Check& check) {
  const auto in = counting<T>(size_t{rows} * columns);
  std::vector<T> out;
  CubeKernel k([&] {
    to_nz(0, in, type, rows, columns);
    feature_map(1, rows);
    dav::load_data_3d(dst, {Buffer::L1, 0}, type, d);
    out = peek<T>(dst.buffer, count);
  });
  k.input(in).run();
  for (uint32_t r = 0; r < d.mExtension; ++r) {
    for (uint32_t c = 0; c < d.kExtension; ++c) {
      const T expected = in[size_t{r + d.mStartPt} * columns + c + d.kStartPt];
      ASSERT_EQ(out[check(r, c)], expected) << r << "," << c;
    }
  }
}

// Beyond the boundary a load goes on at the start of L1.
TEST(CubeLoad3d, WalksAroundInItsBoundary) {
  const auto in = counting<uint16_t>(512);
  std::vector<uint16_t> out;
  CubeKernel k([&] {
    dav::data_copy_in({Buffer::L1, 0}, addr(in, 0), DType::F16, {1, 32, 0, 0});
    barrier();
    const uint8_t none[4] = {};
    dav::set_fmatrix(false, 64, 1, none);
    dav::set_load3d_boundary(1024);
    dav::Load3dDesc d;
    d.channelSize = d.kExtension = 16;
    d.mExtension = 64;
    dav::load_data_3d({Buffer::L0A, 0}, {Buffer::L1, 0}, DType::F16, d);
    barrier();
    out = peek<uint16_t>(Buffer::L0A, 1024);
  });
  k.input(in).run();
  for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], in[i % 512]) << i;
  CubeKernel small([] { dav::set_load3d_boundary(512); });
  EXPECT_TRAP(small, TrapKind::IllegalArgument, "boundaryValue");
}

TEST(CubeLoad3d, MatrixToL0a) {
  const auto plain = [](uint32_t r, uint32_t c) { return in_l0a(r, c, 16, 3); };
  with_3d<uint16_t>(DType::F16, 32, 48, kL0a, matrix_3d(32, 48), 32 * 48, plain);
  // A part of it: rows 16 to 47, columns 32 to 63.
  dav::Load3dDesc part = matrix_3d(32, 64);
  part.kExtension = 32;
  part.kStartPt = 32;
  part.mStartPt = 16;
  const auto cut = [](uint32_t r, uint32_t c) { return in_l0a(r, c, 16, 2); };
  with_3d<uint16_t>(DType::F16, 64, 64, kL0a, part, 32 * 32, cut);
}

TEST(CubeLoad3d, TransposedMatrixToL0a) {
  dav::Load3dDesc d = matrix_3d(32, 48);
  d.enTranspose = true;
  const auto half = [](uint32_t r, uint32_t c) { return in_l0a(c, r, 16, 2); };
  with_3d<uint16_t>(DType::F16, 32, 48, kL0a, d, 32 * 48, half);
  // Four-byte elements: 32 rows become four fractals across.
  const auto word = [](uint32_t r, uint32_t c) { return in_l0a(c, r, 8, 4); };
  with_3d<uint32_t>(DType::F32, 32, 48, kL0a, d, 32 * 48, word);
}

// Iterations are parts of one matrix: rows 0 to 15 and 32 to 47, columns 0 to 15 and 32 to 47.
TEST(CubeLoad3d, RepeatsTakePartsOfTheMatrix) {
  constexpr uint32_t rows = 64, columns = 64;
  const auto in = counting<uint16_t>(rows * columns);
  const auto load = [&](dav::Local dst, bool along_k, bool transpose, uint32_t times) {
    std::vector<uint16_t> out;
    CubeKernel k([&] {
      to_nz(0, in, DType::F16, rows, columns);
      feature_map(1, rows);
      dav::set_load3d_repeat(2, times, along_k ? 1 : 0);
      dav::Load3dDesc d = matrix_3d(16, columns);
      d.kExtension = 16;
      d.enTranspose = transpose;
      dav::load_data_3d(dst, {Buffer::L1, 0}, DType::F16, d);
      out = peek<uint16_t>(dst.buffer, 512);
    });
    k.input(in).run();
    return out;
  };
  const auto below = load(kL0a, false, false, 2), beside = load(kL0a, true, false, 2);
  const auto below_b = load(kL0b, false, true, 2), beside_b = load(kL0b, true, true, 2);
  for (uint32_t i = 0; i < 32; ++i) {
    for (uint32_t j = 0; j < 16; ++j) {
      const uint32_t far = i / 16 * 32 + i % 16;
      EXPECT_EQ(below[in_l0a(i, j, 16, 1)], in[far * columns + j]);
      EXPECT_EQ(beside[in_l0a(j, i, 16, 2)], in[j * columns + far]);
      EXPECT_EQ(below_b[in_l0b(i, j, 16, 1)], in[far * columns + j]);
      EXPECT_EQ(beside_b[in_l0b(j, i, 16, 2)], in[j * columns + far]);
    }
  }
  // No iteration is no load: L0A keeps the pattern of fresh memory.
  const auto none = load(kL0a, false, false, 0);
  for (uint32_t i = 1; i < none.size(); ++i) EXPECT_EQ(none[i], none[0]);
  CubeKernel wide([&] {
    to_nz(0, in, DType::F16, rows, columns);
    feature_map(1, rows);
    dav::set_load3d_repeat(1, 2, 1);
    dav::load_data_3d(kL0a, {Buffer::L1, 0}, DType::F16, matrix_3d(32, 16));
  });
  wide.input(in);
  EXPECT_TRAP(wide, TrapKind::UnsupportedOp, "repeats along K");
  CubeKernel beyond([&] {
    to_nz(0, in, DType::F16, rows, columns);
    feature_map(1, rows);
    dav::set_load3d_repeat(2, 3, 1);
    dav::load_data_3d(kL0a, {Buffer::L1, 0}, DType::F16, matrix_3d(16, columns));
  });
  beyond.input(in);
  EXPECT_TRAP(beyond, TrapKind::IllegalArgument, "block 6 of 4");
}

TEST(CubeLoad3d, RightMatrixToL0b) {
  const auto half = [](uint32_t r, uint32_t c) { return in_l0b(r, c, 16, 3); };
  with_3d<uint16_t>(DType::F16, 32, 48, kL0b, matrix_3d(32, 48), 32 * 48, half);
  const auto word = [](uint32_t r, uint32_t c) { return in_l0b(r, c, 8, 3); };
  with_3d<uint32_t>(DType::F32, 32, 48, kL0b, matrix_3d(32, 48), 32 * 48, word);
}

TEST(CubeLoad3d, ImageToColumnWithPadding) {
  // A 4x4 image of 16 channels, 3x3 filter, one row and column of padding: position (0, 0) sees its
  // own pixel under tap (1, 1) and padding under the taps above and to the left.
  const auto in = counting<uint16_t>(16 * 16);
  std::vector<uint16_t> out;
  CubeKernel k([&] {
    fill_l1(in);
    feature_map(4, 4, {1, 1, 1, 1});
    dav::set_load_padding(777);
    dav::Load3dDesc d = matrix_3d(16, 16);
    d.filterW = d.filterH = 3;
    d.kExtension = 9 * 16;
    dav::load_data_3d(kL0a, {Buffer::L1, 0}, DType::F16, d);
    out = peek<uint16_t>(Buffer::L0A, 9 * 256);
  });
  k.input(in).run();
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      for (int tap = 0; tap < 9; ++tap) {
        const int iy = y + tap / 3 - 1, ix = x + tap % 3 - 1;
        const bool inside = iy >= 0 && iy < 4 && ix >= 0 && ix < 4;
        for (int c = 0; c < 16; ++c) {
          const int expected = inside ? (iy * 4 + ix) * 16 + c + 1 : 777;
          ASSERT_EQ(out[in_l0a(y * 4 + x, tap * 16 + c, 16, 9)], expected);
        }
      }
    }
  }
}

TEST(CubeLoad3d, Refusals) {
  const auto refuse = [](TrapKind kind, const char* text, dav::Load3dDesc d, DType type,
                         dav::Local dst) {
    CubeKernel k([=] {
      feature_map(1, 32);
      dav::load_data_3d(dst, {Buffer::L1, 0}, type, d);
    });
    EXPECT_TRAP(k, kind, text);
  };
  dav::Load3dDesc d = matrix_3d(32, 32);
  d.kStartPt = 8;
  refuse(TrapKind::IllegalArgument, "kStartPt is 8", d, DType::F16, kL0a);
  d.kStartPt = 16;
  refuse(TrapKind::IllegalArgument, "kStartPt + kExtension", d, DType::F16, kL0a);
  d = matrix_3d(32, 32);
  d.strideW = 64;
  refuse(TrapKind::IllegalArgument, "strideW is 64", d, DType::F16, kL0a);
  refuse(TrapKind::UnsupportedType, "int8_t", matrix_3d(32, 32), DType::I8, kL0b);
  refuse(TrapKind::UnsupportedType, "uint16_t", matrix_3d(32, 32), DType::U16, kL0a);
  refuse(TrapKind::Misaligned, "512", matrix_3d(32, 32), DType::F16, {Buffer::L0A, 128});
  // LoadData3DParamsV2: what channelSize leaves over, mStartPt, lengths short of the last fractal.
  refuse(TrapKind::IllegalArgument, "channelSize is 44", matrix_3d(32, 44), DType::F16, kL0a);
  refuse(TrapKind::IllegalArgument, "channelSize is 34", matrix_3d(32, 34), DType::I8, kL0a);
  refuse(TrapKind::IllegalArgument, "channelSize is 6", matrix_3d(32, 6), DType::F32, kL0a);
  d = matrix_3d(16, 32);
  d.mStartPt = 8;
  refuse(TrapKind::IllegalArgument, "mStartPt is 8", d, DType::F16, kL0a);
  d = matrix_3d(32, 48);
  d.kExtension = 24;
  refuse(TrapKind::IllegalArgument, "kExtension is 24", d, DType::F16, kL0a);
  d = matrix_3d(10, 32);
  refuse(TrapKind::IllegalArgument, "mExtension is 10", d, DType::F16, kL0a);
}

// Lengths that cover the last fractal need be no multiple of anything.
TEST(CubeLoad3d, MayEndInItsLastFractal) {
  const auto plain = [](uint32_t r, uint32_t c) { return in_l0a(r, c, 16, 2); };
  dav::Load3dDesc d = matrix_3d(10, 40);
  d.kExtension = 24;
  d.kStartPt = d.mStartPt = 16;
  with_3d<uint16_t>(DType::F16, 32, 40, kL0a, d, 16 * 32, plain);
}

TEST(CubeLoad3d, TheFirstGenerationHasNoRegistersForIt) {
  CubeKernel map([] { feature_map(1, 32); }, "Ascend910A");
  EXPECT_TRAP(map, TrapKind::UnsupportedOp, "Ascend910A lacks");
  CubeKernel boundary([] { dav::set_load3d_boundary(0); }, "Ascend910A");
  EXPECT_TRAP(boundary, TrapKind::UnsupportedOp, "Ascend910A lacks");
  CubeKernel repeat([] { dav::set_load3d_repeat(0, 1, 0); }, "Ascend910A");
  EXPECT_TRAP(repeat, TrapKind::UnsupportedOp, "Ascend910A lacks");
}

}  // namespace
