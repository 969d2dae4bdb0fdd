// The Ascend C headers for data movement and the cube of arch 2201: what the library does between
// the call and the instruction, and what it refuses.
#define AscendC AscendCForCubeLimits
#define __NPU_ARCH__ 2201
#define __DAV_CUBE__
#include <cmath>

#include "ascendc/fixpipe.h"
#include "ascendc/mmad.h"
#include "isa_cube_rig.h"

namespace {

using namespace dav_test;
using namespace AscendC;
using dav::TrapKind;

template <typename T>
GlobalTensor<T> gm(const std::vector<T>& v) {
  GlobalTensor<T> g;
  g.SetGlobalBuffer(const_cast<T*>(v.data()), v.size());
  return g;
}

// A quantisation word with this scale, of signed bytes.
uint64_t factor(float scale) {
  uint32_t bits;
  std::memcpy(&bits, &scale, 4);
  return bits | uint64_t{1} << 46;
}

// C = 16 rows of n columns, element (r, c) is r - 8; its factors go to L1 at kFactors.
constexpr uint32_t kFactors = 256 * 1024;
void rows_in_l0c(const std::vector<int8_t>& a, const std::vector<int8_t>& b,
                 const std::vector<uint64_t>& factors, uint16_t n) {
  DataCopy(LocalTensor<int8_t>(TPosition::A1, 0, 512), gm(a), 512);
  DataCopy(LocalTensor<int8_t>(TPosition::B1, 1024, n * 32), gm(b), n * 32);
  DataCopy(LocalTensor<uint64_t>(TPosition::C1, kFactors, n), gm(factors), n);
  barrier();
  LocalTensor<int8_t> left(TPosition::A2, 0, 512), right(TPosition::B2, 0, n * 32);
  LoadData(left, LocalTensor<int8_t>(TPosition::A1, 0, 512),
           LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  LoadData(right, LocalTensor<int8_t>(TPosition::B1, 1024, n * 32),
           LoadData2DParams(0, static_cast<uint8_t>(n / 16), 1, 0, 0, false, 0));
  barrier();
  MmadParams p;
  p.m = 16;
  p.n = n;
  p.k = 32;
  Mmad(LocalTensor<int32_t>(TPosition::CO1, 0, 16 * n), left, right, p);
  barrier();
}

struct Rows {
  explicit Rows(uint16_t n) : a(512, 0), b(n * 32, 1), factors(n) {
    for (int r = 0; r < 16; ++r) a[r * 32] = static_cast<int8_t>(r - 8);
  }
  std::vector<int8_t> a, b;
  std::vector<uint64_t> factors;
};

// More factors than the Fixpipe buffer holds go through it in parts of 128 columns.
TEST(CubeApiLimits, FixpipeQuantisesAnyNumberOfColumns) {
  constexpr uint16_t n = 1024;
  Rows in(n);
  for (uint16_t c = 0; c < n; ++c) in.factors[c] = factor(float(c % 7 + 1) / 4);
  std::vector<half> out(16 * n);
  CubeKernel k([&] {
    rows_in_l0c(in.a, in.b, in.factors, n);
    FixpipeParamsV220 p(n, 16, 16, n, false);
    p.quantPre = QuantMode_t::VDEQF16;
    Fixpipe<half, int32_t, CFG_ROW_MAJOR>(gm(out), LocalTensor<int32_t>(TPosition::CO1, 0, 16 * n),
                                          LocalTensor<uint64_t>(TPosition::C1, kFactors, n), p);
  });
  k.input(in.a).input(in.b).input(in.factors).output(out).run();
  for (int r = 0; r < 16; ++r) {
    for (int c = 0; c < n; ++c) ASSERT_EQ(float(out[r * n + c]), (r - 8) * float(c % 7 + 1) / 4);
  }
}

// A workspace of factors with a quantPre that takes none: the library copies nothing.
TEST(CubeApiLimits, FixpipeTakesFactorsForTensorModesOnly) {
  Rows in(16);
  std::vector<half> out(256);
  const auto run = [&](QuantMode_t mode, uint64_t word) {
    in.factors.assign(16, word);
    CubeKernel k([&] {
      rows_in_l0c(in.a, in.b, in.factors, 16);
      FixpipeParamsV220 p(16, 16, 16, 16, false);
      p.quantPre = mode;
      p.deqScalar = word;
      const LocalTensor<int32_t> c(TPosition::CO1, 0, 256);
      if (mode == QuantMode_t::DEQF16 && word != factor(1)) {
        Fixpipe(gm(out), c, p);
      } else {
        Fixpipe(gm(out), c, LocalTensor<uint64_t>(TPosition::C1, kFactors, 16), p);
      }
    });
    k.input(in.a).input(in.b).input(in.factors).output(out);
    return k.trap();
  };
  const auto scalar = run(QuantMode_t::DEQF16, factor(1));
  EXPECT_EQ(scalar.kind(), TrapKind::IllegalArgument);
  EXPECT_NE(std::string(scalar.what()).find("cbufWorkspace"), std::string::npos);
  // Fixpipe, constraints: no infinite, NaN or subnormal factors.
  for (const float bad : {INFINITY, NAN, 1e-39f}) {
    for (const QuantMode_t mode : {QuantMode_t::DEQF16, QuantMode_t::VDEQF16}) {
      const auto trap = run(mode, factor(bad));
      EXPECT_EQ(trap.kind(), TrapKind::IllegalArgument);
      EXPECT_NE(std::string(trap.what()).find("quantisation factor 0"), std::string::npos);
    }
  }
}

// Fixpipe and SetFixpipePreQuantFlag write one register, so DataCopy sees Fixpipe's factor.
TEST(CubeApiLimits, FixpipeLeavesItsFactorBehind) {
  Rows in(16);
  std::vector<half> first(256), second(256);
  CubeKernel k([&] {
    rows_in_l0c(in.a, in.b, in.factors, 16);
    SetFixpipePreQuantFlag(factor(4));
    FixpipeParamsV220 p(16, 16, 16, 16, false);
    p.quantPre = QuantMode_t::DEQF16;
    p.deqScalar = factor(0.5f);
    const LocalTensor<int32_t> c(TPosition::CO1, 0, 256);
    Fixpipe(gm(first), c, p);
    barrier();
    DataCopyCO12DstParams d(16, 16, 16, 16, QuantMode_t::DEQF16, 0, false, true);
    DataCopy(gm(second), c, d);
  });
  k.input(in.a).input(in.b).input(in.factors).output(first).output(second).run();
  EXPECT_EQ(float(first[15 * 16]), 3.5f);
  for (int i = 0; i < 256; ++i) EXPECT_EQ(first[i].bits, second[i].bits);
}

// Mmad with bias hands cmatrixInitVal through, and looks at where the bias lies.
TEST(CubeApiLimits, MmadStartsFromZeroOrFromTheBias) {
  const auto run = [](bool from_zero, TPosition place) {
    return CubeKernel([=] {
             MmadParams p;
             p.m = p.n = p.k = 16;
             p.cmatrixInitVal = from_zero;
             Mmad(LocalTensor<float>(TPosition::CO1, 0, 256),
                  LocalTensor<half>(TPosition::A2, 0, 256),
                  LocalTensor<half>(TPosition::B2, 0, 256), LocalTensor<float>(place, 0, 16), p);
           })
        .trap();
  };
  EXPECT_NE(std::string(run(true, TPosition::C2).what()).find("cmatrixInitVal"), std::string::npos);
  EXPECT_NE(std::string(run(false, TPosition::C1).what()).find("C2 or CO1"), std::string::npos);
}

TEST(CubeApiLimits, PaddingOfDataCopyPadParamsIsZero) {
  const std::vector<half> in(16, half(1));
  CubeKernel k(
      [&] {
        DataCopyPad(LocalTensor<half>(TPosition::VECIN, 0, 32), gm(in), DataCopyParams(1, 6, 0, 0),
                    DataCopyPadParams(true, 0, 1, 7));
      },
      "Ascend910B3", true);
  k.input(in);
  EXPECT_TRAP(k, TrapKind::IllegalArgument, "paddingValue", "0 only");
}

// Mmad and Fixpipe, special values: CTRL[48] is set at the start, cleared it keeps results finite.
TEST(CubeApiLimits, Ctrl48DecidesWhetherResultsAreFinite) {
  constexpr float most = 65504.f;
  std::vector<float> a(256, 0.f), b(256, 0.f);
  for (int i = 0; i < 16; ++i) b[i * 17] = 1;
  a[0] = 1e30f, a[1] = -1e30f, a[16] = 3e38f, a[17] = 3e38f;
  b[16] = 1;  // column 1 is the sum of both
  const auto run = [&](bool finite, auto& out, QuantMode_t mode) {
    CubeKernel k([&] {
      if (finite) dav::set_ctrl(0);
      for (const uint32_t at : {0u, 4096u}) {
        DataCopy(LocalTensor<float>(TPosition::A1, at, 256), gm(at == 0 ? a : b),
                 Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
      }
      barrier();
      LocalTensor<float> left(TPosition::A2, 0, 256), right(TPosition::B2, 0, 256);
      const LoadData2DParams both(0, 2, 1, 0, 0, false, 0);
      LoadData(left, LocalTensor<float>(TPosition::A1, 0, 256), both);
      LoadData(right, LocalTensor<float>(TPosition::B1, 4096, 256), both);
      barrier();
      MmadParams p;
      p.m = p.n = p.k = 16;
      const LocalTensor<float> c(TPosition::CO1, 0, 256);
      Mmad(c, left, right, p);
      barrier();
      FixpipeParamsV220 f(16, 16, 16, 16, false);
      f.quantPre = mode;
      Fixpipe(gm(out), c, f);
    });
    k.input(a).input(b).output(out).run();
  };
  std::vector<float> wide(256);
  std::vector<half> narrow(256);
  run(false, wide, QuantMode_t::NoQuant);
  EXPECT_TRUE(std::isinf(wide[17]));
  run(true, wide, QuantMode_t::NoQuant);
  EXPECT_EQ(wide[17], 3.402823466e38f);
  run(false, narrow, QuantMode_t::F322F16);
  EXPECT_TRUE(std::isinf(float(narrow[0])));
  run(true, narrow, QuantMode_t::F322F16);
  for (const half& h : narrow) EXPECT_LE(std::fabs(float(h)), most);
  EXPECT_EQ(float(narrow[0]), most);
}

// NZ in UB to rows in GM: two matrices of 4 x 32, their columns of fractals 5 rows apart.
TEST(CubeApiLimits, NzInUbLeavesAsRows) {
  std::vector<half> in(2 * 256), out(2 * 4 * 48, half(-1));
  for (size_t i = 0; i < in.size(); ++i) in[i] = half(float(i));
  CubeKernel k(
      [&] {
        const LocalTensor<half> ub(TPosition::VECOUT, 0, 512);
        DataCopy(ub, gm(in), 512);
        barrier();
        DataCopy(gm(out), ub, Nz2NdParamsFull(2, 4, 32, 1, 5, 48, 4 * 48));
      },
      "Ascend910B3", true);
  k.input(in).inout(out).run();
  for (int matrix = 0; matrix < 2; ++matrix) {
    for (int r = 0; r < 4; ++r) {
      for (int c = 0; c < 48; ++c) {
        const float expected = c < 32 ? float(matrix * 256 + c / 16 * 80 + r * 16 + c % 16) : -1;
        EXPECT_EQ(float(out[(matrix * 4 + r) * 48 + c]), expected);
      }
    }
  }
  CubeKernel narrow(
      [&] {
        DataCopy(gm(out), LocalTensor<half>(TPosition::VECOUT, 0, 512),
                 Nz2NdParamsFull(1, 4, 24, 1, 5, 48, 1));
      },
      "Ascend910B3", true);
  narrow.inout(out);
  EXPECT_TRAP(narrow, TrapKind::IllegalArgument, "dValue is 24");
}

// DataCopy by count into the bias table moves whole units of 64 bytes, into the Fixpipe buffer of
// 128.
TEST(CubeApiLimits, CountsIntoParameterBuffersAreWholeUnits) {
  CubeKernel bias([] {
    DataCopy(LocalTensor<float>(TPosition::C2, 0, 8), LocalTensor<float>(TPosition::C1, 0, 8), 8);
  });
  EXPECT_TRAP(bias, TrapKind::IllegalArgument, "count 8", "64 bytes");
  CubeKernel factors([] {
    DataCopy(LocalTensor<uint64_t>(TPosition::C2PIPE2GM, 0, 8),
             LocalTensor<uint64_t>(TPosition::C1, 0, 8), 8);
  });
  EXPECT_TRAP(factors, TrapKind::IllegalArgument, "count 8", "128 bytes");
}

TEST(CubeApiLimits, PipeBarrierTakesNoScalarPipe) {
  CubeKernel k([] { dav::pipe_barrier(dav::Pipe::S); });
  EXPECT_TRAP(k, TrapKind::FlagMisuse, "PIPE_S");
}

TEST(CubeApiLimits, TheFirstGenerationHasNoSetAtomicType) {
  CubeKernel k([] { dav::set_atomic_type(dav::DType::F32); }, "Ascend910A");
  EXPECT_TRAP(k, TrapKind::UnsupportedOp, "lacks");
}

}  // namespace
