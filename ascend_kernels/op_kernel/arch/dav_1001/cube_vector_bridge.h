// Architecture 1001: cube and vector unit are one core. Products go from L0C to UB on the vector
// pipe, weights from UB to L1 on MTE3, both in columns of 16.
#ifndef ASCENDFA_ARCH_DAV_1001_CUBE_VECTOR_BRIDGE_H
#define ASCENDFA_ARCH_DAV_1001_CUBE_VECTOR_BRIDGE_H

#include "capacities.h"
#include "kernel_operator.h"

namespace ascendfa {

// L0C -> UB (V): rows [row, row + rows) of a product of `product_rows` rows, `columns` columns.
__aicore__ inline void FetchProduct(const AscendC::LocalTensor<float>& dst,
                                    const AscendC::LocalTensor<float>& src, uint32_t row,
                                    uint32_t rows, uint32_t product_rows, uint32_t columns) {
  const uint32_t fractals = rows / kFractalRows;
  const AscendC::DataCopyParams params(
      static_cast<uint16_t>(columns / kFractalRows), static_cast<uint16_t>(fractals),
      static_cast<uint16_t>(product_rows / kFractalRows - fractals), 0);
  AscendC::DataCopyEnhancedParams whole;
  whole.blockMode = AscendC::BlockMode::BLOCK_MODE_MATRIX;
  AscendC::DataCopy(dst, src[row * kFractalRows], params, whole);
}

// UB -> L1 (MTE3): a matrix in columns of 16 into rows of fractals, the order of the left operand.
__aicore__ inline void HandOverLeft(const AscendC::LocalTensor<half>& dst,
                                    const AscendC::LocalTensor<half>& src, uint32_t rows,
                                    uint32_t columns) {
  constexpr uint32_t kFractalBlocks = kFractalBytes / kBlockBytes;
  const uint32_t row_fractals = rows / kFractalRows;
  const uint32_t column_fractals = columns / kFractalRows;
  const AscendC::DataCopyParams params(
      static_cast<uint16_t>(row_fractals), kFractalBlocks, 0,
      static_cast<uint16_t>((column_fractals - 1) * kFractalBlocks));
  for (uint32_t column = 0; column < column_fractals; ++column) {
    AscendC::DataCopy(dst[column * (kFractalBytes / sizeof(half))],
                      src[column * rows * kFractalRows], params);
  }
}

}  // namespace ascendfa

#endif  // ASCENDFA_ARCH_DAV_1001_CUBE_VECTOR_BRIDGE_H
