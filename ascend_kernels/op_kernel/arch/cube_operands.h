// L1 -> L0A, L0B -> L0C, on chips whose left operand lies in rows of fractals: 1001 and 2201.
#ifndef ASCENDFA_ARCH_CUBE_OPERANDS_H
#define ASCENDFA_ARCH_CUBE_OPERANDS_H

#include "capacities.h"
#include "kernel_operator.h"

namespace ascendfa {

template <typename Element>
__aicore__ constexpr uint32_t FractalElements() {
  return kFractalBytes / sizeof(Element);
}

// L1 -> L0A or L0B (MTE1): `count` fractals in the order they lie in.
template <typename Element>
__aicore__ inline void LoadStraight(const AscendC::LocalTensor<Element>& dst,
                                    const AscendC::LocalTensor<Element>& src, uint32_t count) {
  AscendC::LoadData2DParams params;
  params.repeatTimes = static_cast<uint8_t>(count);
  params.srcStride = 1;
  AscendC::LoadData(dst, src, params);
}

// L1 -> L0A (MTE1): columns [col, col + cols) of a tile as the left operand. All counts are
// multiples of 16.
template <typename Element>
__aicore__ inline void LoadLeft(const AscendC::LocalTensor<Element>& dst,
                                const AscendC::LocalTensor<Element>& src, uint32_t rows,
                                uint32_t col, uint32_t cols) {
  constexpr uint32_t kFractalCols = kBlockBytes / sizeof(Element);
  const uint32_t row_fractals = rows / kFractalRows;
  const uint32_t col_fractals = cols / kFractalCols;
  AscendC::LoadData2DParams params;
  params.repeatTimes = static_cast<uint8_t>(col_fractals);
  params.srcStride = static_cast<uint16_t>(row_fractals);
  for (uint32_t i = 0; i < row_fractals; ++i) {
    params.startIndex = static_cast<uint16_t>(col / kFractalCols * row_fractals + i);
    AscendC::LoadData(dst[i * col_fractals * FractalElements<Element>()], src, params);
  }
}

// L1 -> L0B (MTE1): the transpose of columns [col, col + cols) of a tile as the right operand, so
// that the product runs over the tile's columns. The orders of both sides agree: one straight copy.
template <typename Element>
__aicore__ inline void LoadRightTransposed(const AscendC::LocalTensor<Element>& dst,
                                           const AscendC::LocalTensor<Element>& src, uint32_t rows,
                                           uint32_t col, uint32_t cols) {
  constexpr uint32_t kFractalCols = kBlockBytes / sizeof(Element);
  const uint32_t row_fractals = rows / kFractalRows;
  LoadStraight(dst, src[col / kFractalCols * row_fractals * FractalElements<Element>()],
               row_fractals * (cols / kFractalCols));
}

// L1 -> L0B (MTE1): rows [row, row + rows) of columns [col, col + cols) of a tile of `tile_rows` as
// the right operand; the product runs over the rows, so each fractal is turned. 16-bit elements.
template <typename Element>
__aicore__ inline void LoadRight(const AscendC::LocalTensor<Element>& dst,
                                 const AscendC::LocalTensor<Element>& src, uint32_t tile_rows,
                                 uint32_t row, uint32_t rows, uint32_t col, uint32_t cols) {
  const uint32_t col_fractals = cols / kFractalRows;
  const uint32_t first = col / kFractalRows * (tile_rows / kFractalRows) + row / kFractalRows;
  AscendC::LoadData2DParams params;
  params.repeatTimes = static_cast<uint8_t>(col_fractals);
  params.srcStride = static_cast<uint16_t>(tile_rows / kFractalRows);
  params.ifTranspose = true;
  for (uint32_t i = 0; i < rows / kFractalRows; ++i) {
    params.startIndex = static_cast<uint16_t>(first + i);
    AscendC::LoadData(dst[i * col_fractals * FractalElements<Element>()], src, params);
  }
}

// L0A x L0B -> L0C (M), all counts multiples of 16.
template <typename Element>
__aicore__ inline void Multiply(const AscendC::LocalTensor<float>& dst,
                                const AscendC::LocalTensor<Element>& left,
                                const AscendC::LocalTensor<Element>& right, uint32_t m, uint32_t n,
                                uint32_t k, bool accumulate) {
  // Accumulating products of fewer than ten fractals outrun the write of the one before.
  if (accumulate && (m / kFractalRows) * (n / kFractalRows) < 10) {
    AscendC::PipeBarrier<PIPE_M>();
  }
  AscendC::MmadParams params;
  params.m = static_cast<uint16_t>(m);
  params.n = static_cast<uint16_t>(n);
  params.k = static_cast<uint16_t>(k);
  params.cmatrixInitVal = !accumulate;
  AscendC::Mmad(dst, left, right, params);
}

}  // namespace ascendfa

#endif  // ASCENDFA_ARCH_CUBE_OPERANDS_H
