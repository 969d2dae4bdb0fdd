// z = x + y in half, each core a contiguous share in tiles, in one or two slots: the published add
// sample. Where the second operand lies in UB decides whether the operands share bank groups.
#include "kernel_operator.h"

#include "anchor_tiling.h"

namespace {

using AscendC::HardEvent;

class Add {
 public:
  __aicore__ inline Add(const AnchorAddTiling& plan, GM_ADDR x, GM_ADDR y, GM_ADDR z)
      : plan_(plan) {
    x_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(x));
    y_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y));
    z_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(z));
  }

  __aicore__ inline void Run() {
    for (int32_t slot = 0; slot < 2; ++slot) {
      AscendC::SetFlag<HardEvent::V_MTE2>(slot);
      AscendC::SetFlag<HardEvent::MTE3_V>(slot);
    }
    const auto cores = static_cast<uint32_t>(AscendC::GetBlockNum());
    const auto core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    const uint32_t rows = plan_.rows / cores, rest = plan_.rows % cores;
    const uint64_t share = static_cast<uint64_t>(rows + (core < rest ? 1 : 0)) * plan_.columns;
    const uint64_t from =
        (static_cast<uint64_t>(rows) * core + (core < rest ? core : rest)) * plan_.columns;
    int32_t slot = 0;
    for (uint64_t done = 0; done < share; done += plan_.tile) {
      const uint64_t left = share - done;
      Tile(from + done, left < plan_.tile ? static_cast<uint32_t>(left) : plan_.tile, slot);
      if (plan_.slots == 2) slot ^= 1;
    }
    for (slot = 0; slot < 2; ++slot) {
      AscendC::WaitFlag<HardEvent::V_MTE2>(slot);
      AscendC::WaitFlag<HardEvent::MTE3_V>(slot);
    }
  }

 private:
  static constexpr uint32_t kSlotBytes = 65536;

  __aicore__ inline AscendC::LocalTensor<half> At(uint32_t address) const {
    return AscendC::LocalTensor<half>(AscendC::TPosition::VECCALC, address, plan_.tile);
  }

  __aicore__ inline void Tile(uint64_t at, uint32_t count, int32_t slot) {
    const uint32_t base = static_cast<uint32_t>(slot) * kSlotBytes;
    const AscendC::LocalTensor<half> x = At(base), y = At(base + plan_.second_from);
    const AscendC::LocalTensor<half> z =
        At(2 * kSlotBytes + static_cast<uint32_t>(slot) * plan_.second_from);
    AscendC::WaitFlag<HardEvent::V_MTE2>(slot);
    AscendC::DataCopy(x, x_[at], count);
    AscendC::DataCopy(y, y_[at], count);
    AscendC::SetFlag<HardEvent::MTE2_V>(slot);
    AscendC::WaitFlag<HardEvent::MTE2_V>(slot);
    AscendC::WaitFlag<HardEvent::MTE3_V>(slot);
    AscendC::Add(z, x, y, static_cast<int32_t>(count));
    AscendC::SetFlag<HardEvent::V_MTE2>(slot);
    AscendC::SetFlag<HardEvent::V_MTE3>(slot);
    AscendC::WaitFlag<HardEvent::V_MTE3>(slot);
    AscendC::DataCopy(z_[at], z, count);
    AscendC::SetFlag<HardEvent::MTE3_V>(slot);
  }

  AnchorAddTiling plan_;
  AscendC::GlobalTensor<half> x_, y_, z_;
};

}  // namespace

extern "C" __global__ __aicore__ void anchor_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace,
                                                 GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  REGISTER_TILING_DEFAULT(AnchorAddTiling);
  GET_TILING_DATA(plan, tiling);
  Add(plan, x, y, z).Run();
}
