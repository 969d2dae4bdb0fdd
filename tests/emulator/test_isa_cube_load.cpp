// LoadData in its forms: every element of the loaded matrix is where Mmad looks for it.
#include "isa_cube_rig.h"

namespace {

using namespace dav_test;
using dav::Buffer;
using dav::DType;
using dav::Half;
using dav::TrapKind;

TEST(CubeLoad2d, PicksAndPlacesFractals) {
  const auto in = counting<uint16_t>(8 * 256);
  std::vector<uint16_t> up;
  CubeKernel k([&] {
    fill_l1(in);
    // Fractals 1, 3, 5 to 0, 2, 4.
    dav::load_data_2d({Buffer::L0A, 0}, {Buffer::L1, 0}, DType::U16, {1, 3, 2, 1, false, false});
    up = peek<uint16_t>(Buffer::L0A, 5 * 256);
  });
  k.input(in).run();
  for (int f = 0; f < 3; ++f) {
    for (int e = 0; e < 256; ++e) EXPECT_EQ(up[f * 512 + e], in[(1 + 2 * f) * 256 + e]);
  }
}

TEST(CubeLoad2d, StrideZeroRepeatsOneFractalAndTransposeTurnsIt) {
  const auto in = counting<uint16_t>(256);
  std::vector<uint16_t> out;
  CubeKernel k([&] {
    fill_l1(in);
    dav::load_data_2d({Buffer::L0B, 0}, {Buffer::L1, 0}, DType::F16, {0, 2, 0, 0, true, false});
    out = peek<uint16_t>(Buffer::L0B, 512);
  });
  k.input(in).run();
  for (int f = 0; f < 2; ++f) {
    for (int r = 0; r < 16; ++r) {
      for (int c = 0; c < 16; ++c) EXPECT_EQ(out[f * 256 + c * 16 + r], r * 16 + c + 1);
    }
  }
}

TEST(CubeLoad2d, StraightFromGm) {
  const auto in = counting<uint16_t>(3 * 256);
  std::vector<uint16_t> a;
  std::vector<uint16_t> by_l1(512);
  CubeKernel k([&] {
    dav::load_data_2d_gm({Buffer::L0A, 512}, addr(in), DType::F16, {1, 2, 1, 0, false, false});
    a = peek<uint16_t>(Buffer::L0A, 3 * 256);
    dav::load_data_2d_gm({Buffer::L1, 32}, addr(in), DType::F16, {2, 2, 2, 0, false, true});
    barrier();
    dav::data_copy_out(addr(by_l1), {Buffer::L1, 32}, DType::F16, {1, 32, 0, 0});
  });
  k.input(in).output(by_l1).run();
  for (int e = 0; e < 512; ++e) EXPECT_EQ(a[256 + e], in[256 + e]);
  for (int e = 0; e < 256; ++e) {
    EXPECT_EQ(by_l1[e], in[512 + e]);
    EXPECT_EQ(by_l1[256 + e], in[e]);
  }
}

TEST(CubeLoad2d, Refusals) {
  const auto refuse = [](TrapKind kind, const char* text, dav::Local dst, dav::Local src,
                         DType type, dav::Load2dDesc d, bool vector = false) {
    CubeKernel k([=] { dav::load_data_2d(dst, src, type, d); }, "Ascend910B3", vector);
    EXPECT_TRAP(k, kind, text);
  };
  const dav::Local l1{Buffer::L1, 0};
  const dav::Load2dDesc one{0, 1, 1, 0, false, false};
  refuse(TrapKind::Misaligned, "512", {Buffer::L0A, 32}, l1, DType::F16, one);
  refuse(TrapKind::Misaligned, "32", kL0a, {Buffer::L1, 16}, DType::F16, one);
  refuse(TrapKind::IllegalArgument, "repeatTimes is 256", kL0a, l1, DType::F16,
         {0, 256, 1, 0, false, false});
  // LoadData 2D, addrMode: only GM to L1 may set it.
  refuse(TrapKind::IllegalArgument, "addrMode is 1", kL0a, l1, DType::F16,
         {6, 3, 1, 0, false, true});
  refuse(TrapKind::UnsupportedType, "16-bit", kL0a, l1, DType::F32, {0, 1, 1, 0, true, false});
  refuse(TrapKind::UnsupportedType, "int64_t", kL0a, l1, DType::I64, one);
  refuse(TrapKind::UnsupportedPath, "from L1 to L0C", kL0c, l1, DType::F16, one);
  refuse(TrapKind::OutOfBounds, "L0A", {Buffer::L0A, 64 * 1024}, l1, DType::F16, one);
  refuse(TrapKind::UnsupportedOp, "no pipe MTE1", kL0a, l1, DType::F16, one, true);
  CubeKernel from_gm([] {
    dav::load_data_2d_gm(kL0a, 4096, DType::F16, {0, 1, 1, 0, true, false});
  });
  EXPECT_TRAP(from_gm, TrapKind::UnsupportedPath, "transpose");
  CubeKernel down([] { dav::load_data_2d_gm(kL0a, 4096, DType::F16, {6, 3, 1, 0, false, true}); });
  EXPECT_TRAP(down, TrapKind::IllegalArgument, "addrMode is 1");
  const auto in = counting<uint16_t>(256);
  CubeKernel before([&] {
    dav::load_data_2d_gm({Buffer::L1, 0}, addr(in), DType::F16, {0, 2, 1, 0, false, true});
  });
  before.input(in);
  EXPECT_TRAP(before, TrapKind::IllegalArgument, "before the operand");
  CubeKernel nibbles([] {
    dav::load_data_2d_gm({Buffer::L1, 0}, 4096, DType::I4, {0, 1, 1, 0, false, false});
  });
  EXPECT_TRAP(nibbles, TrapKind::UnsupportedType, "int4b_t");
}

// A right matrix of k x n in GM, NZ in L1, to L0B, for 16-, 8- and 32-bit elements. L1 holds the
// squares one after the other, as the instruction wants them.
template <typename T>
void expect_transposed(DType type, uint32_t k_size, uint32_t n_size) {
  SCOPED_TRACE(static_cast<int>(type));
  const uint32_t c0 = 32 / sizeof(T), side = std::max(c0, 16u);
  const uint32_t n_tiles = n_size / 16;
  const auto in = counting<T>(size_t{k_size} * n_size);
  std::vector<T> out;
  CubeKernel k([&] {
    // One row of squares: k rows `side` high, all of n.
    const uint32_t squares = n_size / side, square_bytes = side * side * sizeof(T);
    for (uint32_t i = 0; i < k_size / side; ++i) {
      for (uint32_t j = 0; j < squares; ++j) {
        for (uint32_t part = 0; part < side / c0; ++part) {
          dav::Nd2NzDesc d{1, side, c0, 0, n_size, side, 1, 0};
          dav::nd_to_nz({Buffer::L1, (i * squares + j) * square_bytes + part * side * 32},
                        addr(in, size_t{i} * side * n_size + j * side + part * c0), type, d);
        }
      }
      barrier();
      dav::LoadTransposeDesc d;
      d.startIndex = i * squares;
      d.repeatTimes = squares;
      d.srcStride = 1;
      // A square makes side/16 fractals along n and side/c0 along k.
      d.dstGap = side / 16 - 1;
      d.dstFracGap = side > c0 ? n_tiles - 1 : 0;
      dav::load_data_transpose({Buffer::L0B, i * (side / c0) * n_tiles * 512}, {Buffer::L1, 0},
                               type, d);
      barrier();
    }
    out = peek<T>(Buffer::L0B, in.size());
  });
  k.input(in).run();
  for (uint32_t r = 0; r < k_size; ++r) {
    for (uint32_t c = 0; c < n_size; ++c) {
      ASSERT_EQ(out[in_l0b(r, c, c0, n_tiles)], in[size_t{r} * n_size + c]) << r << "," << c;
    }
  }
}

TEST(CubeLoadTranspose, RightMatrixOfEveryWidth) {
  expect_transposed<uint16_t>(DType::F16, 32, 48);
  expect_transposed<uint8_t>(DType::I8, 64, 96);
  expect_transposed<uint32_t>(DType::F32, 32, 48);
}

// Four fractals of 16 rows by 64 nibbles; the low half of a byte is the even column.
TEST(CubeLoadTranspose, SquareOfNibbles) {
  std::vector<uint8_t> in(2048), out;
  const auto value = [](uint32_t row, uint32_t column) { return (row * 7 + column * 3) & 15; };
  for (uint32_t r = 0; r < 64; ++r) {
    for (uint32_t c = 0; c < 64; c += 2) {
      in[r * 32 + c / 2] = static_cast<uint8_t>(value(r, c) | value(r, c + 1) << 4);
    }
  }
  CubeKernel k([&] {
    dav::data_copy_in({Buffer::L1, 0}, addr(in, 0), DType::I8, {1, 64, 0, 0});
    barrier();
    dav::LoadTransposeDesc d;
    d.repeatTimes = 1;
    d.srcStride = 1;
    dav::load_data_transpose({Buffer::L0B, 0}, {Buffer::L1, 0}, DType::I4, d);
    barrier();
    out = peek<uint8_t>(Buffer::L0B, 2048);
  });
  k.input(in).run();
  for (uint32_t r = 0; r < 64; ++r) {
    for (uint32_t c = 0; c < 64; ++c) {
      // Row r, column c of the result is column r, row c of the source.
      const uint32_t byte = out[r * 32 + c / 2];
      ASSERT_EQ(c % 2 == 0 ? byte & 15 : byte >> 4, value(c, r)) << r << "," << c;
    }
  }
  CubeKernel left([] { dav::load_data_transpose(kL0a, {Buffer::L1, 0}, DType::I4, {}); });
  EXPECT_TRAP(left, TrapKind::UnsupportedType, "L0A");
}

TEST(CubeLoadTranspose, Refusals) {
  CubeKernel aligned([] {
    dav::load_data_transpose({Buffer::L0B, 64}, {Buffer::L1, 0}, DType::F16, {});
  });
  EXPECT_TRAP(aligned, TrapKind::Misaligned, "512");
  CubeKernel type([] { dav::load_data_transpose(kL0b, {Buffer::L1, 0}, DType::I64, {}); });
  EXPECT_TRAP(type, TrapKind::UnsupportedType, "int64_t");
  // Of 16-bit types half and bfloat16_t only; addrMode is not handed to the instruction.
  CubeKernel integers([] { dav::load_data_transpose(kL0b, {Buffer::L1, 0}, DType::I16, {}); });
  EXPECT_TRAP(integers, TrapKind::UnsupportedType, "int16_t");
  CubeKernel down([] {
    dav::load_data_transpose(kL0b, {Buffer::L1, 0}, DType::F16, {4, 2, 1, 0, 0, true});
  });
  EXPECT_TRAP(down, TrapKind::IllegalArgument, "addrMode is 1");
  CubeKernel coupled(
      [] {
        dav::load_data_transpose(kL0b, {Buffer::L1, 0}, DType::F16, {});
      },
      "Ascend910A");
  EXPECT_TRAP(coupled, TrapKind::UnsupportedOp, "Ascend910A lacks");
}

TEST(CubeFill, FillsBlocksWithGaps) {
  std::vector<uint16_t> out(5 * 16, 0), a;
  CubeKernel k([&] {
    dav::fill_local({Buffer::L1, 0}, DType::U16, {2, 2, 1, 5});
    dav::fill_local({Buffer::L0A, 0}, DType::F32, {1, 1, 0, 0x3f800000});
    a = peek<uint16_t>(Buffer::L0A, 256);
    barrier();
    dav::data_copy_out(addr(out), {Buffer::L1, 0}, DType::U16, {2, 2, 1, 1});
  });
  k.inout(out).run();
  for (int i = 0; i < 80; ++i) EXPECT_EQ(out[i], i / 16 == 2 ? 0 : 5);
  for (int i = 0; i < 256; ++i) EXPECT_EQ(a[i], i % 2 == 0 ? 0 : 0x3f80);
}

TEST(CubeFill, Refusals) {
  CubeKernel range([] { dav::fill_local({Buffer::L1, 0}, DType::U16, {32768, 1, 0, 0}); });
  EXPECT_TRAP(range, TrapKind::IllegalArgument, "repeatTimes is 32768");
  CubeKernel aligned([] { dav::fill_local({Buffer::L0A, 32}, DType::U16, {1, 1, 0, 0}); });
  EXPECT_TRAP(aligned, TrapKind::Misaligned, "512");
  CubeKernel type([] { dav::fill_local({Buffer::L1, 0}, DType::U8, {1, 1, 0, 0}); });
  EXPECT_TRAP(type, TrapKind::UnsupportedType, "uint8_t");
  CubeKernel place([] { dav::fill_local(kL0c, DType::F32, {1, 1, 0, 0}); });
  EXPECT_TRAP(place, TrapKind::UnsupportedPath, "L0C");
}

}  // namespace
