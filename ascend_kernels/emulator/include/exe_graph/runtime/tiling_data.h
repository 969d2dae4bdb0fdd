// The bytes a tiling function hands to its kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "graph/types.h"

namespace gert {

class TilingData {
 public:
  explicit TilingData(size_t capacity) : bytes_(capacity), size_(0) {}

  size_t GetCapacity() const { return bytes_.size(); }
  size_t GetDataSize() const { return size_; }
  void SetDataSize(size_t size) { size_ = size; }
  void* GetData() { return bytes_.data(); }
  const void* GetData() const { return bytes_.data(); }

  template <typename T>
  ge::graphStatus Append(const T& value) {
    static_assert(std::is_standard_layout<T>::value, "tiling data is copied byte by byte");
    return Append(&value, 1);
  }
  template <typename T>
  ge::graphStatus Append(const T* values, size_t count) {
    const size_t bytes = sizeof(T) * count;
    if (bytes > bytes_.size() - size_) return ge::GRAPH_FAILED;
    std::memcpy(bytes_.data() + size_, values, bytes);
    size_ += bytes;
    return ge::GRAPH_SUCCESS;
  }

 private:
  std::vector<uint8_t> bytes_;
  size_t size_;
};

}  // namespace gert
