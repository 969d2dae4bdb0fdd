// Dumps of memory given by address. A pointer's address space is no part of its type here, so that
// only the forms that name the space exist.
#pragma once

#include "ascendc/base.h"
#include "ascendc/debug.h"

template <typename T>
__aicore__ static inline void asc_dump_gm(__gm__ T* input, uint32_t desc, uint32_t dump_size) {
  AscendC::emulator_detail::Dump<T>(dav::Buffer::GM, reinterpret_cast<uint64_t>(input), desc,
                                    dump_size);
}
template <typename T>
__aicore__ static inline void asc_dump_ubuf(__ubuf__ T* input, uint32_t desc, uint32_t dump_size) {
  AscendC::emulator_detail::Dump<T>(dav::Buffer::UB, reinterpret_cast<uint64_t>(input), desc,
                                    dump_size);
}
template <typename T>
__aicore__ static inline void asc_dump_l1buf(__cbuf__ T* input, uint32_t desc, uint32_t dump_size) {
  AscendC::emulator_detail::Dump<T>(dav::Buffer::L1, reinterpret_cast<uint64_t>(input), desc,
                                    dump_size);
}
template <typename T>
__aicore__ static inline void asc_dump_cbuf(__cc__ T* input, uint32_t desc, uint32_t dump_size) {
  AscendC::emulator_detail::Dump<T>(dav::Buffer::L0C, reinterpret_cast<uint64_t>(input), desc,
                                    dump_size);
}
