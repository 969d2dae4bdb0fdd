// Softmax over dense fp32 rows in UB, in whole 256-byte repeats.
#ifndef ANCHOR_ROW_SOFTMAX_H
#define ANCHOR_ROW_SOFTMAX_H

#include "kernel_operator.h"

namespace anchor {

using Floats = AscendC::LocalTensor<float>;

constexpr uint32_t kLanes = 64;      // fp32 lanes of a repeat
constexpr uint32_t kBlockLanes = 8;  // fp32 lanes of a 32-byte block

__aicore__ inline AscendC::UnaryRepeatParams Dense() {
  return AscendC::UnaryRepeatParams(1, 1, kBlockLanes, kBlockLanes);
}
__aicore__ inline AscendC::BinaryRepeatParams DensePair() {
  return AscendC::BinaryRepeatParams(1, 1, 1, kBlockLanes, kBlockLanes, kBlockLanes);
}
// The second operand one block, for every repeat the same.
__aicore__ inline AscendC::BinaryRepeatParams AgainstBlock() {
  return AscendC::BinaryRepeatParams(1, 1, 0, kBlockLanes, kBlockLanes, 0);
}

// Each row's maximum or sum to result[row]. `fold` takes an eighth of the rows and, behind that, a
// sixty-fourth. rows * width is at most 16320; width is 128, or 512 to 4096.
template <bool kSum>
__aicore__ inline void ReduceRows(const Floats& result, const Floats& data, const Floats& fold,
                                  uint32_t rows, uint32_t width) {
  const uint32_t repeats = rows * width / kLanes;
  if constexpr (kSum) {
    AscendC::BlockReduceSum(fold, data, static_cast<uint8_t>(repeats), kLanes, 1, 1, kBlockLanes);
  } else {
    AscendC::BlockReduceMax(fold, data, static_cast<uint8_t>(repeats), kLanes, 1, 1, kBlockLanes);
  }
  AscendC::PipeBarrier<PIPE_V>();
  Floats last = fold;
  uint32_t left = width / kBlockLanes;
  if (left >= kLanes) {
    last = fold[rows * left];
    const auto again = static_cast<uint8_t>(rows * left / kLanes);
    if constexpr (kSum) {
      AscendC::BlockReduceSum(last, fold, again, kLanes, 1, 1, kBlockLanes);
    } else {
      AscendC::BlockReduceMax(last, fold, again, kLanes, 1, 1, kBlockLanes);
    }
    AscendC::PipeBarrier<PIPE_V>();
    left /= kBlockLanes;
  }
  const auto stride = static_cast<int32_t>(left / kBlockLanes);
  if constexpr (kSum) {
    AscendC::WholeReduceSum(result, last, static_cast<int32_t>(left), static_cast<int32_t>(rows), 1,
                            1, stride);
  } else {
    AscendC::WholeReduceMax(result, last, static_cast<int32_t>(left), static_cast<int32_t>(rows), 1,
                            1, stride, AscendC::ReduceOrder::ORDER_ONLY_VALUE);
  }
  AscendC::PipeBarrier<PIPE_V>();
}

// One value per row to one block per row, for AgainstBlock; whole groups of eight rows.
__aicore__ inline void Spread(const Floats& blocks, const Floats& values, uint32_t rows) {
  AscendC::BrcbRepeatParams params;
  params.dstBlkStride = 1;
  params.dstRepStride = kBlockLanes;
  AscendC::Brcb(blocks, values, static_cast<uint8_t>((rows + kBlockLanes - 1) / kBlockLanes),
                params);
  AscendC::PipeBarrier<PIPE_V>();
}

}  // namespace anchor

#endif  // ANCHOR_ROW_SOFTMAX_H
