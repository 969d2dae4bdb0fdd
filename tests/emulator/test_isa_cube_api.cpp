// The Ascend C headers in front of the cube: one small attention-like chain as a kernel's author
// writes it, for arch 2201's cube core. The namespace is renamed so that other files of this
// program may instantiate the same templates for other architectures.
#define AscendC AscendCForCube2201
#define __NPU_ARCH__ 2201
#define __DAV_CUBE__
#include "ascendc/fixpipe.h"
#include "ascendc/mmad.h"
#include "isa_cube_rig.h"

namespace {

using namespace dav_test;
using namespace AscendC;
using dav::TrapKind;

// P = (Q K^T) as half, then O = P V: both operands of the second product come from the first
// product's own output and from a transposing load.
TEST(CubeApi, ProductOfAProduct) {
  constexpr uint16_t m = 32, n = 64, d = 16;
  const auto q = small_integers<half>(m * d, 1), k = small_integers<half>(n * d, 2);
  const auto v = small_integers<half>(n * d, 3);
  std::vector<float> out(m * d);
  CubeKernel kernel([&] {
    GlobalTensor<half> q_gm, k_gm, v_gm;
    GlobalTensor<float> out_gm;
    q_gm.SetGlobalBuffer(const_cast<half*>(q.data()), q.size());
    k_gm.SetGlobalBuffer(const_cast<half*>(k.data()), k.size());
    v_gm.SetGlobalBuffer(const_cast<half*>(v.data()), v.size());
    out_gm.SetGlobalBuffer(out.data(), out.size());
    LocalMemAllocator<Hardware::L1> l1;
    auto q_l1 = l1.Alloc<TPosition::A1, half, m * d>();
    auto k_l1 = l1.Alloc<TPosition::B1, half, n * d>();
    auto v_l1 = l1.Alloc<TPosition::B1, half, n * d>();
    auto p_l1 = l1.Alloc<TPosition::A1, half, m * n>();
    LocalTensor<half> a(TPosition::A2, 0, m * n), b(TPosition::B2, 0, n * d);
    LocalTensor<float> s(TPosition::CO1, 0, m * n), o(TPosition::CO1, m * n * 4, m * d);

    DataCopy(q_l1, q_gm, Nd2NzParams(1, m, d, 0, d, m, 1, 0));
    DataCopy(k_l1, k_gm, Nd2NzParams(1, n, d, 0, d, n, 1, 0));
    DataCopy(v_l1, v_gm, Nd2NzParams(1, n, d, 0, d, n, 1, 0));
    barrier();
    LoadData(a, q_l1, LoadData2DParams(0, m / 16, 1, 0, 0, false, 0));
    LoadData(b, k_l1, LoadData2DParams(0, n / 16, 1, 0, 0, false, 0));
    barrier();
    MmadParams product;
    product.m = m;
    product.n = n;
    product.k = d;
    Mmad(s, a, b, product);
    barrier();
    FixpipeParamsV220 to_half(n, m, m, m, false);
    to_half.quantPre = QuantMode_t::F322F16;
    Fixpipe<half, float, CFG_NZ>(p_l1, s, to_half);
    barrier();
    LoadData3DParamsV2<half> rows;
    rows.l1H = 1;
    rows.l1W = m;
    rows.channelSize = n;
    rows.kExtension = n;
    rows.mExtension = m;
    LoadData(a, p_l1, rows);
    LoadDataWithTranspose(b, v_l1, LoadData2dTransposeParams(0, n / 16, 1, 0, 0));
    barrier();
    product.n = d;
    product.k = n;
    Mmad(o, a, b, product);
    barrier();
    Fixpipe(out_gm, o, FixpipeParamsV220(d, m, m, d, false));
  });
  kernel.input(q).input(k).input(v).output(out).run();
  const auto p = reference<float>(q, k, m, n, d);
  for (uint32_t i = 0; i < m; ++i) {
    for (uint32_t j = 0; j < d; ++j) {
      double sum = 0;
      for (uint32_t l = 0; l < n; ++l) sum += double(half(p[i * n + l])) * double(v[l * d + j]);
      EXPECT_EQ(out[i * d + j], float(sum)) << i << "," << j;
    }
  }
}

// B is 2 everywhere in the rows the index chooses: the first and the last but one of every four.
TEST(CubeApi, SparseProduct) {
  constexpr uint16_t m = 16, n = 16, k = 64;
  const auto left = small_integers<int8_t>(m * k, 1);
  const std::vector<int8_t> weights(k / 2 * n, 2);
  const std::vector<uint8_t> index(k / 8 * n, 0b01000100);
  std::vector<int32_t> out(m * n);
  CubeKernel kernel([&] {
    GlobalTensor<int8_t> left_gm, weights_gm;
    GlobalTensor<uint8_t> index_gm;
    GlobalTensor<int32_t> out_gm;
    left_gm.SetGlobalBuffer(const_cast<int8_t*>(left.data()), left.size());
    weights_gm.SetGlobalBuffer(const_cast<int8_t*>(weights.data()), weights.size());
    index_gm.SetGlobalBuffer(const_cast<uint8_t*>(index.data()), index.size());
    out_gm.SetGlobalBuffer(out.data(), out.size());
    LocalTensor<int8_t> a1(TPosition::A1, 0, m * k), b1(TPosition::B1, 65536, k / 2 * n);
    LocalTensor<uint8_t> i1(TPosition::B1, 131072, k / 8 * n);
    LocalTensor<int8_t> a2(TPosition::A2, 0, m * k), b2(TPosition::B2, 0, k / 2 * n);
    LocalTensor<int32_t> c(TPosition::CO1, 0, m * n);
    DataCopy(a1, left_gm, Nd2NzParams(1, m, k, 0, k, m, 1, 0));
    DataCopy(b1, weights_gm, weights.size());
    DataCopy(i1, index_gm, index.size());
    barrier();
    LoadData(a2, a1, LoadData2DParams(0, k / 32, 1, 0, 0, false, 0));
    LoadDataWithSparse(b2, b1, i1, LoadData2DParams(0, 1, 0, 0, 0, false, 0));
    barrier();
    MmadWithSparse(c, a2, b2, MmadParams(m, n, k, false, 0, false, false, false));
    barrier();
    Fixpipe(out_gm, c, FixpipeParamsV220(n, m, m, n, false));
  });
  kernel.input(left).input(weights).input(index).output(out).run();
  for (uint32_t i = 0; i < m; ++i) {
    int32_t sum = 0;
    for (uint32_t l = 0; l < k; l += 4) sum += 2 * (left[i * k + l] + left[i * k + l + 2]);
    for (uint32_t j = 0; j < n; ++j) EXPECT_EQ(out[i * n + j], sum);
  }
}

// The packed form loads what the plain form loads: rows 16 to 31, columns 16 to 47 of 32 x 48.
TEST(CubeApi, PackedParametersOfA3dLoad) {
  const auto in = small_integers<half>(32 * 48, 6);
  std::vector<uint16_t> plain, packed;
  CubeKernel k([&] {
    to_nz(0, in, dav::DType::F16, 32, 48);
    const LocalTensor<half> src(TPosition::A1, 0, 32 * 48), dst(TPosition::A2, 0, 16 * 32);
    const uint8_t pads[4] = {0, 0, 0, 0};
    LoadData(dst, src,
             LoadData3DParamsV2<half>(pads, 1, 32, 48, 32, 16, 16, 16, 1, 1, 1, 1, 1, 1, true,
                                      false, half(0)));
    plain = peek<uint16_t>(dav::Buffer::L0A, 16 * 32);
    barrier();
    LoadData3DParamsV2Pro pro;
    pro.channelSize = 48;
    pro.enTranspose = true;
    pro.extConfig = uint64_t{16} << 48 | uint64_t{16} << 32 | uint64_t{16} << 16 | 32;
    LoadData(dst[16 * 32], src, pro);
    packed = peek<uint16_t>(dav::Buffer::L0A, 2 * 16 * 32);
  });
  k.input(in).run();
  EXPECT_EQ(std::vector<uint16_t>(packed.begin() + 16 * 32, packed.end()), plain);
  EXPECT_EQ(plain[in_l0a(3, 5, 16, 1)], in[(16 + 5) * 48 + 16 + 3].bits);
}

TEST(CubeApi, TensorsAreOffsetsWithATail) {
  LocalTensor<half> t(TPosition::VECCALC, 64, 100);
  EXPECT_EQ(t.GetSize(), 100u);
  EXPECT_EQ(t[10].GetPhyAddr(), 84u);
  EXPECT_EQ(t[10].GetSize(), 90u);
  EXPECT_EQ(t.ReinterpretCast<float>().GetSize(), 50u);
  EXPECT_EQ(t.ReinterpretCast<int8_t>()[4].GetPhyAddr(), 68u);
  LocalTensor<int4b_t> nibbles(TPosition::VECCALC, 0, 64);
  EXPECT_EQ(nibbles.GetSize(), 64u);
  EXPECT_EQ(nibbles[32].GetPhyAddr(), 16u);
  float data[4] = {};
  GlobalTensor<float> g;
  g.SetGlobalBuffer(data, 4);
  EXPECT_EQ(g[2].GetPhyAddr(), data + 2);
  EXPECT_EQ(g.GetSize(), 4u);
  EXPECT_EQ(GetPhyType(TPosition::C2), Hardware::BIAS);
  EXPECT_EQ(GetPhyType(TPosition::CO2), Hardware::GM);
}

TEST(CubeApi, HalvesBehaveLikeTheCompilersOwn) {
  static_assert(half(65519.f).bits == 0x7bff && half(65520.f).bits == 0x7c00, "overflow");
  static_assert(half(0x1p-24f).bits == 1 && half(0x1p-25f).bits == 0, "subnormals, ties to even");
  static_assert(half(1 + 0x1p-11f).bits == 0x3c00 && half(1 + 3 * 0x1p-11f).bits == 0x3c02, "ties");
  static_assert(float(half(-0.f)) == 0 && half(-0.f).bits == 0x8000, "signed zero");
  static_assert(bfloat16_t(1 + 0x1p-8f).bits == 0x3f80, "ties to even");
  half h = 2;
  h += 0.5f;
  EXPECT_EQ(float(h * h), 6.25f);
  EXPECT_EQ(static_cast<int>(h), 2);
}

TEST(CubeApi, CountsThatAreNoWholeBlocksTrap) {
  const std::vector<half> in(32, half(1));
  CubeKernel k([&] {
    GlobalTensor<half> g;
    g.SetGlobalBuffer(const_cast<half*>(in.data()), in.size());
    DataCopy(LocalTensor<half>(TPosition::A1, 0, 32), g, 17);
  });
  k.input(in);
  EXPECT_TRAP(k, TrapKind::IllegalArgument, "count 17", "34 bytes");
}

}  // namespace
