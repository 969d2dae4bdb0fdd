// What a cube core can do wrong.
#pragma once

#include "arguments.h"

class CubeMistakes {
 public:
  __aicore__ inline explicit CubeMistakes(const Arguments& arguments) : args_(arguments) {}

  __aicore__ inline void Run(uint64_t which) {
    switch (which) {
      case CaseId("l1_overrun"):
        AscendC::DataCopy(Floats(AscendC::TPosition::A1, kL1Bytes - 32, 64), args_.x, 64);
        break;
      case CaseId("l0c_overrun"):
        Multiply(kL0cBytes - 1024, 0, 32);
        break;
      case CaseId("product_too_tall"):
        Multiply(0, 0, 4096);
        break;
      case CaseId("no_fractal"):
        Multiply(0, 32, 16);
        break;
      case CaseId("uninitialised_l0"):
        Multiply(0, 0, 16);
        break;
      case CaseId("bias_of_halves"):
        AscendC::DataCopy(AscendC::LocalTensor<half>(AscendC::TPosition::C2, 0, 32),
                          AscendC::LocalTensor<half>(AscendC::TPosition::A1, 0, 32),
                          AscendC::DataCopyParams(1, 1, 0, 0));
        break;
      case CaseId("wrong_fractal"): {
        // A of 32 x 64 in L0A, of which the product takes 48 columns.
        Load<AscendC::TPosition::A2>(32, 64);
        Load<AscendC::TPosition::B2>(16, 64);
        SetAndWait<HardEvent::MTE1_M>();
        Product(0, 0, 32, 48);
        break;
      }
      case CaseId("wrong_result_stride"): {
        Load<AscendC::TPosition::A2>(48, 32);
        Load<AscendC::TPosition::B2>(32, 32);
        SetAndWait<HardEvent::MTE1_M>();
        Product(0, 0, 48, 32, 32);
        SetAndWait<HardEvent::M_FIX>();
        AscendC::FixpipeParamsV220 out(32, 48, 32, 32, false);
        AscendC::Fixpipe(args_.workspace, Floats(AscendC::TPosition::CO1, 0, 48 * 32), out);
        break;
      }
      case CaseId("vector_on_cube_core"):
        AscendC::Duplicate(Floats(AscendC::TPosition::VECCALC, 0, 64), 1.0f, 64);
        break;
      default:
        break;
    }
  }

 private:
  __aicore__ inline void Multiply(uint32_t dst, uint32_t left, uint32_t m) {
    Product(dst, left, m, 16);
  }

  // rows x columns of x, taken for halves, through L1 to L0.
  template <AscendC::TPosition kPosition>
  __aicore__ inline void Load(uint32_t rows, uint32_t columns) {
    const AscendC::LocalTensor<half> l1(AscendC::TPosition::A1, 0, rows * columns);
    AscendC::DataCopy(
        l1, args_.halves,
        AscendC::Nd2NzParams(1, static_cast<uint16_t>(rows), static_cast<uint16_t>(columns), 0,
                             static_cast<uint16_t>(columns), static_cast<uint16_t>(rows), 1, 0));
    SetAndWait<HardEvent::MTE2_MTE1>();
    const AscendC::LocalTensor<half> l0(kPosition, 0, rows * columns);
    // B lies in L0B as the columns of its blocks do in L1.
    const uint32_t runs = kPosition == AscendC::TPosition::A2 ? rows / 16 : 1;
    const uint8_t length = static_cast<uint8_t>(rows * columns / 256 / runs);
    for (uint32_t run = 0; run < runs; ++run) {
      AscendC::LoadData(
          l0[run * length * 256], l1[run * 256],
          AscendC::LoadData2DParams(0, length, static_cast<uint16_t>(runs), 0, 0, false, 0));
    }
    SetAndWait<HardEvent::MTE1_MTE2>();
  }

  __aicore__ inline void Product(uint32_t dst, uint32_t left, uint32_t m, uint32_t k,
                                 uint32_t n = 16) {
    AscendC::MmadParams params;
    params.m = static_cast<uint16_t>(m);
    params.n = static_cast<uint16_t>(n);
    params.k = static_cast<uint16_t>(k);
    AscendC::Mmad(Floats(AscendC::TPosition::CO1, dst, 256),
                  AscendC::LocalTensor<half>(AscendC::TPosition::A2, left, 256),
                  AscendC::LocalTensor<half>(AscendC::TPosition::B2, 0, 256), params);
  }

  const Arguments& args_;
};
