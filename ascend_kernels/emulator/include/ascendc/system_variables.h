// Which core this is, the control registers every family shares, atomics, caches.
#pragma once

#include <type_traits>

#include "ascendc/base.h"
#include "ascendc/enums.h"
#include "ascendc/tensor.h"
#include "dav/abi_cube.h"
#include "dav/abi_sync.h"

namespace AscendC {

__aicore__ inline int64_t GetBlockIdx() { return dav::block_idx(); }
__aicore__ inline int64_t GetBlockNum() { return dav::block_num(); }
__aicore__ inline int64_t GetSubBlockIdx() { return dav::sub_block_idx(); }
__aicore__ inline int64_t GetSubBlockNum() { return dav::sub_block_num(); }
// AIVs per AIC on an AIV, 1 elsewhere.
__aicore__ inline int64_t GetTaskRatio() { return dav::sub_block_num(); }
__aicore__ inline int64_t GetTaskRation() { return GetTaskRatio(); }
__aicore__ inline constexpr int16_t GetDataBlockSizeInBytes() { return 32; }
__aicore__ inline void Trap() { dav::raise_trap(); }
__aicore__ inline void InitSocState() { dav::init_soc_state(); }
#if __NPU_ARCH__ != 1001
__aicore__ inline void GetArchVersion(uint32_t& coreVersion) { coreVersion = dav::arch_version(); }
__aicore__ inline int64_t GetProgramCounter() {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(__builtin_return_address(0)) &
                              0xFFFFFFFFFFFF);
}
__aicore__ inline int64_t GetSystemCycle() { return dav::system_cycle(); }
#endif

// Stores to global memory that add, or keep the larger or smaller value.
namespace emulator_detail {
template <typename T>
constexpr dav::DType AtomicType() {
#if __NPU_ARCH__ == 1001
  static_assert(std::is_same_v<T, float>, "this architecture adds float atomically and no other");
  return dav::DType::F32;
#else
  if constexpr (std::is_same_v<T, float>) return dav::DType::F32;
  if constexpr (std::is_same_v<T, half>) return dav::DType::F16;
  if constexpr (std::is_same_v<T, bfloat16_t>) return dav::DType::BF16;
  if constexpr (std::is_same_v<T, int8_t>) return dav::DType::I8;
  if constexpr (std::is_same_v<T, int16_t>) return dav::DType::I16;
  if constexpr (std::is_same_v<T, int32_t>) return dav::DType::I32;
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, half> ||
                    std::is_same_v<T, bfloat16_t> || std::is_same_v<T, int8_t> ||
                    std::is_same_v<T, int16_t> || std::is_same_v<T, int32_t>,
                "atomic stores take half, float, bfloat16_t, int8_t, int16_t and int32_t");
#endif
}
}  // namespace emulator_detail

template <typename T>
__aicore__ inline void SetAtomicAdd() {
  dav::set_atomic(dav::Atomic::Add, emulator_detail::AtomicType<T>());
}
#if __NPU_ARCH__ != 1001
template <typename T>
__aicore__ inline void SetAtomicMax() {
  dav::set_atomic(dav::Atomic::Max, emulator_detail::AtomicType<T>());
}
template <typename T>
__aicore__ inline void SetAtomicMin() {
  dav::set_atomic(dav::Atomic::Min, emulator_detail::AtomicType<T>());
}
template <typename T>
__aicore__ inline void SetAtomicType() {
  dav::set_atomic_type(emulator_detail::AtomicType<T>());
}
#endif
__aicore__ inline void DisableDmaAtomic() { dav::set_atomic(dav::Atomic::None, dav::DType::F32); }
__aicore__ inline void SetAtomicNone() { DisableDmaAtomic(); }

#if __NPU_ARCH__ == 2201
namespace emulator_detail {

inline bool CtrlBit(int bit) { return dav::ctrl() >> bit & 1; }
inline void SetCtrlBit(int bit, bool value) {
  const uint64_t rest = dav::ctrl() & ~(uint64_t{1} << bit);
  dav::set_ctrl(rest | static_cast<uint64_t>(value) << bit);
}

}  // namespace emulator_detail

// The CTRL register, of which this architecture shows bit 48.
template <int8_t startBit, int8_t endBit>
__aicore__ static inline int64_t GetCtrlSpr() {
  static_assert(startBit == 48 && endBit == 48, "only bit 48 may be read on this architecture");
  return emulator_detail::CtrlBit(startBit) ? 1 : 0;
}
template <int8_t startBit, int8_t endBit>
__aicore__ static inline void SetCtrlSpr(int64_t value) {
  static_assert(startBit == 48 && endBit == 48, "only bit 48 may be set on this architecture");
  emulator_detail::SetCtrlBit(startBit, value & 1);
}

enum class SaturationMode : uint8_t { FLOAT, FLOAT8, INT, CAST };

// Whether results beyond the range become the largest value there is (and NaN 0): of 16-bit floats,
// or of conversions to integers, which else keep their low bits.
template <SaturationMode mode>
__aicore__ static inline void SetSaturationFlag(bool enableSat) {
  static_assert(mode == SaturationMode::FLOAT || mode == SaturationMode::CAST,
                "SetSaturationFlag: mode");
  emulator_detail::SetCtrlBit(mode == SaturationMode::FLOAT ? 48 : 59, !enableSat);
}
template <SaturationMode mode>
__aicore__ static inline bool GetSaturationFlag() {
  static_assert(mode == SaturationMode::FLOAT || mode == SaturationMode::CAST,
                "GetSaturationFlag: mode");
  return !emulator_detail::CtrlBit(mode == SaturationMode::FLOAT ? 48 : 59);
}
#endif

// The scalar unit's data cache is not modelled as a copy: maintenance tells check mode what other
// cores may see, and lets them run, since a kernel that calls it in a loop waits for their store.
#if __NPU_ARCH__ != 1001
template <typename T, CacheLine entireType, DcciDst dcciDst>
__aicore__ inline void DataCacheCleanAndInvalid(const GlobalTensor<T>& dst) {
  // Of a line, the part from the address on.
  dav::data_cache_clean_invalidate(
      dst.Operand(), entireType == CacheLine::SINGLE_CACHE_LINE ? 64 - dst.Operand() % 64 : 0);
}
template <typename T, CacheLine entireType, DcciDst dcciDst>
__aicore__ inline void DataCacheCleanAndInvalid(const LocalTensor<T>& dst) {
  (void)dst;
  dav::poll();
}
template <typename T, CacheLine entireType>
__aicore__ inline void DataCacheCleanAndInvalid(const GlobalTensor<T>& dst) {
  // Of a line, the part from the address on.
  dav::data_cache_clean_invalidate(
      dst.Operand(), entireType == CacheLine::SINGLE_CACHE_LINE ? 64 - dst.Operand() % 64 : 0);
}
#endif
template <typename T>
__aicore__ inline void DataCachePreload(const GlobalTensor<uint64_t>& src, const T cacheOffset) {
  static_assert(std::is_same_v<T, int16_t> || std::is_same_v<T, int64_t>,
                "the offset is int16_t or int64_t");
  (void)src;
  (void)cacheOffset;
}
__aicore__ inline void ICachePreLoad(const int64_t preFetchLen) { (void)preFetchLen; }
__aicore__ inline int64_t GetICachePreloadStatus() { return 0; }

}  // namespace AscendC

// Built-ins of the device compiler that kernels read directly.
__aicore__ inline int64_t get_block_idx() { return dav::group_idx(); }
__aicore__ inline int64_t get_block_num() { return dav::block_num(); }
__aicore__ inline int64_t get_subblockid() { return dav::sub_block_idx(); }
__aicore__ inline int64_t get_subblockdim() { return dav::sub_block_num(); }

// The block number as a variable, which the device compiler has built in.
struct DavBlockIdx {
  operator int64_t() const { return dav::block_idx(); }
};
inline constexpr DavBlockIdx block_idx{};
