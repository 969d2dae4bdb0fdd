// Architecture 2201: matrices on their way through the cube core. In L1 a tile is in NZ order,
// fractals of 16 x 16 elements column by column; tiles are always whole fractals, what the tensor
// does not provide is zero.
#ifndef ASCENDFA_ARCH_DAV_2201_TILE_COPY_H
#define ASCENDFA_ARCH_DAV_2201_TILE_COPY_H

#include "../../fa/seqlen.h"
#include "../cube_operands.h"
#include "capacities.h"
#include "kernel_operator.h"

namespace ascendfa {

// How far apart rows can lie for one copy to fetch them all.
constexpr int64_t kMaxRowStride = 65535;

// Zeros in L1 (MTE2): `blocks` blocks of 32 bytes, `repeats` times, `gap` blocks apart.
template <typename Element>
__aicore__ inline void FillZero(const AscendC::LocalTensor<Element>& dst, uint32_t repeats,
                                uint32_t blocks, uint32_t gap) {
  // Zero has the same bits in every type.
  const AscendC::InitConstValueParams<uint16_t> zero(
      static_cast<uint16_t>(repeats), static_cast<uint16_t>(blocks), static_cast<uint16_t>(gap), 0);
  AscendC::Fill(dst.template ReinterpretCast<uint16_t>(), zero);
}

// GM -> L1 (MTE2): `rows` x `cols` elements, row_stride apart. Columns are padded by the copy
// itself, rows up to the next multiple of `row_unit`, of 16 itself, by a fill.
template <typename Element>
__aicore__ inline void LoadTile(const AscendC::LocalTensor<Element>& dst,
                                const AscendC::GlobalTensor<Element>& src, uint32_t rows,
                                uint32_t cols, int64_t row_stride,
                                uint32_t row_unit = kFractalRows) {
  constexpr uint32_t kBlockElements = kBlockBytes / sizeof(Element);
  const uint32_t padded_rows = AlignUp(rows, row_unit);
  // Rows that overlap or coincide, or lie too far apart, come one by one.
  const bool together = row_stride >= cols && row_stride <= kMaxRowStride;
  AscendC::Nd2NzParams params;
  params.ndNum = 1;
  params.nValue = static_cast<uint16_t>(together ? rows : 1);
  params.dValue = static_cast<uint16_t>(cols);
  params.srcNdMatrixStride = 0;
  params.srcDValue = static_cast<uint16_t>(together ? row_stride : cols);
  params.dstNzC0Stride = static_cast<uint16_t>(padded_rows);
  params.dstNzNStride = 1;
  params.dstNzMatrixStride = 0;
  for (uint32_t row = 0; row < rows; row += params.nValue) {
    AscendC::DataCopy(dst[row * kBlockElements], src[row_stride * row], params);
  }
  const uint32_t columns = CeilDiv(cols, kBlockElements);
  if (rows != padded_rows) {
    FillZero(dst[rows * kBlockElements], columns, padded_rows - rows, rows);
  }
  // A block holds 8 columns of fp32, a tile whole groups of 16.
  if (columns * kBlockElements % kFractalRows != 0) {
    FillZero(dst[columns * padded_rows * kBlockElements], 1, padded_rows, 0);
  }
}

// GM -> L1 (MTE2): a tile for LoadRight. fp32 fractals are turned in pairs, which have to lie side
// by side: every 16 rows are a tile of their own.
template <typename Element>
__aicore__ inline void LoadTurnableTile(const AscendC::LocalTensor<Element>& dst,
                                        const AscendC::GlobalTensor<Element>& src, uint32_t rows,
                                        uint32_t cols, int64_t row_stride) {
  if constexpr (sizeof(Element) == sizeof(float)) {
    const uint32_t padded_cols = AlignUp(cols, kFractalRows);
    for (uint32_t row = 0; row < rows; row += kFractalRows) {
      LoadTile(dst[row * padded_cols], src[row_stride * row], Smaller(kFractalRows, rows - row),
               cols, row_stride);
    }
  } else {
    LoadTile(dst, src, rows, cols, row_stride);
  }
}

// GM -> L1 (MTE2): the same with fractals row by row, the order of L0A and, each fractal turned, of
// L0B, so that a single instruction takes them on. 16-bit elements.
template <typename Element>
__aicore__ inline void LoadTileByRows(const AscendC::LocalTensor<Element>& dst,
                                      const AscendC::GlobalTensor<Element>& src, uint32_t rows,
                                      uint32_t cols, int64_t row_stride) {
  constexpr uint32_t kBlockElements = kBlockBytes / sizeof(Element);
  const uint32_t fractal_row = kFractalRows * AlignUp(cols, kBlockElements);
  const bool together = row_stride >= cols && row_stride * kFractalRows <= kMaxRowStride;
  uint32_t row = 0;
  if (together && rows >= kFractalRows) {
    AscendC::Nd2NzParams params;
    params.ndNum = static_cast<uint16_t>(rows / kFractalRows);
    params.nValue = kFractalRows;
    params.dValue = static_cast<uint16_t>(cols);
    params.srcNdMatrixStride = static_cast<uint16_t>(row_stride * kFractalRows);
    params.srcDValue = static_cast<uint16_t>(row_stride);
    params.dstNzC0Stride = kFractalRows;
    params.dstNzNStride = 1;
    params.dstNzMatrixStride = static_cast<uint16_t>(fractal_row);
    AscendC::DataCopy(dst, src, params);
    row = rows / kFractalRows * kFractalRows;
  }
  for (; row < rows; row += kFractalRows) {
    LoadTile(dst[row / kFractalRows * fractal_row], src[row_stride * row],
             Smaller(kFractalRows, rows - row), cols, row_stride);
  }
}

// L1 -> L0A (MTE1): a tile loaded by rows, or its first rows, as the left operand.
template <typename Element>
__aicore__ inline void LoadLeftByRows(const AscendC::LocalTensor<Element>& dst,
                                      const AscendC::LocalTensor<Element>& src, uint32_t rows,
                                      uint32_t cols) {
  LoadStraight(dst, src, rows / kFractalRows * (cols / kFractalRows));
}

// L1 -> L0B (MTE1): a tile loaded by rows, or its first rows, as the right operand; the product
// runs over the tile's rows, so each fractal is turned.
template <typename Element>
__aicore__ inline void LoadRightByRows(const AscendC::LocalTensor<Element>& dst,
                                       const AscendC::LocalTensor<Element>& src, uint32_t rows,
                                       uint32_t cols) {
  AscendC::LoadData2DParams params;
  params.repeatTimes = static_cast<uint8_t>(rows / kFractalRows * (cols / kFractalRows));
  params.srcStride = 1;
  params.ifTranspose = true;
  AscendC::LoadData(dst, src, params);
}

// L1 -> L0A (MTE1): the transposes of tiles of `rows` rows, `cols` columns in all, as left
// operands; the products run over the rows, so each fractal is turned.
template <typename Element>
__aicore__ inline void LoadLeftTransposed(const AscendC::LocalTensor<Element>& dst,
                                          const AscendC::LocalTensor<Element>& src, uint32_t rows,
                                          uint32_t cols) {
  LoadRightByRows(dst, src, rows, cols);
}

// L1 -> L0B (MTE1): columns [col, col + cols) of a turnable tile of `tile_cols` columns as the
// right operand; the product runs over the tile's rows, so fractals are turned.
template <typename Element>
__aicore__ inline void LoadRight(const AscendC::LocalTensor<Element>& dst,
                                 const AscendC::LocalTensor<Element>& src, uint32_t rows,
                                 uint32_t tile_cols, uint32_t col, uint32_t cols) {
  const uint32_t row_fractals = rows / kFractalRows;
  const uint32_t col_squares = cols / kFractalRows;  // of 16 x 16 elements
  if constexpr (sizeof(Element) == sizeof(float)) {
    // Turned, a pair of fractals side by side is a pair above each other.
    AscendC::LoadData2dTransposeParams params;
    params.repeatTimes = static_cast<uint8_t>(col_squares);
    params.srcStride = 1;
    params.dstGap = 0;
    params.dstFracGap = static_cast<uint16_t>(col_squares - 1);
    for (uint32_t i = 0; i < row_fractals; ++i) {
      params.startIndex = static_cast<uint16_t>((i * tile_cols + col) / kFractalRows);
      AscendC::LoadDataWithTranspose(dst[i * col_squares * 2 * FractalElements<Element>()], src,
                                     params);
    }
  } else {
    LoadRight(dst, src, rows, 0, rows, col, cols);
  }
}

// L0A x L0B -> L0C (M), all counts multiples of 16, added to one fp32 number per column, from the
// bias table.
template <typename Element>
__aicore__ inline void MultiplyWithBias(const AscendC::LocalTensor<float>& dst,
                                        const AscendC::LocalTensor<Element>& left,
                                        const AscendC::LocalTensor<Element>& right,
                                        const AscendC::LocalTensor<float>& bias, uint32_t m,
                                        uint32_t n, uint32_t k) {
  AscendC::MmadParams params;
  params.m = static_cast<uint16_t>(m);
  params.n = static_cast<uint16_t>(n);
  params.k = static_cast<uint16_t>(k);
  params.cmatrixInitVal = false;
  AscendC::Mmad(dst, left, right, bias, params);
}

// L0C -> GM (FIX): the first `rows` rows of a product of `product_rows` rows and `cols` columns, as
// fp32 or rounded to fp16.
template <typename Out>
__aicore__ inline void StoreProduct(const AscendC::GlobalTensor<Out>& dst,
                                    const AscendC::LocalTensor<float>& src, uint32_t rows,
                                    uint32_t product_rows, uint32_t cols, uint32_t row_stride) {
  AscendC::FixpipeParamsV220 params;
  params.nSize = static_cast<uint16_t>(cols);
  params.mSize = static_cast<uint16_t>(rows);
  params.srcStride = static_cast<uint16_t>(product_rows);
  params.dstStride = row_stride;
  params.ndNum = 1;
  params.srcNdStride = 0;
  params.dstNdStride = 0;
  if (sizeof(Out) == sizeof(half)) {
    params.quantPre = QuantMode_t::F322F16;
  }
  AscendC::Fixpipe<Out, float, AscendC::CFG_ROW_MAJOR>(dst, src, params);
}

// All rows of a product, in whole fractals there.
__aicore__ inline void StoreProduct(const AscendC::GlobalTensor<float>& dst,
                                    const AscendC::LocalTensor<float>& src, uint32_t rows,
                                    uint32_t cols, uint32_t row_stride) {
  StoreProduct(dst, src, rows, AlignUp(rows, kFractalRows), cols, row_stride);
}

}  // namespace ascendfa

#endif  // ASCENDFA_ARCH_DAV_2201_TILE_COPY_H
