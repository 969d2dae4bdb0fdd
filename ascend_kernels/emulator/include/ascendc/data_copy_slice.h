// DataCopy of slices of a tensor: a loop of plain copies, as on the real library.
#pragma once

#include "ascendc/data_copy.h"

namespace AscendC {

constexpr uint32_t K_MAX_DIM = 8;

// What to take of one dimension; the innermost comes first. `endIndex` belongs to the slice.
struct SliceInfo {
  uint32_t startIndex = 0;
  uint32_t endIndex = 0;
  uint32_t stride = 0;    // elements left out between two pieces
  uint32_t burstLen = 1;  // of a piece: 32-byte blocks in the innermost dimension, else 1
  uint32_t shapeValue = 0;
};

namespace emulator_detail {

// The pieces of a slice, in memory order.
template <typename T>
class SlicePieces {
 public:
  SlicePieces(const SliceInfo info[], uint32_t dims) : info_(info), dims_(dims) {
    if (dims < 1 || dims > kMax)
      dav::raise_illegal("DataCopy", "dimValue is %u; it may be 1 to %u", dims, kMax);
    for (uint32_t d = 0; d < dims; ++d) at_[d] = info[d].startIndex;
  }

  uint64_t Offset() const {
    uint64_t offset = 0;
    for (uint32_t d = dims_; d-- > 0;) offset = offset * info_[d].shapeValue + at_[d];
    return offset;
  }
  uint32_t Blocks() const { return info_[0].burstLen; }

  // False behind the last piece.
  bool Next() {
    for (uint32_t d = 0; d < dims_; ++d) {
      const uint32_t piece = d == 0 ? info_[0].burstLen * 32 / sizeof(T) : 1;
      at_[d] += piece + info_[d].stride;
      if (at_[d] <= info_[d].endIndex) return true;
      at_[d] = info_[d].startIndex;
    }
    return false;
  }

 private:
  static constexpr uint32_t kMax = K_MAX_DIM;
  const SliceInfo* info_;
  uint32_t dims_;
  uint32_t at_[kMax] = {};
};

template <typename T, typename Copy>
inline void CopySlices(const SliceInfo dst[], const SliceInfo src[], uint32_t dims, Copy copy) {
  SlicePieces<T> to(dst, dims), from(src, dims);
  for (bool more = true; more;) {
    copy(to.Offset(), from.Offset(), static_cast<uint16_t>(from.Blocks()));
    const bool more_to = to.Next();
    more = from.Next();
    if (more && !more_to)
      dav::raise_illegal("DataCopy", "%s",
                         "the destination slice has fewer pieces than the source");
  }
}

}  // namespace emulator_detail

template <typename T>
__aicore__ inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                const SliceInfo dstSliceInfo[], const SliceInfo srcSliceInfo[],
                                const uint32_t dimValue = 1) {
  emulator_detail::CopySlices<T>(
      dstSliceInfo, srcSliceInfo, dimValue, [&](uint64_t to, uint64_t from, uint16_t blocks) {
        DataCopy(dst[static_cast<uint32_t>(to)], src[from], DataCopyParams(1, blocks, 0, 0));
      });
}
template <typename T>
__aicore__ inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                const SliceInfo dstSliceInfo[], const SliceInfo srcSliceInfo[],
                                const uint32_t dimValue = 1) {
  emulator_detail::CopySlices<T>(
      dstSliceInfo, srcSliceInfo, dimValue, [&](uint64_t to, uint64_t from, uint16_t blocks) {
        DataCopy(dst[to], src[static_cast<uint32_t>(from)], DataCopyParams(1, blocks, 0, 0));
      });
}

}  // namespace AscendC
