// Architecture 1001: matrices on their way between global memory and L1. No copy reorders, pads or
// takes less than 32 bytes, so rows come to UB as they are and leave it for L1 in columns of 16.
// Where the columns are no multiple of 16 the last block holds the last 16 of them: it repeats some
// of the block before, and nothing outside the tensor is touched.
#ifndef ASCENDFA_ARCH_DAV_1001_TILE_COPY_H
#define ASCENDFA_ARCH_DAV_1001_TILE_COPY_H

#include "../../fa/seqlen.h"
#include "../cube_operands.h"
#include "capacities.h"
#include "kernel_operator.h"

namespace ascendfa {

constexpr uint32_t kBlockHalves = kBlockBytes / sizeof(half);
constexpr int64_t kMaxGap = 65535;  // blocks between the bursts of a copy

// How rows of `cols` elements, `stride` apart, go in copies of whole blocks.
struct RowCopies {
  uint32_t whole;     // blocks from a row's start on
  uint32_t tail;      // 1: one more, that ends with the row
  int64_t gap;        // blocks from a row's whole ones to the next row's
  uint32_t together;  // rows per copy

  __aicore__ inline RowCopies(uint32_t rows, uint32_t cols, int64_t stride)
      : whole(cols / kBlockHalves), tail(cols % kBlockHalves != 0 ? 1 : 0) {
    gap = stride / kBlockHalves - whole;
    const bool strided = stride % kBlockHalves == 0 && gap >= 0 && gap < kMaxGap;
    together = strided ? rows : 1;
    gap = strided ? gap : 0;
  }
};

// GM -> UB (MTE2): rows, each in AlignUp(cols, 16) elements. At least 16 columns.
__aicore__ inline void LoadRows(const AscendC::LocalTensor<half>& dst,
                                const AscendC::GlobalTensor<half>& src, uint32_t rows,
                                uint32_t cols, int64_t stride) {
  const RowCopies copies(rows, cols, stride);
  const uint32_t width = (copies.whole + copies.tail) * kBlockHalves;
  for (uint32_t row = 0; row < rows; row += copies.together) {
    AscendC::DataCopy(dst[row * width], src[stride * row],
                      AscendC::DataCopyParams(static_cast<uint16_t>(copies.together),
                                              static_cast<uint16_t>(copies.whole),
                                              static_cast<uint16_t>(copies.gap),
                                              static_cast<uint16_t>(copies.tail)));
    if (copies.tail != 0) {
      AscendC::DataCopy(
          dst[row * width + copies.whole * kBlockHalves], src[stride * row + cols - kBlockHalves],
          AscendC::DataCopyParams(static_cast<uint16_t>(copies.together), 1,
                                  static_cast<uint16_t>(copies.gap + copies.whole - 1),
                                  static_cast<uint16_t>(copies.whole)));
    }
  }
}

// GM -> L1 (MTE2): the same into columns of 16, one copy each. Copies of single blocks, so this is
// for rows that lie whole blocks apart.
__aicore__ inline bool LoadsColumns(uint32_t cols, int64_t stride) {
  return cols >= kBlockHalves && stride % kBlockHalves == 0 && stride >= kBlockHalves &&
         stride / kBlockHalves <= kMaxGap;
}
__aicore__ inline void LoadColumn(const AscendC::LocalTensor<half>& dst,
                                  const AscendC::GlobalTensor<half>& src, uint32_t rows,
                                  uint32_t cols, uint32_t column, int64_t stride) {
  const uint32_t first = Smaller(column * kBlockHalves, cols - kBlockHalves);
  AscendC::DataCopy(dst[column * rows * kBlockHalves], src[first],
                    AscendC::DataCopyParams(static_cast<uint16_t>(rows), 1,
                                            static_cast<uint16_t>(stride / kBlockHalves - 1), 0));
}

// UB -> GM (MTE3): the way back.
__aicore__ inline void StoreRows(const AscendC::GlobalTensor<half>& dst,
                                 const AscendC::LocalTensor<half>& src, uint32_t rows,
                                 uint32_t cols, int64_t stride) {
  const RowCopies copies(rows, cols, stride);
  const uint32_t width = (copies.whole + copies.tail) * kBlockHalves;
  for (uint32_t row = 0; row < rows; row += copies.together) {
    AscendC::DataCopy(dst[stride * row], src[row * width],
                      AscendC::DataCopyParams(static_cast<uint16_t>(copies.together),
                                              static_cast<uint16_t>(copies.whole),
                                              static_cast<uint16_t>(copies.tail),
                                              static_cast<uint16_t>(copies.gap)));
    if (copies.tail != 0) {
      // Both write the columns they share.
      AscendC::PipeBarrier<PIPE_MTE3>();
      AscendC::DataCopy(
          dst[stride * row + cols - kBlockHalves], src[row * width + copies.whole * kBlockHalves],
          AscendC::DataCopyParams(static_cast<uint16_t>(copies.together), 1,
                                  static_cast<uint16_t>(copies.whole),
                                  static_cast<uint16_t>(copies.gap + copies.whole - 1)));
    }
  }
}

// UB -> L1 (MTE3): `rows` rows of `width` elements into columns of 16, `column_rows` rows each.
__aicore__ inline void SplitColumns(const AscendC::LocalTensor<half>& dst,
                                    const AscendC::LocalTensor<half>& src, uint32_t rows,
                                    uint32_t width, uint32_t column_rows) {
  const uint32_t columns = width / kBlockHalves;
  const AscendC::DataCopyParams params(static_cast<uint16_t>(rows), 1,
                                       static_cast<uint16_t>(columns - 1), 0);
  for (uint32_t column = 0; column < columns; ++column) {
    AscendC::DataCopy(dst[column * column_rows * kBlockHalves], src[column * kBlockHalves], params);
  }
}

}  // namespace ascendfa

#endif  // ASCENDFA_ARCH_DAV_1001_TILE_COPY_H
