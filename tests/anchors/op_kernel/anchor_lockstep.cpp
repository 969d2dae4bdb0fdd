// Flash attention as a textbook writes the loop: scores, softmax, product, rescale, one key tile
// after the other, with nothing in flight between cube and vector cores. What pipelining has to
// beat. Tiles of 128 queries by 128 keys, head dimension 128.
#include "kernel_operator.h"

#include "anchor_row_softmax.h"
#include "anchor_tiling.h"

namespace {

using AscendC::HardEvent;

constexpr uint32_t kEdge = 128, kTile = kEdge * kEdge, kFractals = kEdge / 16;
constexpr uint32_t kSlotBytes = 10 * kTile;  // scores, partial output, weights
constexpr uint16_t kScores = 0, kWeights = 1, kPartial = 2, kUpdated = 3;
constexpr uint8_t kGroup = 2;  // between a cube core and its two vector cores

struct Memory {
  AscendC::GlobalTensor<half> q, k, v, out, weights;
  AscendC::GlobalTensor<float> scores, partial;

  __aicore__ inline void Init(GM_ADDR q_at, GM_ADDR k_at, GM_ADDR v_at, GM_ADDR out_at,
                              GM_ADDR workspace, uint32_t group) {
    q.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(q_at));
    k.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(k_at));
    v.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(v_at));
    out.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(out_at));
    GM_ADDR slot = workspace + static_cast<uint64_t>(group) * kSlotBytes;
    scores.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(slot));
    partial.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(slot + 4 * kTile));
    weights.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(slot + 8 * kTile));
  }
};

class Cube {
 public:
  __aicore__ inline Cube(const AnchorLockstepTiling& plan, const Memory& memory)
      : plan_(plan), gm_(memory) {}

  __aicore__ inline void Run(uint32_t group, uint32_t groups) {
    AscendC::SetFlag<HardEvent::MTE1_MTE2>(0);
    AscendC::SetFlag<HardEvent::M_MTE1>(0);
    AscendC::SetFlag<HardEvent::FIX_M>(0);
    const uint32_t blocks = plan_.seq / kEdge;
    for (uint32_t task = group; task < plan_.heads * blocks; task += groups) {
      const uint64_t head = static_cast<uint64_t>(task / blocks) * blocks;
      for (uint32_t tile = 0; tile < blocks; ++tile) {
        const uint64_t key = (head + tile) * kTile;
        AscendC::WaitFlag<HardEvent::MTE1_MTE2>(0);
        if (tile == 0) Load(Queries(), gm_.q[static_cast<uint64_t>(task) * kTile]);
        Load(Right(), gm_.k[key]);
        Multiply(Queries(), true, gm_.scores);
        AscendC::CrossCoreSetFlag<kGroup, PIPE_FIX>(kScores);

        AscendC::CrossCoreWaitFlag<kGroup, PIPE_MTE2>(kWeights);
        AscendC::WaitFlag<HardEvent::MTE1_MTE2>(0);
        Load(Weights(), gm_.weights);
        Load(Right(), gm_.v[key]);
        Multiply(Weights(), false, gm_.partial);
        AscendC::CrossCoreSetFlag<kGroup, PIPE_FIX>(kPartial);
        AscendC::CrossCoreWaitFlag<kGroup, PIPE_MTE2>(kUpdated);
      }
    }
    AscendC::WaitFlag<HardEvent::MTE1_MTE2>(0);
    AscendC::WaitFlag<HardEvent::M_MTE1>(0);
    AscendC::WaitFlag<HardEvent::FIX_M>(0);
  }

 private:
  __aicore__ inline AscendC::LocalTensor<half> InL1(uint32_t number) const {
    return AscendC::LocalTensor<half>(AscendC::TPosition::A1, number * kTile * 2, kTile);
  }
  __aicore__ inline AscendC::LocalTensor<half> Queries() const { return InL1(0); }
  __aicore__ inline AscendC::LocalTensor<half> Weights() const { return InL1(1); }
  __aicore__ inline AscendC::LocalTensor<half> Right() const { return InL1(2); }

  __aicore__ inline void Load(const AscendC::LocalTensor<half>& to,
                              const AscendC::GlobalTensor<half>& from) const {
    AscendC::Nd2NzParams params;
    params.ndNum = 1;
    params.nValue = kEdge;
    params.dValue = kEdge;
    params.srcNdMatrixStride = 0;
    params.srcDValue = kEdge;
    params.dstNzC0Stride = kEdge;
    params.dstNzNStride = 1;
    params.dstNzMatrixStride = 0;
    AscendC::DataCopy(to, from, params);
  }

  // left times the matrix in Right(), or its transpose, stored to `to`.
  __aicore__ inline void Multiply(const AscendC::LocalTensor<half>& left, bool transposed,
                                  const AscendC::GlobalTensor<float>& to) const {
    const AscendC::LocalTensor<half> a(AscendC::TPosition::A2, 0, kTile);
    const AscendC::LocalTensor<half> b(AscendC::TPosition::B2, 0, kTile);
    const AscendC::LocalTensor<float> c(AscendC::TPosition::CO1, 0, kTile);
    AscendC::SetFlag<HardEvent::MTE2_MTE1>(0);
    AscendC::WaitFlag<HardEvent::MTE2_MTE1>(0);
    AscendC::WaitFlag<HardEvent::M_MTE1>(0);
    AscendC::LoadData3DParamsV2<half> whole;
    whole.l1H = 1;
    whole.l1W = kEdge;
    whole.channelSize = kEdge;
    whole.kExtension = kEdge;
    whole.mExtension = kEdge;
    AscendC::LoadData(a, left, whole);
    AscendC::LoadData2DParams columns;
    if (transposed) {
      columns.repeatTimes = kFractals * kFractals;
      columns.srcStride = 1;
      AscendC::LoadData(b, Right(), columns);
    } else {
      columns.repeatTimes = kFractals;
      columns.srcStride = kFractals;
      columns.ifTranspose = true;
      for (uint32_t i = 0; i < kFractals; ++i) {
        columns.startIndex = static_cast<uint16_t>(i);
        AscendC::LoadData(b[i * kFractals * 256], Right(), columns);
      }
    }
    AscendC::SetFlag<HardEvent::MTE1_MTE2>(0);
    AscendC::SetFlag<HardEvent::MTE1_M>(0);
    AscendC::WaitFlag<HardEvent::MTE1_M>(0);
    AscendC::WaitFlag<HardEvent::FIX_M>(0);
    AscendC::MmadParams params;
    params.m = kEdge;
    params.n = kEdge;
    params.k = kEdge;
    params.cmatrixInitVal = true;
    AscendC::Mmad(c, a, b, params);
    AscendC::SetFlag<HardEvent::M_MTE1>(0);
    AscendC::SetFlag<HardEvent::M_FIX>(0);
    AscendC::WaitFlag<HardEvent::M_FIX>(0);
    AscendC::FixpipeParamsV220 store;
    store.nSize = kEdge;
    store.mSize = kEdge;
    store.srcStride = kEdge;
    store.dstStride = kEdge;
    AscendC::Fixpipe<float, float, AscendC::CFG_ROW_MAJOR>(to, c, store);
    AscendC::SetFlag<HardEvent::FIX_M>(0);
  }

  AnchorLockstepTiling plan_;
  Memory gm_;
};

class Vector {
 public:
  __aicore__ inline Vector(const AnchorLockstepTiling& plan, const Memory& memory, uint32_t half_of)
      : plan_(plan), gm_(memory), from_(half_of * kMine) {}

  __aicore__ inline void Run(uint32_t group, uint32_t groups) {
    AscendC::SetFlag<HardEvent::V_MTE2>(0);
    AscendC::SetFlag<HardEvent::MTE3_V>(0);
    const uint32_t blocks = plan_.seq / kEdge;
    for (uint32_t task = group; task < plan_.heads * blocks; task += groups) {
      AscendC::Duplicate(Maximum(), -1.0e28f, anchor::kLanes, 1, 1, 8);
      AscendC::Duplicate(Sum(), 0.0f, anchor::kLanes, 1, 1, 8);
      AscendC::Duplicate(Output(), 0.0f, anchor::kLanes, kRepeats, 1, 8);
      AscendC::PipeBarrier<PIPE_V>();
      for (uint32_t tile = 0; tile < blocks; ++tile) {
        AscendC::CrossCoreWaitFlag<kGroup, PIPE_MTE2>(kScores);
        Fetch(gm_.scores);
        SoftmaxTile();
        StoreWeights();
        AscendC::CrossCoreWaitFlag<kGroup, PIPE_MTE2>(kPartial);
        Fetch(gm_.partial);
        Accumulate();
        AscendC::CrossCoreSetFlag<kGroup, PIPE_V>(kUpdated);
      }
      Finish(static_cast<uint64_t>(task) * kTile);
    }
    AscendC::WaitFlag<HardEvent::V_MTE2>(0);
    AscendC::WaitFlag<HardEvent::MTE3_V>(0);
  }

 private:
  static constexpr uint32_t kRows = kEdge / 2, kMine = kRows * kEdge;
  static constexpr uint8_t kRepeats = kMine / anchor::kLanes;

  // Buffers by byte address.
  __aicore__ inline anchor::Floats At(uint32_t address, uint32_t count) const {
    return anchor::Floats(AscendC::TPosition::VECCALC, address, count);
  }
  __aicore__ inline anchor::Floats Tile() const { return At(0, kMine); }
  __aicore__ inline anchor::Floats Output() const { return At(32768 + 256, kMine); }
  __aicore__ inline anchor::Floats Fold() const { return At(66048, kMine / 8); }
  __aicore__ inline anchor::Floats Blocks() const { return At(70144 + 256, kRows * 8); }
  __aicore__ inline anchor::Floats Maximum() const { return At(73728, kRows); }
  __aicore__ inline anchor::Floats RowValue() const { return At(73984, kRows); }
  __aicore__ inline anchor::Floats Sum() const { return At(74240, kRows); }
  __aicore__ inline anchor::Floats Alpha() const { return At(74496, kRows); }
  __aicore__ inline AscendC::LocalTensor<half> Narrow() const {
    return AscendC::LocalTensor<half>(AscendC::TPosition::VECCALC, 75776, kMine);
  }

  __aicore__ inline void Fetch(const AscendC::GlobalTensor<float>& from) const {
    AscendC::WaitFlag<HardEvent::V_MTE2>(0);
    AscendC::DataCopy(Tile(), from[from_], kMine);
    AscendC::SetFlag<HardEvent::MTE2_V>(0);
    AscendC::WaitFlag<HardEvent::MTE2_V>(0);
  }

  // One value per row, applied to all columns.
  __aicore__ inline AscendC::BinaryRepeatParams ByRow() const {
    constexpr uint8_t kRowBlocks = kEdge / anchor::kBlockLanes;
    return AscendC::BinaryRepeatParams(1, 1, 0, kRowBlocks, kRowBlocks, 1);
  }

  __aicore__ inline void SoftmaxTile() const {
    const anchor::Floats tile = Tile();
    AscendC::Muls(tile, tile, plan_.scale, anchor::kLanes, kRepeats, anchor::Dense());
    AscendC::PipeBarrier<PIPE_V>();
    anchor::ReduceRows<false>(RowValue(), tile, Fold(), kRows, kEdge);
    AscendC::Max(RowValue(), RowValue(), Maximum(), anchor::kLanes, 1, anchor::DensePair());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sub(Alpha(), Maximum(), RowValue(), anchor::kLanes, 1, anchor::DensePair());
    anchor::Spread(Blocks(), RowValue(), kRows);
    AscendC::Max(Maximum(), RowValue(), RowValue(), anchor::kLanes, 1, anchor::DensePair());
    for (uint32_t column = 0; column < kEdge; column += anchor::kLanes) {
      AscendC::Sub(tile[column], tile[column], Blocks(), anchor::kLanes, kRows, ByRow());
    }
    AscendC::Exp(Alpha(), Alpha(), anchor::kLanes, 1, anchor::Dense());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Exp(tile, tile, anchor::kLanes, kRepeats, anchor::Dense());
    AscendC::PipeBarrier<PIPE_V>();
    anchor::ReduceRows<true>(RowValue(), tile, Fold(), kRows, kEdge);
    AscendC::Mul(Sum(), Sum(), Alpha(), anchor::kLanes, 1, anchor::DensePair());
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(Sum(), Sum(), RowValue(), anchor::kLanes, 1, anchor::DensePair());
  }

  __aicore__ inline void StoreNarrow(const anchor::Floats& from,
                                     const AscendC::GlobalTensor<half>& to) const {
    AscendC::WaitFlag<HardEvent::MTE3_V>(0);
    AscendC::Cast(Narrow(), from, AscendC::RoundMode::CAST_RINT, anchor::kLanes, kRepeats,
                  AscendC::UnaryRepeatParams(1, 1, 4, 8));
    AscendC::SetFlag<HardEvent::V_MTE3>(0);
    AscendC::WaitFlag<HardEvent::V_MTE3>(0);
    AscendC::DataCopy(to, Narrow(), kMine);
    AscendC::SetFlag<HardEvent::MTE3_V>(0);
  }

  __aicore__ inline void StoreWeights() const {
    StoreNarrow(Tile(), gm_.weights[from_]);
    AscendC::SetFlag<HardEvent::V_MTE2>(0);
    AscendC::CrossCoreSetFlag<kGroup, PIPE_MTE3>(kWeights);
  }

  __aicore__ inline void Accumulate() const {
    const anchor::Floats output = Output();
    anchor::Spread(Blocks(), Alpha(), kRows);
    for (uint32_t column = 0; column < kEdge; column += anchor::kLanes) {
      AscendC::Mul(output[column], output[column], Blocks(), anchor::kLanes, kRows, ByRow());
    }
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(output, output, Tile(), anchor::kLanes, kRepeats, anchor::DensePair());
    AscendC::SetFlag<HardEvent::V_MTE2>(0);
    AscendC::PipeBarrier<PIPE_V>();
  }

  __aicore__ inline void Finish(uint64_t at) const {
    const anchor::Floats output = Output();
    anchor::Spread(Blocks(), Sum(), kRows);
    for (uint32_t column = 0; column < kEdge; column += anchor::kLanes) {
      AscendC::Div(output[column], output[column], Blocks(), anchor::kLanes, kRows, ByRow());
    }
    AscendC::PipeBarrier<PIPE_V>();
    StoreNarrow(output, gm_.out[at + from_]);
    AscendC::PipeBarrier<PIPE_V>();
  }

  AnchorLockstepTiling plan_;
  Memory gm_;
  uint32_t from_;  // first element of this core's half of a tile
};

}  // namespace

extern "C" __global__ __aicore__ void anchor_lockstep(GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR out,
                                                      GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  REGISTER_TILING_DEFAULT(AnchorLockstepTiling);
  GET_TILING_DATA(plan, tiling);
  const auto block = static_cast<uint32_t>(AscendC::GetBlockIdx());
  const auto groups = static_cast<uint32_t>(AscendC::GetBlockNum());
  Memory memory;
  if ASCEND_IS_AIC {
    memory.Init(q, k, v, out, AscendC::GetUserWorkspace(workspace), block);
    Cube(plan, memory).Run(block, groups);
  }
  if ASCEND_IS_AIV {
    memory.Init(q, k, v, out, AscendC::GetUserWorkspace(workspace), block / 2);
    Vector(plan, memory, block % 2).Run(block / 2, groups);
  }
}
