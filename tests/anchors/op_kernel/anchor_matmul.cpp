// C[m, n] = A[m, k] B[n, k]^T, batched: the published high-performance shape of a matrix product
// on this cube. Output tiles of 128 x 256, 64 deep in L0, a few times that in L1, every buffer but
// L0C double. The plan says what the published kernels differ in.
#include "kernel_operator.h"

#include "anchor_tiling.h"

namespace {

constexpr uint32_t kTileM = 128, kMaxTileN = 256, kL0K = 64;
constexpr uint32_t kStripe = 8;  // rows of tiles that pass a column of B together
constexpr uint32_t kFractalSide = 16;

using AscendC::HardEvent;

class Matmul {
 public:
  __aicore__ inline Matmul(const AnchorMatmulTiling& plan, GM_ADDR a, GM_ADDR b, GM_ADDR c)
      : plan_(plan) {
    a_.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_A*>(a));
    b_.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_B*>(b));
    c_.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_C*>(c));
    depth_ = plan_.k / kL0K;
    left_ = {plan_.step_a, kTileM * plan_.step_a * kL0K, 0, 0, Locate(0), 0, 0};
    right_ = {plan_.step_b,
              plan_.tile_n * plan_.step_b * kL0K,
              2 * left_.elements * kBytes,
              2,
              Locate(0),
              0,
              0};
  }

  __aicore__ inline void Run() {
    Open();
    if (plan_.ahead != 0) LoadPieces(0);
    for (at_ = Locate(0); at_.valid; at_ = Locate(at_.number + 1)) {
      for (uint32_t step = 0; step < depth_; ++step) {
        LoadPieces(step);
        Multiply(step);
      }
      Store();
    }
    Close();
  }

 private:
  static constexpr uint32_t kBytes = 2;

  // A place in the core's walk: an output tile.
  struct Place {
    bool valid;
    uint32_t number;  // of the core's tiles
    uint32_t batch, row, column;
  };
  // One operand's pieces on their way through two slots of L1.
  struct Operand {
    uint32_t step, elements;        // of a piece: depths of L0, elements
    uint32_t address, first_event;  // of its slots
    Place ahead;                    // tile of the next piece to load
    uint32_t depth;                 // how deep in it
    uint32_t loaded;                // pieces so far
    uint32_t used = 0;
    __aicore__ inline int32_t LoadEvent() const {
      return static_cast<int32_t>(first_event + loaded % 2);
    }
    __aicore__ inline int32_t UseEvent() const {
      return static_cast<int32_t>(first_event + used % 2);
    }
    __aicore__ inline uint32_t LoadAddress() const {
      return address + loaded % 2 * elements * kBytes;
    }
    __aicore__ inline uint32_t UseAddress() const { return address + used % 2 * elements * kBytes; }
  };

  __aicore__ inline Place Locate(uint32_t number) const {
    const auto core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    const uint32_t all_rows = plan_.m / kTileM, all_columns = plan_.n / plan_.tile_n;
    Place place{false, number, 0, 0, 0};
    if (plan_.grid_m != 0) {
      const uint32_t first = core / plan_.grid_m * plan_.single_columns;
      if (first >= all_columns) return place;
      const uint32_t left = all_columns - first;
      const uint32_t columns = left < plan_.single_columns ? left : plan_.single_columns;
      const uint32_t tiles = plan_.single_rows * columns, round = number / tiles;
      if (round >= plan_.rounds) return place;
      const uint32_t strip = round * plan_.grid_m + core % plan_.grid_m;
      place.row = strip * plan_.single_rows + number % tiles / columns;
      place.column = first + number % columns;
    } else {
      const uint32_t global = core + number * static_cast<uint32_t>(AscendC::GetBlockNum());
      const uint32_t per_batch = all_rows * all_columns;
      if (global >= per_batch * plan_.batch) return place;
      place.batch = global / per_batch;
      const uint32_t tile = global % per_batch;
      const uint32_t stripe = tile / (kStripe * all_columns);
      const uint32_t left = all_rows - stripe * kStripe;
      const uint32_t height = left < kStripe ? left : kStripe;
      const uint32_t in_stripe = tile - stripe * kStripe * all_columns;
      place.row = stripe * kStripe + in_stripe % height;
      place.column = in_stripe / height;
    }
    place.valid = true;
    return place;
  }

  __aicore__ inline void Open() {
    for (int32_t slot = 0; slot < 2; ++slot) {
      AscendC::SetFlag<HardEvent::MTE1_MTE2>(slot);
      AscendC::SetFlag<HardEvent::MTE1_MTE2>(2 + slot);
      AscendC::SetFlag<HardEvent::M_MTE1>(slot);
    }
    if (plan_.unit_flag == 0) AscendC::SetFlag<HardEvent::FIX_M>(0);
  }
  __aicore__ inline void Close() {
    for (int32_t slot = 0; slot < 2; ++slot) {
      AscendC::WaitFlag<HardEvent::MTE1_MTE2>(slot);
      AscendC::WaitFlag<HardEvent::MTE1_MTE2>(2 + slot);
      AscendC::WaitFlag<HardEvent::M_MTE1>(slot);
    }
    if (plan_.unit_flag == 0) AscendC::WaitFlag<HardEvent::FIX_M>(0);
  }

  template <typename T>
  __aicore__ inline void LoadRows(const AscendC::LocalTensor<T>& to,
                                  const AscendC::GlobalTensor<T>& from, uint32_t rows,
                                  uint32_t step) const {
    AscendC::Nd2NzParams params;
    params.ndNum = 1;
    params.nValue = static_cast<uint16_t>(rows);
    params.dValue = static_cast<uint16_t>(step * kL0K);
    params.srcNdMatrixStride = 0;
    params.srcDValue = static_cast<uint16_t>(plan_.k);
    params.dstNzC0Stride = static_cast<uint16_t>(rows);
    params.dstNzNStride = 1;
    params.dstNzMatrixStride = 0;
    AscendC::DataCopy(to, from, params);
  }

  // What is due at this depth. Ahead of its use the operand that is due more often goes first.
  __aicore__ inline void LoadPieces(uint32_t step) {
    if (plan_.step_a > plan_.step_b && step % right_.step == 0) LoadRightPiece();
    if (step % left_.step == 0) LoadLeftPiece();
    if (plan_.step_a <= plan_.step_b && step % right_.step == 0) LoadRightPiece();
  }

  // The next piece of A in the walk, if there is one.
  __aicore__ inline void LoadLeftPiece() {
    if (!left_.ahead.valid) return;
    const Place& place = left_.ahead;
    AscendC::WaitFlag<HardEvent::MTE1_MTE2>(left_.LoadEvent());
    const uint64_t row = static_cast<uint64_t>(place.batch) * plan_.m + place.row * kTileM;
    const AscendC::LocalTensor<DTYPE_A> to(AscendC::TPosition::A1, left_.LoadAddress(),
                                           left_.elements);
    LoadRows(to, a_[row * plan_.k + left_.depth * kL0K], kTileM, left_.step);
    AscendC::SetFlag<HardEvent::MTE2_MTE1>(left_.LoadEvent());
    Advance(left_);
  }
  __aicore__ inline void LoadRightPiece() {
    if (!right_.ahead.valid) return;
    const Place& place = right_.ahead;
    AscendC::WaitFlag<HardEvent::MTE1_MTE2>(right_.LoadEvent());
    const uint64_t column =
        static_cast<uint64_t>(place.batch) * plan_.n + place.column * plan_.tile_n;
    const AscendC::LocalTensor<DTYPE_B> to(AscendC::TPosition::B1, right_.LoadAddress(),
                                           right_.elements);
    LoadRows(to, b_[column * plan_.k + right_.depth * kL0K], plan_.tile_n, right_.step);
    AscendC::SetFlag<HardEvent::MTE2_MTE1>(right_.LoadEvent());
    Advance(right_);
  }
  __aicore__ inline void Advance(Operand& operand) const {
    ++operand.loaded;
    operand.depth += operand.step;
    if (operand.depth < depth_) return;
    operand.depth = 0;
    operand.ahead = Locate(operand.ahead.number + 1);
  }

  __aicore__ inline void Multiply(uint32_t step) {
    const uint32_t l0 = l0_step_++ % 2;
    const AscendC::LocalTensor<DTYPE_A> left(AscendC::TPosition::A2, l0 * kTileM * kL0K * kBytes,
                                             kTileM * kL0K);
    const AscendC::LocalTensor<DTYPE_B> right(AscendC::TPosition::B2,
                                              l0 * kMaxTileN * kL0K * kBytes, kMaxTileN * kL0K);
    AscendC::WaitFlag<HardEvent::M_MTE1>(static_cast<int32_t>(l0));
    if (step % left_.step == 0) AscendC::WaitFlag<HardEvent::MTE2_MTE1>(left_.UseEvent());
    LoadLeft(
        left,
        AscendC::LocalTensor<DTYPE_A>(AscendC::TPosition::A1, left_.UseAddress(), left_.elements),
        step % left_.step * kL0K);
    if (step % right_.step == 0) AscendC::WaitFlag<HardEvent::MTE2_MTE1>(right_.UseEvent());
    LoadRight(
        right,
        AscendC::LocalTensor<DTYPE_B>(AscendC::TPosition::B1, right_.UseAddress(), right_.elements),
        step % right_.step * kL0K);
    Release(left_, step);
    Release(right_, step);
    AscendC::SetFlag<HardEvent::MTE1_M>(static_cast<int32_t>(l0));
    AscendC::WaitFlag<HardEvent::MTE1_M>(static_cast<int32_t>(l0));
    if (step == 0 && plan_.unit_flag == 0) AscendC::WaitFlag<HardEvent::FIX_M>(0);
    AscendC::MmadParams params;
    params.m = kTileM;
    params.n = static_cast<uint16_t>(plan_.tile_n);
    params.k = kL0K;
    params.cmatrixInitVal = step == 0;
    if (plan_.unit_flag != 0) params.unitFlag = step + 1 < depth_ ? 2 : 3;
    AscendC::Mmad(L0C(), left, right, params);
    AscendC::SetFlag<HardEvent::M_MTE1>(static_cast<int32_t>(l0));
  }
  __aicore__ inline void Release(Operand& operand, uint32_t step) const {
    if ((step + 1) % operand.step != 0) return;
    AscendC::SetFlag<HardEvent::MTE1_MTE2>(operand.UseEvent());
    ++operand.used;
  }

  // All of it in one instruction: a map one pixel high, its filter a single pixel.
  __aicore__ inline void LoadLeft(const AscendC::LocalTensor<DTYPE_A>& to,
                                  const AscendC::LocalTensor<DTYPE_A>& from, uint32_t k) const {
    AscendC::LoadData3DParamsV2<DTYPE_A> params;
    params.l1H = 1;
    params.l1W = kTileM;
    params.channelSize = static_cast<uint16_t>(left_.step * kL0K);
    params.kExtension = kL0K;
    params.mExtension = kTileM;
    params.kStartPt = static_cast<uint16_t>(k);
    AscendC::LoadData(to, from, params);
  }
  // Rows of B run along k as L0B wants them: fractals in the order they lie in.
  __aicore__ inline void LoadRight(const AscendC::LocalTensor<DTYPE_B>& to,
                                   const AscendC::LocalTensor<DTYPE_B>& from, uint32_t k) const {
    AscendC::LoadData2DParams params;
    params.startIndex = static_cast<uint16_t>(k / kFractalSide * (plan_.tile_n / kFractalSide));
    params.repeatTimes = static_cast<uint8_t>(kL0K / kFractalSide * (plan_.tile_n / kFractalSide));
    params.srcStride = 1;
    AscendC::LoadData(to, from, params);
  }

  __aicore__ inline void Store() {
    if (plan_.unit_flag == 0) {
      AscendC::SetFlag<HardEvent::M_FIX>(0);
      AscendC::WaitFlag<HardEvent::M_FIX>(0);
    }
    AscendC::FixpipeParamsV220 params;
    params.nSize = static_cast<uint16_t>(plan_.tile_n);
    params.mSize = kTileM;
    params.srcStride = kTileM;
    params.dstStride = plan_.n;
    if (plan_.unit_flag != 0) params.unitFlag = 3;
    if constexpr (sizeof(DTYPE_C) == 2) params.quantPre = QuantMode_t::F322F16;
    const uint64_t row = static_cast<uint64_t>(at_.batch) * plan_.m + at_.row * kTileM;
    AscendC::Fixpipe<DTYPE_C, float, AscendC::CFG_ROW_MAJOR>(
        c_[row * plan_.n + at_.column * plan_.tile_n], L0C(), params);
    if (plan_.unit_flag == 0) AscendC::SetFlag<HardEvent::FIX_M>(0);
  }

  __aicore__ inline AscendC::LocalTensor<float> L0C() const {
    return AscendC::LocalTensor<float>(AscendC::TPosition::CO1, 0, kTileM * kMaxTileN);
  }

  AnchorMatmulTiling plan_;
  uint32_t depth_ = 0;  // of k, in depths of L0
  Operand left_{}, right_{};
  Place at_{};
  uint32_t l0_step_ = 0;
  AscendC::GlobalTensor<DTYPE_A> a_;
  AscendC::GlobalTensor<DTYPE_B> b_;
  AscendC::GlobalTensor<DTYPE_C> c_;
};

}  // namespace

extern "C" __global__ __aicore__ void anchor_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR c,
                                                    GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
  REGISTER_TILING_DEFAULT(AnchorMatmulTiling);
  GET_TILING_DATA(plan, tiling);
  Matmul(plan, a, b, c).Run();
}
