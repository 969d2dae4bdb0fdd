// Products whose right matrix holds two of every four weights: LoadDataWithSparse, MmadWithSparse.
#include "isa_cube_rig.h"

namespace {

using namespace dav_test;
using dav::Buffer;
using dav::DType;
using dav::TrapKind;

constexpr uint32_t kLeft = 0, kWeights = 128 * 1024, kIndex = 192 * 1024;

// The places of two weights among four, and how the reference writes them down.
struct Pair {
  uint32_t first, second;
  uint8_t first_index, second_index;
};
constexpr Pair kPairs[] = {{2, 3, 2, 2}, {1, 3, 1, 2}, {0, 3, 0, 2},
                           {1, 2, 1, 1}, {0, 2, 0, 1}, {0, 1, 0, 0}};

struct Sparse {
  uint32_t m, n, k;
  std::vector<int8_t> a;        // m x k
  std::vector<int8_t> bt;       // n x k, zeros included
  std::vector<int8_t> weights;  // as L0B has them: (k / 64) x (n / 16) fractals of 16 x 32
  std::vector<uint8_t> index;   // the same, two bits each

  Sparse(uint32_t m_, uint32_t n_, uint32_t k_) : m(m_), n(n_), k(k_) {
    a = small_integers<int8_t>(size_t{m} * k, 3);
    bt.resize(size_t{n} * k);
    weights.resize(size_t{n} * k / 2);
    index.resize(size_t{n} * k / 8);
    for (uint32_t column = 0; column < n; ++column) {
      for (uint32_t four = 0; four < k / 4; ++four) {
        const Pair& p = kPairs[(column * 5 + four) % 6];
        const auto one = static_cast<int8_t>(column % 7 + 1);
        const auto two = static_cast<int8_t>(four % 5 - 9);
        bt[size_t{column} * k + four * 4 + p.first] = one;
        bt[size_t{column} * k + four * 4 + p.second] = two;
        put(column, four * 2, one, p.first_index);
        put(column, four * 2 + 1, two, p.second_index);
      }
    }
  }
  void put(uint32_t column, uint32_t row, int8_t weight, uint8_t choice) {
    const size_t at = in_l0b(row, column, 32, n / 16);
    weights[at] = weight;
    index[at / 4] = static_cast<uint8_t>(index[at / 4] | choice << (at % 4 * 2));
  }
  void load(uint32_t fractals) const {
    to_nz(kLeft, a, DType::I8, m, k);
    load_a(kLeft, DType::I8, m, k);
    const auto to_l1 = [](uint32_t at, const auto& data) {
      dav::data_copy_in({Buffer::L1, at}, addr(data), DType::I8,
                        {1, static_cast<uint32_t>(data.size() / 32), 0, 0});
    };
    to_l1(kWeights, weights);
    to_l1(kIndex, index);
    barrier();
    dav::load_data_sparse(kL0b, {Buffer::L1, kWeights}, {Buffer::L1, kIndex}, 0, fractals);
    barrier();
  }
  CubeKernel kernel(Body body) {
    CubeKernel kernel(std::move(body));
    kernel.input(a).input(weights).input(index);
    return kernel;
  }
};

TEST(CubeSparse, TheIndexChoosesTwoOfFour) {
  for (const auto mode : {dav::Mode::Check, dav::Mode::Fast}) {
    Sparse s(48, 32, 128);
    std::vector<int32_t> c(size_t{s.m} * s.n);
    auto k = s.kernel([&] {
      s.load(s.n / 16 * s.k / 64);
      dav::mmad_sparse(kL0c, DType::I32, kL0a, DType::I8, kL0b, DType::I8, product(s.m, s.n, s.k));
      barrier();
      dav::fixpipe_to_gm(addr(c), DType::I32, kL0c, DType::I32, rows_out(s.m, s.n));
    });
    k.output(c).spec().mode = mode;
    k.run();
    EXPECT_EQ(c, (reference<int32_t>(s.a, s.bt, s.m, s.n, s.k)));
  }
}

// m = 1 is no special case here, and what C holds is added to.
TEST(CubeSparse, OneRowIsARowOfAFractal) {
  Sparse s(16, 16, 64);
  std::vector<int32_t> c(16);
  auto k = s.kernel([&] {
    s.load(1);
    dav::MmadDesc d = product(1, 16, 64);
    for (int i = 0; i < 2; ++i) {
      dav::mmad_sparse(kL0c, DType::I32, kL0a, DType::I8, kL0b, DType::I8, d);
      barrier();
      d.init_zero = false;
    }
    dav::fixpipe_to_gm(addr(c), DType::I32, kL0c, DType::I32, rows_out(1, 16));
  });
  k.output(c).run();
  auto expected = reference<int32_t>(s.a, s.bt, 1, 16, 64);
  for (int32_t& e : expected) e *= 2;
  EXPECT_EQ(c, expected);
}

TEST(CubeSparse, RefusesWhatIsNoIndex) {
  Sparse s(16, 16, 64);
  const auto product_of = [&](uint32_t fractals, bool load) {
    return s.kernel([&, fractals, load] {
      if (load) s.load(fractals);
      dav::mmad_sparse(kL0c, DType::I32, kL0a, DType::I8, kL0b, DType::I8, product(16, 16, 64));
    });
  };
  auto none = product_of(0, false);
  EXPECT_TRAP(none, TrapKind::UninitialisedRead, "MmadWithSparse", "no LoadDataWithSparse");
  s.index[5] |= 0xc0;
  auto wrong = product_of(1, true);
  EXPECT_TRAP(wrong, TrapKind::IllegalArgument, "holds 3", "0 to 2");
}

TEST(CubeSparse, Limits) {
  const auto load = [](dav::Local dst, dav::Local src, dav::Local index, uint32_t repeats) {
    return CubeKernel([=] { dav::load_data_sparse(dst, src, index, 0, repeats); });
  };
  auto path = load(kL0a, {Buffer::L1, 0}, {Buffer::L1, 0}, 1);
  EXPECT_TRAP(path, TrapKind::UnsupportedPath, "LoadDataWithSparse", "L0A");
  auto aligned = load(kL0b, {Buffer::L1, 0}, {Buffer::L1, 16}, 1);
  EXPECT_TRAP(aligned, TrapKind::Misaligned, "idx at L1 0x10", "32 bytes");
  auto repeats = load(kL0b, {Buffer::L1, 0}, {Buffer::L1, 0}, 256);
  EXPECT_TRAP(repeats, TrapKind::IllegalArgument, "repeatTimes is 256", "0 to 255");
  load(kL0b, {Buffer::L1, 0}, {Buffer::L1, 0}, 0).run();
  CubeKernel unread([] { dav::load_data_sparse(kL0b, {Buffer::L1, 0}, {Buffer::L1, 4096}, 0, 1); });
  EXPECT_TRAP(unread, TrapKind::UninitialisedRead, "L1[0x1000, 0x1080)");
  CubeKernel first(
      [] {
        dav::mmad_sparse(kL0c, DType::I32, kL0a, DType::I8, kL0b, DType::I8, product(16, 16, 64));
      },
      "Ascend910A");
  EXPECT_TRAP(first, TrapKind::UnsupportedOp, "Ascend910A");
  CubeKernel tall([] {
    dav::mmad_sparse(kL0c, DType::I32, kL0a, DType::I8, kL0b, DType::I8, product(4096, 16, 64));
  });
  EXPECT_TRAP(tall, TrapKind::IllegalArgument, "m is 4096");
}

}  // namespace
