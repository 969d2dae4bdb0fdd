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
      case CaseId("vector_on_cube_core"):
        AscendC::Duplicate(Floats(AscendC::TPosition::VECCALC, 0, 64), 1.0f, 64);
        break;
      default:
        break;
    }
  }

 private:
  __aicore__ inline void Multiply(uint32_t dst, uint32_t left, uint32_t m) {
    AscendC::MmadParams params;
    params.m = static_cast<uint16_t>(m);
    params.n = 16;
    params.k = 16;
    AscendC::Mmad(Floats(AscendC::TPosition::CO1, dst, 256),
                  AscendC::LocalTensor<half>(AscendC::TPosition::A2, left, 256),
                  AscendC::LocalTensor<half>(AscendC::TPosition::B2, 0, 256), params);
  }

  const Arguments& args_;
};
