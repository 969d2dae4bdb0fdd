#include "tiling/platform/platform_ascendc.h"

#include "core/chip.h"

namespace platform_ascendc {
namespace {

// The opaque platform of a tiling context is the chip; null stands for the current one.
const dav::Chip& chip(fe::PlatFormInfos* platform) {
  return platform ? *reinterpret_cast<const dav::Chip*>(platform) : dav::default_chip();
}

uint64_t bytes_per_cycle(double rate) { return static_cast<uint64_t>(rate); }

}  // namespace

uint32_t PlatformAscendC::GetCoreNum() const { return chip(platform_).aic_count; }
uint32_t PlatformAscendC::GetCoreNumAic() const { return chip(platform_).aic_count; }
uint32_t PlatformAscendC::GetCoreNumAiv() const { return chip(platform_).aiv_count(); }

uint32_t PlatformAscendC::CalcTschBlockDim(uint32_t slices, uint32_t aic, uint32_t aiv) const {
  if (aic == 0 || aiv == 0 || aic > aiv) return slices;
  const uint32_t ratio = aiv / aic;
  const uint32_t blocks = (slices + ratio - 1) / ratio;
  return ratio == 2 && blocks > aic ? 0 : blocks;
}

uint32_t PlatformAscendC::GetLibApiWorkSpaceSize() const {
  return static_cast<uint32_t>(chip(platform_).library_workspace);
}

void PlatformAscendC::GetCoreMemSize(const CoreMemType& type, uint64_t& bytes) const {
  const dav::Chip& c = chip(platform_);
  switch (type) {
    case CoreMemType::L0_A:
      bytes = c.size_of(dav::Buffer::L0A);
      break;
    case CoreMemType::L0_B:
      bytes = c.size_of(dav::Buffer::L0B);
      break;
    case CoreMemType::L0_C:
      bytes = c.size_of(dav::Buffer::L0C);
      break;
    case CoreMemType::L1:
      bytes = c.l1_usable;
      break;
    case CoreMemType::UB:
      bytes = c.ub_usable - reserved_ub_;
      break;
    case CoreMemType::L2:
      bytes = c.l2_bytes;
      break;
    case CoreMemType::HBM:
      bytes = c.hbm_bytes;
      break;
    case CoreMemType::FB:
      bytes = c.size_of(dav::Buffer::FB);
      break;
    case CoreMemType::BT:
      bytes = c.size_of(dav::Buffer::BT);
      break;
    default:
      bytes = 0;
      break;
  }
}

void PlatformAscendC::GetCoreMemBw(const CoreMemType& type, uint64_t& bandwidth) const {
  const dav::Rates& rates = chip(platform_).rates;
  switch (type) {
    case CoreMemType::L2:
      bandwidth = bytes_per_cycle(rates.l2_read);
      break;
    case CoreMemType::HBM:
      bandwidth = bytes_per_cycle(rates.ddr);
      break;
    default:
      bandwidth = 0;
      break;
  }
}

SocVersion PlatformAscendC::GetSocVersion() const {
  const dav::Chip& c = chip(platform_);
  switch (c.arch) {
    case dav::Arch::Dav1001:
      return SocVersion::ASCEND910;
    case dav::Arch::Dav2201:
      return SocVersion::ASCEND910B;
    case dav::Arch::Dav3510:
      return SocVersion::ASCEND950;
  }
  return SocVersion::RESERVED_VERSION;
}

void PlatformAscendC::ReserveLocalMemory(ReservedSize size) {
  reserved_ub_ = size == ReservedSize::RESERVED_SIZE_8K    ? 8 * 1024
                 : size == ReservedSize::RESERVED_SIZE_16K ? 16 * 1024
                                                           : 32 * 1024;
}

PlatformAscendC* PlatformAscendCManager::GetInstance() {
  static PlatformAscendC instance(nullptr);
  return &instance;
}

PlatformAscendC* PlatformAscendCManager::GetInstance(const char* soc) {
  // As on hardware, the first call decides which chip the process plans for.
  static PlatformAscendC instance(const_cast<fe::PlatFormInfos*>(
      reinterpret_cast<const fe::PlatFormInfos*>(soc ? &dav::chip_by_name(soc) : nullptr)));
  return &instance;
}

}  // namespace platform_ascendc
