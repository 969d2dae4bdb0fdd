// Fractals that lie otherwise than an instruction takes them, and unusual layouts that are right.
#include "isa_cube_rig.h"

namespace {

using namespace dav_test;
using dav::Buffer;
using dav::DType;
using dav::Half;
using dav::TrapKind;

constexpr uint32_t kLeft = 0, kRight = 128 * 1024;
constexpr uint32_t kFractal = 512;

// 64 x 64 on both sides, loaded as they should be unless the body does it otherwise.
struct Squares {
  std::vector<Half> a = small_integers<Half>(64 * 64, 1), b = small_integers<Half>(64 * 64, 5);
  std::vector<float> c = std::vector<float>(64 * 64);

  void to_l1() const {
    to_nz(kLeft, a, DType::F16, 64, 64);
    to_nz(kRight, b, DType::F16, 64, 64);
  }
  void load() const {
    to_l1();
    load_a(kLeft, DType::F16, 64, 64);
    load_b_transposed(kRight, DType::F16, 64, 64);
  }
  CubeKernel kernel(Body body) {
    CubeKernel k(std::move(body));
    k.input(a).input(b).output(c);
    return k;
  }
};

void multiply(const dav::MmadDesc& d) {
  dav::mmad(kL0c, DType::F32, kL0a, DType::F16, kL0b, DType::F16, d);
  barrier();
}

// One fractal of L1 to one of L0.
void load_one(Buffer dst, uint32_t to, uint32_t l1, bool transpose) {
  dav::Load2dDesc d;
  d.repeatTimes = 1;
  d.srcStride = 1;
  d.ifTranspose = transpose;
  dav::load_data_2d({dst, to * kFractal}, {Buffer::L1, l1}, DType::F16, d);
}

TEST(CubeFractals, RowsOfAAreAsLongAsTheyWereLoaded) {
  Squares s;
  auto k = s.kernel([&] {
    s.load();
    multiply(product(64, 64, 48));
  });
  EXPECT_TRAP(k, TrapKind::WrongFractal, "pipe M, Mmad", "fm at L0A[0x0, 0x200)",
              "rows of 3 fractals", "laid down in rows of 4", "loaded at");
}

TEST(CubeFractals, RowsOfBAreAsLongAsTheyWereLoaded) {
  Squares s;
  auto k = s.kernel([&] {
    s.load();
    multiply(product(64, 48, 64));
  });
  EXPECT_TRAP(k, TrapKind::WrongFractal, "filter at L0B[0x0, 0x200)", "rows of 3 fractals",
              "laid down in rows of 4");
}

// Data that came formatted: only the addresses in L1 tell.
TEST(CubeFractals, RowsAreKnownByTheirAddressesToo) {
  const std::vector<Half> nz = small_integers<Half>(64 * 64, 3);
  CubeKernel k([&] {
    dav::data_copy_in({Buffer::L1, kLeft}, addr(nz), DType::F16, {1, 256, 0, 0});
    barrier();
    load_a(kLeft, DType::F16, 64, 64);
    load_b_transposed(kLeft, DType::F16, 64, 64);
    multiply(product(64, 64, 48));
  });
  k.input(nz);
  EXPECT_TRAP(k, TrapKind::WrongFractal, "fm at", "rows of 3 fractals", "laid down in rows of 4");
}

TEST(CubeFractals, AIsLoadedRowAfterRow) {
  Squares s;
  auto k = s.kernel([&] {
    s.to_l1();
    load_b_transposed(kRight, DType::F16, 64, 64);
    dav::Load2dDesc d;
    d.repeatTimes = 16;
    d.srcStride = 1;
    dav::load_data_2d(kL0a, {Buffer::L1, kLeft}, DType::F16, d);
    barrier();
    multiply(product(64, 64, 64));
  });
  EXPECT_TRAP(k, TrapKind::WrongFractal, "fm at", "directions of the matrix are exchanged");
}

// k x n in rows: every fractal has to be turned on its way to L0B.
TEST(CubeFractals, BMissesItsTransposition) {
  Squares s;
  for (const bool transpose : {false, true}) {
    auto k = s.kernel([&] {
      s.to_l1();
      load_a(kLeft, DType::F16, 64, 64);
      for (uint32_t kb = 0; kb < 4; ++kb) {
        for (uint32_t nb = 0; nb < 4; ++nb) {
          load_one(Buffer::L0B, kb * 4 + nb, kRight + (nb * 4 + kb) * kFractal, transpose);
        }
      }
      barrier();
      multiply(product(64, 64, 64));
      dav::fixpipe_to_gm(addr(s.c), DType::F32, kL0c, DType::F32, rows_out(64, 64));
    });
    if (transpose) {
      k.run();
    } else {
      EXPECT_TRAP(k, TrapKind::WrongFractal, "filter at", "exchanged", "transposition");
    }
  }
}

TEST(CubeFractals, ColumnsInL1AreWholeFractals) {
  const auto a = small_integers<Half>(24 * 32, 1), b = small_integers<Half>(16 * 32, 1);
  CubeKernel k([&] {
    dav::Nd2NzDesc d;
    d.ndNum = 1;
    d.nValue = 24;
    d.dValue = 32;
    d.srcDValue = 32;
    d.dstNzC0Stride = 24;
    d.dstNzNStride = 1;
    dav::nd_to_nz({Buffer::L1, kLeft}, addr(a), DType::F16, d);
    to_nz(kRight, b, DType::F16, 16, 32);
    load_a(kLeft, DType::F16, 24, 32);
    load_b_transposed(kRight, DType::F16, 16, 32);
    multiply(product(32, 16, 32));
  });
  k.input(a).input(b);
  EXPECT_TRAP(k, TrapKind::WrongFractal, "fm at L0A[0x400, 0x600)", "after 8 rows",
              "next column of blocks");
}

TEST(CubeFractals, WhatWasTurnedAsHalvesAreNoBytes) {
  Squares s;
  auto k = s.kernel([&] {
    s.to_l1();
    load_one(Buffer::L0A, 0, kLeft, false);
    load_one(Buffer::L0B, 0, kRight, true);
    barrier();
    dav::mmad(kL0c, DType::I32, kL0a, DType::I8, kL0b, DType::I8, product(16, 16, 32));
  });
  EXPECT_TRAP(k, TrapKind::WrongFractal, "filter at L0B[0x0, 0x200)", "elements of 16 bits",
              "elements of 8");
}

// m = 1 takes A as one row of blocks.
TEST(CubeFractals, AVectorIsNoFractal) {
  Squares s;
  auto k = s.kernel([&] {
    s.load();
    multiply(product(1, 64, 64));
  });
  EXPECT_TRAP(k, TrapKind::WrongFractal, "fm at L0A[0x0, 0x200)", "m = 1", "after 1 block");
}

TEST(CubeFractals, ProductsAddToTilesOfTheirOwnHeight) {
  Squares s;
  auto k = s.kernel([&] {
    s.load();
    dav::MmadDesc d = product(64, 64, 64);
    multiply(d);
    d.m = 48;
    d.init_zero = false;
    multiply(d);
  });
  EXPECT_TRAP(k, TrapKind::WrongFractal, "pipe M, Mmad", "L0C at 0xc00", "48 rows on (m)",
              "columns of 64 rows", "tile was written at");
}

TEST(CubeFractals, FixpipeStepsByTheHeightOfTheTile) {
  Squares s;
  const auto read = [&](uint32_t n, uint32_t m, uint32_t stride) {
    auto k = s.kernel([&, n, m, stride] {
      s.load();
      multiply(product(64, 64, 64));
      dav::FixpipeDesc d = rows_out(m, n);
      d.srcStride = stride;
      dav::fixpipe_to_gm(addr(s.c), DType::F32, kL0c, DType::F32, d);
    });
    return k;
  };
  auto narrow = read(64, 48, 48);
  EXPECT_TRAP(narrow, TrapKind::WrongFractal, "pipe FIX, Fixpipe", "L0C at 0xc00",
              "48 rows on (srcStride)", "columns of 64 rows");
  auto wide = read(32, 64, 128);
  EXPECT_TRAP(wide, TrapKind::WrongFractal, "L0C at 0x2000", "128 rows on (srcStride)");
  auto tall = read(32, 80, 64);
  EXPECT_TRAP(tall, TrapKind::WrongFractal, "L0C at 0x1000", "row 64 of a column");
  read(64, 64, 64).run();
  read(48, 32, 64).run();
  // A single column of fractals is a run of rows.
  read(16, 128, 64).run();
}

// Two products side by side are read as one tile, a part of one is added to.
TEST(CubeFractals, TilesMayBePutTogether) {
  Squares s;
  auto right = s.kernel([&] {
    s.to_l1();
    for (uint32_t mb = 0; mb < 4; ++mb) {
      load_one(Buffer::L0A, mb, kLeft + mb * kFractal, false);
      load_one(Buffer::L0B, mb, kRight + mb * kFractal, false);
    }
    barrier();
    for (const uint32_t part : {0u, 1u}) {
      dav::mmad({Buffer::L0C, part * 64 * 32 * 4}, DType::F32, kL0a, DType::F16, kL0b, DType::F16,
                product(64, 32, 16));
    }
    barrier();
    dav::MmadDesc more = product(64, 16, 16);
    more.init_zero = false;
    dav::mmad({Buffer::L0C, 64 * 16 * 4}, DType::F32, kL0a, DType::F16, kL0b, DType::F16, more);
    barrier();
    dav::fixpipe_to_gm(addr(s.c), DType::F32, kL0c, DType::F32, rows_out(64, 64));
  });
  right.run();
}

// Heads of a row above each other, and a depth put together from two matrices.
TEST(CubeFractals, OperandsMayBePutTogether) {
  Squares s;
  auto k = s.kernel([&] {
    s.to_l1();
    // Columns 0 to 31 of A over its columns 32 to 63, 64 rows each.
    for (uint32_t mb = 0; mb < 8; ++mb) {
      for (uint32_t kb = 0; kb < 2; ++kb) {
        const uint32_t column = mb / 4 * 2 + kb;
        load_one(Buffer::L0A, mb * 2 + kb, kLeft + (column * 4 + mb % 4) * kFractal, false);
      }
    }
    load_b_transposed(kRight, DType::F16, 64, 32);
    multiply(product(128, 64, 32));
  });
  k.run();
  auto both = s.kernel([&] {
    s.to_l1();
    for (uint32_t mb = 0; mb < 2; ++mb) {
      for (uint32_t kb = 0; kb < 4; ++kb) {
        const uint32_t from = kb < 2 ? kLeft : kRight;
        load_one(Buffer::L0A, mb * 4 + kb, from + (kb % 2 * 4 + mb) * kFractal, false);
      }
    }
    load_b_transposed(kRight, DType::F16, 64, 64);
    multiply(product(32, 64, 64));
  });
  both.run();
}

// Two heads in a row of the matrix are two rows of fractals of the operand.
TEST(CubeFractals, RowsMayBeCutAndJoined) {
  Squares s;
  for (const auto& d : {product(128, 32, 32), product(32, 32, 128)}) {
    auto k = s.kernel([&] {
      to_nz(kLeft, s.a, DType::F16, 64, 64);
      to_nz(kRight, s.b, DType::F16, 32, 128);
      load_a(kLeft, DType::F16, 64, 64);
      load_b_transposed(kRight, DType::F16, 32, 128);
      multiply(d);
    });
    k.run();
  }
}

TEST(CubeFractals, FastModeDoesNotAsk) {
  Squares s;
  auto k = s.kernel([&] {
    s.load();
    multiply(product(64, 64, 48));
  });
  k.spec().mode = dav::Mode::Fast;
  k.run();
}

TEST(CubeFractals, TheCoupledChipLeavesL0cByFractals) {
  const std::vector<Half> nz = small_integers<Half>(64 * 64, 3);
  const auto read = [&](dav::L0cToUbDesc d, DType type) {
    CubeKernel k(
        [&nz, d, type] {
          dav::data_copy_in({Buffer::L1, 0}, addr(nz), DType::F16, {1, 256, 0, 0});
          barrier();
          load_a(0, DType::F16, 64, 64);
          load_b_transposed(0, DType::F16, 64, 64);
          multiply(product(64, 64, 64));
          dav::l0c_to_ub({Buffer::UB, 0}, type, kL0c, type, d);
        },
        "Ascend910A");
    k.input(nz);
    return k;
  };
  dav::L0cToUbDesc d;
  d.blockCount = 4;
  d.blockLen = 2;
  d.srcStride = 1;
  auto strided = read(d, DType::F32);
  EXPECT_TRAP(strided, TrapKind::WrongFractal, "Ascend910A", "pipe V", "L0C at 0xc00",
              "3 fractals on (srcStride)", "columns of 64 rows");
  d.srcStride = 2;
  read(d, DType::F32).run();
  auto narrow = read(d, DType::F16);
  EXPECT_TRAP(narrow, TrapKind::WrongFractal, "holds results of 4 bytes", "read as results of 2");
  d.blockCount = 1;
  d.blockLen = 16;
  read(d, DType::F32).run();
}

}  // namespace
