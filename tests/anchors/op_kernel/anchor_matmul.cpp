// C[m, n] = A[m, k] B[n, k]^T, batched: the published high-performance shape of a matrix product
// on this cube. Output tiles of 128 x 256, 64 deep in L0 and four times that in L1 (half as much
// where the shape asks for it), every buffer but L0C double.
#include "kernel_operator.h"

#include "anchor_tiling.h"

namespace {

constexpr uint32_t kTileM = 128, kMaxTileN = 256, kL0K = 64, kMaxPieceK = 256;
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
    rows_ = plan_.m / kTileM;
    columns_ = plan_.n / plan_.tile_n;
    depth_ = plan_.k / plan_.piece_k;
  }

  __aicore__ inline void Run() {
    Open();
    ahead_ = First();
    Load(0);
    for (at_ = First(); at_.valid; ++step_) {
      Load((step_ + 1) % 2);
      Multiply(step_ % 2);
      if (++at_.depth == depth_) {
        Store();
        at_ = Next(at_);
      }
    }
    Close();
  }

 private:
  // A place in the core's walk: an output tile and how deep in it.
  struct Place {
    bool valid;
    uint32_t number;  // of the core's tiles
    uint32_t batch, row, column;
    uint32_t depth;
  };

  __aicore__ inline Place Locate(uint32_t number) const {
    const auto core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    Place place{false, number, 0, 0, 0, 0};
    if (plan_.grid_m != 0) {
      const uint32_t rows = rows_ / plan_.grid_m, columns = columns_ / plan_.grid_n;
      if (number >= rows * columns) return place;
      place.row = core / plan_.grid_n * rows + number / columns;
      place.column = core % plan_.grid_n * columns + number % columns;
    } else {
      const uint32_t global = core + number * static_cast<uint32_t>(AscendC::GetBlockNum());
      const uint32_t per_batch = rows_ * columns_;
      if (global >= per_batch * plan_.batch) return place;
      place.batch = global / per_batch;
      const uint32_t tile = global % per_batch;
      const uint32_t stripe = tile / (kStripe * columns_);
      const uint32_t left = rows_ - stripe * kStripe;
      const uint32_t height = left < kStripe ? left : kStripe;
      const uint32_t in_stripe = tile - stripe * kStripe * columns_;
      place.row = stripe * kStripe + in_stripe % height;
      place.column = in_stripe / height;
    }
    place.valid = true;
    return place;
  }
  __aicore__ inline Place First() const { return Locate(0); }
  __aicore__ inline Place Next(const Place& place) const { return Locate(place.number + 1); }

  __aicore__ inline void Open() {
    for (int32_t slot = 0; slot < 2; ++slot) {
      AscendC::SetFlag<HardEvent::MTE1_MTE2>(slot);
      AscendC::SetFlag<HardEvent::M_MTE1>(slot);
    }
    AscendC::SetFlag<HardEvent::FIX_M>(0);
  }
  __aicore__ inline void Close() {
    for (int32_t slot = 0; slot < 2; ++slot) {
      AscendC::WaitFlag<HardEvent::MTE1_MTE2>(slot);
      AscendC::WaitFlag<HardEvent::M_MTE1>(slot);
    }
    AscendC::WaitFlag<HardEvent::FIX_M>(0);
  }

  template <typename T>
  __aicore__ inline void LoadRows(const AscendC::LocalTensor<T>& to,
                                  const AscendC::GlobalTensor<T>& from, uint32_t rows) const {
    AscendC::Nd2NzParams params;
    params.ndNum = 1;
    params.nValue = static_cast<uint16_t>(rows);
    params.dValue = static_cast<uint16_t>(plan_.piece_k);
    params.srcNdMatrixStride = 0;
    params.srcDValue = static_cast<uint16_t>(plan_.k);
    params.dstNzC0Stride = static_cast<uint16_t>(rows);
    params.dstNzNStride = 1;
    params.dstNzMatrixStride = 0;
    AscendC::DataCopy(to, from, params);
  }

  // The next piece of A and B in the walk, if there is one.
  __aicore__ inline void Load(uint32_t slot) {
    if (!ahead_.valid) return;
    AscendC::WaitFlag<HardEvent::MTE1_MTE2>(static_cast<int32_t>(slot));
    const uint64_t row = static_cast<uint64_t>(ahead_.batch) * plan_.m + ahead_.row * kTileM;
    const uint64_t column =
        static_cast<uint64_t>(ahead_.batch) * plan_.n + ahead_.column * plan_.tile_n;
    LoadRows(L1A(slot), a_[row * plan_.k + ahead_.depth * plan_.piece_k], kTileM);
    LoadRows(L1B(slot), b_[column * plan_.k + ahead_.depth * plan_.piece_k], plan_.tile_n);
    AscendC::SetFlag<HardEvent::MTE2_MTE1>(static_cast<int32_t>(slot));
    if (++ahead_.depth == depth_) ahead_ = Next(ahead_);
  }

  __aicore__ inline void Multiply(uint32_t l1) {
    AscendC::WaitFlag<HardEvent::MTE2_MTE1>(static_cast<int32_t>(l1));
    for (uint32_t part = 0; part < plan_.piece_k / kL0K; ++part, ++l0_step_) {
      const uint32_t l0 = l0_step_ % 2;
      AscendC::WaitFlag<HardEvent::M_MTE1>(static_cast<int32_t>(l0));
      const AscendC::LocalTensor<DTYPE_A> left = L0A(l0);
      const AscendC::LocalTensor<DTYPE_B> right = L0B(l0);
      LoadLeft(left, L1A(l1), part * kL0K);
      LoadRight(right, L1B(l1), part * kL0K);
      AscendC::SetFlag<HardEvent::MTE1_M>(static_cast<int32_t>(l0));
      AscendC::WaitFlag<HardEvent::MTE1_M>(static_cast<int32_t>(l0));
      const bool first = at_.depth == 0 && part == 0;
      if (first) AscendC::WaitFlag<HardEvent::FIX_M>(0);
      AscendC::MmadParams params;
      params.m = kTileM;
      params.n = static_cast<uint16_t>(plan_.tile_n);
      params.k = kL0K;
      params.cmatrixInitVal = first;
      AscendC::Mmad(L0C(), left, right, params);
      AscendC::SetFlag<HardEvent::M_MTE1>(static_cast<int32_t>(l0));
    }
    AscendC::SetFlag<HardEvent::MTE1_MTE2>(static_cast<int32_t>(l1));
  }

  // All of it in one instruction: a map one pixel high, its filter a single pixel.
  __aicore__ inline void LoadLeft(const AscendC::LocalTensor<DTYPE_A>& to,
                                  const AscendC::LocalTensor<DTYPE_A>& from, uint32_t k) const {
    AscendC::LoadData3DParamsV2<DTYPE_A> params;
    params.l1H = 1;
    params.l1W = kTileM;
    params.channelSize = static_cast<uint16_t>(plan_.piece_k);
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
    AscendC::SetFlag<HardEvent::M_FIX>(0);
    AscendC::WaitFlag<HardEvent::M_FIX>(0);
    AscendC::FixpipeParamsV220 params;
    params.nSize = static_cast<uint16_t>(plan_.tile_n);
    params.mSize = kTileM;
    params.srcStride = kTileM;
    params.dstStride = plan_.n;
    if constexpr (sizeof(DTYPE_C) == 2) params.quantPre = QuantMode_t::F322F16;
    const uint64_t row = static_cast<uint64_t>(at_.batch) * plan_.m + at_.row * kTileM;
    AscendC::Fixpipe<DTYPE_C, float, AscendC::CFG_ROW_MAJOR>(
        c_[row * plan_.n + at_.column * plan_.tile_n], L0C(), params);
    AscendC::SetFlag<HardEvent::FIX_M>(0);
  }

  // Buffers at fixed places.
  static constexpr uint32_t kL1aBytes = kTileM * kMaxPieceK * 2,
                            kL1bBytes = kMaxTileN * kMaxPieceK * 2;
  static constexpr uint32_t kL0aBytes = kTileM * kL0K * 2, kL0bBytes = kMaxTileN * kL0K * 2;
  __aicore__ inline AscendC::LocalTensor<DTYPE_A> L1A(uint32_t slot) const {
    return AscendC::LocalTensor<DTYPE_A>(AscendC::TPosition::A1, slot * kL1aBytes,
                                         kTileM * kMaxPieceK);
  }
  __aicore__ inline AscendC::LocalTensor<DTYPE_B> L1B(uint32_t slot) const {
    return AscendC::LocalTensor<DTYPE_B>(AscendC::TPosition::B1, 2 * kL1aBytes + slot * kL1bBytes,
                                         kMaxTileN * kMaxPieceK);
  }
  __aicore__ inline AscendC::LocalTensor<DTYPE_A> L0A(uint32_t slot) const {
    return AscendC::LocalTensor<DTYPE_A>(AscendC::TPosition::A2, slot * kL0aBytes, kTileM * kL0K);
  }
  __aicore__ inline AscendC::LocalTensor<DTYPE_B> L0B(uint32_t slot) const {
    return AscendC::LocalTensor<DTYPE_B>(AscendC::TPosition::B2, slot * kL0bBytes,
                                         kMaxTileN * kL0K);
  }
  __aicore__ inline AscendC::LocalTensor<float> L0C() const {
    return AscendC::LocalTensor<float>(AscendC::TPosition::CO1, 0, kTileM * kMaxTileN);
  }

  AnchorMatmulTiling plan_;
  uint32_t rows_ = 0, columns_ = 0, depth_ = 0;  // tiles of C, pieces of k
  Place at_{}, ahead_{};
  uint32_t step_ = 0, l0_step_ = 0;
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
