// What a tiling function may ask about the chip it plans for.
#pragma once

#include <cstdint>

namespace fe {
class PlatFormInfos;
}

namespace platform_ascendc {

enum class CoreMemType {
  L0_A = 0,
  L0_B = 1,
  L0_C = 2,
  L1 = 3,
  L2 = 4,
  UB = 5,
  HBM = 6,
  FB = 7,
  BT = 8,
  RESERVED
};

enum class SocVersion {
  ASCEND910 = 0,
  ASCEND910B,  // 910B1 to B4, 910_93
  ASCEND310P,
  ASCEND310B,
  ASCEND950,
  ASCEND910_95 = ASCEND950,
  ASCEND910_93 = 11,
  RESERVED_VERSION = 99999
};

enum class ReservedSize { RESERVED_SIZE_8K, RESERVED_SIZE_16K, RESERVED_SIZE_32K };

class __attribute__((visibility("default"))) PlatformAscendC {
 public:
  explicit PlatformAscendC(fe::PlatFormInfos* platform) : platform_(platform) {}

  // AIC count on a split chip, AICore count on a coupled one.
  uint32_t GetCoreNum() const;
  uint32_t GetCoreNumAic() const;
  uint32_t GetCoreNumAiv() const;
  // Blocks to launch for `slices` pieces, one per AIV in a mixed kernel; give the counts of the
  // cores the kernel uses, 0 for a kind it does not. 0 when a mixed kernel needs more AICs than
  // there are.
  uint32_t CalcTschBlockDim(uint32_t slices, uint32_t aic, uint32_t aiv) const;
  uint32_t CalcTschNumBlocks(uint32_t slices, uint32_t aic, uint32_t aiv) const {
    return CalcTschBlockDim(slices, aic, aiv);
  }
  // Bytes of workspace the kernel library keeps for itself, in front of the user's.
  uint32_t GetLibApiWorkSpaceSize() const;
  void GetCoreMemSize(const CoreMemType& type, uint64_t& bytes) const;
  // Bytes per cycle and core.
  void GetCoreMemBw(const CoreMemType& type, uint64_t& bandwidth) const;
  SocVersion GetSocVersion() const;
  void ReserveLocalMemory(ReservedSize size);

 private:
  uint32_t reserved_ub_ = 0;
  fe::PlatFormInfos* platform_;
};

class __attribute__((visibility("default"))) PlatformAscendCManager {
 public:
  static PlatformAscendC* GetInstance();
  static PlatformAscendC* GetInstance(const char* soc);
};

}  // namespace platform_ascendc
