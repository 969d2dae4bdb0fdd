// y = softmax(scale x) along rows of half, each core a contiguous share: the middle of unfused
// attention. 8192 elements at a time, loads and stores double-buffered.
#include "kernel_operator.h"

#include "anchor_row_softmax.h"
#include "anchor_tiling.h"

namespace {

using AscendC::HardEvent;

class Softmax {
 public:
  __aicore__ inline Softmax(const AnchorSoftmaxTiling& plan, GM_ADDR x, GM_ADDR y) : plan_(plan) {
    x_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(x));
    y_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y));
    rows_ = kTile / plan_.columns;
  }

  __aicore__ inline void Run() {
    for (int32_t slot = 0; slot < 2; ++slot) {
      AscendC::SetFlag<HardEvent::V_MTE2>(slot);
      AscendC::SetFlag<HardEvent::MTE3_V>(slot);
    }
    // Spreading reads whole groups of eight values.
    AscendC::Duplicate(Buffer<float>(kValues, 4 * anchor::kLanes), 1.0f, anchor::kLanes, 4, 1, 8);
    AscendC::PipeBarrier<PIPE_V>();
    const uint64_t tiles = plan_.rows / rows_;
    const auto cores = static_cast<uint64_t>(AscendC::GetBlockNum());
    const auto core = static_cast<uint64_t>(AscendC::GetBlockIdx());
    int32_t slot = 0;
    for (uint64_t tile = tiles * core / cores; tile < tiles * (core + 1) / cores; ++tile) {
      Tile(tile * kTile, slot);
      slot ^= 1;
    }
    for (slot = 0; slot < 2; ++slot) {
      AscendC::WaitFlag<HardEvent::V_MTE2>(slot);
      AscendC::WaitFlag<HardEvent::MTE3_V>(slot);
    }
  }

 private:
  static constexpr uint32_t kTile = 8192, kRepeats = kTile / anchor::kLanes;
  // Byte addresses in UB. Whatever meets in one instruction lies 256 bytes off a multiple of 512.
  static constexpr uint32_t kIn = 0, kOut = 32768, kWide = 65536, kFold = 98304;
  static constexpr uint32_t kValues = 104448, kBlocks = 106496 + 256;

  template <typename T>
  __aicore__ inline AscendC::LocalTensor<T> Buffer(uint32_t address, uint32_t count) const {
    return AscendC::LocalTensor<T>(AscendC::TPosition::VECCALC, address, count);
  }

  __aicore__ inline void Tile(uint64_t at, int32_t slot) {
    const uint32_t half_slot = static_cast<uint32_t>(slot) * kTile * 2;
    const AscendC::LocalTensor<half> in = Buffer<half>(kIn + half_slot, kTile);
    const AscendC::LocalTensor<half> out = Buffer<half>(kOut + half_slot, kTile);
    const anchor::Floats wide = Buffer<float>(kWide, kTile);
    AscendC::WaitFlag<HardEvent::V_MTE2>(slot);
    AscendC::DataCopy(in, x_[at], kTile);
    AscendC::SetFlag<HardEvent::MTE2_V>(slot);
    AscendC::WaitFlag<HardEvent::MTE2_V>(slot);
    AscendC::Cast(wide, in, AscendC::RoundMode::CAST_NONE, anchor::kLanes, kRepeats,
                  AscendC::UnaryRepeatParams(1, 1, 8, 4));
    AscendC::SetFlag<HardEvent::V_MTE2>(slot);
    AscendC::PipeBarrier<PIPE_V>();
    Rows(wide);
    AscendC::WaitFlag<HardEvent::MTE3_V>(slot);
    AscendC::Cast(out, wide, AscendC::RoundMode::CAST_RINT, anchor::kLanes, kRepeats,
                  AscendC::UnaryRepeatParams(1, 1, 4, 8));
    AscendC::SetFlag<HardEvent::V_MTE3>(slot);
    AscendC::WaitFlag<HardEvent::V_MTE3>(slot);
    AscendC::DataCopy(y_[at], out, kTile);
    AscendC::SetFlag<HardEvent::MTE3_V>(slot);
  }

  __aicore__ inline void Rows(const anchor::Floats& wide) const {
    const anchor::Floats fold = Buffer<float>(kFold, kTile / 8 + kTile / 64);
    const anchor::Floats value = Buffer<float>(kValues, anchor::kLanes);
    const anchor::Floats ones = Buffer<float>(kValues + 512 + 256, anchor::kLanes);
    const anchor::Floats blocks = Buffer<float>(kBlocks, 16 * anchor::kBlockLanes);
    const uint32_t width = plan_.columns;
    const auto per_row = static_cast<uint8_t>(width / anchor::kLanes);
    AscendC::Muls(wide, wide, plan_.scale, anchor::kLanes, kRepeats, anchor::Dense());
    AscendC::PipeBarrier<PIPE_V>();
    anchor::ReduceRows<false>(value, wide, fold, rows_, width);
    anchor::Spread(blocks, value, rows_);
    for (uint32_t row = 0; row < rows_; ++row) {
      AscendC::Sub(wide[row * width], wide[row * width], blocks[row * anchor::kBlockLanes],
                   anchor::kLanes, per_row, anchor::AgainstBlock());
    }
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Exp(wide, wide, anchor::kLanes, kRepeats, anchor::Dense());
    AscendC::PipeBarrier<PIPE_V>();
    anchor::ReduceRows<true>(value, wide, fold, rows_, width);
    AscendC::Div(value, ones, value, rows_, 1, anchor::DensePair());
    AscendC::PipeBarrier<PIPE_V>();
    anchor::Spread(blocks, value, rows_);
    for (uint32_t row = 0; row < rows_; ++row) {
      AscendC::Mul(wide[row * width], wide[row * width], blocks[row * anchor::kBlockLanes],
                   anchor::kLanes, per_row, anchor::AgainstBlock());
    }
    AscendC::PipeBarrier<PIPE_V>();
  }

  AnchorSoftmaxTiling plan_;
  uint32_t rows_ = 0;  // of a tile
  AscendC::GlobalTensor<half> x_, y_;
};

}  // namespace

extern "C" __global__ __aicore__ void anchor_softmax(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                     GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  REGISTER_TILING_DEFAULT(AnchorSoftmaxTiling);
  GET_TILING_DATA(plan, tiling);
  Softmax(plan, x, y).Run();
}
