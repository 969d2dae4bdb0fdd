// A vector of fixed capacity, as attributes and workspace sizes are handed over.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "graph/types.h"

namespace gert {

template <typename T>
class TypedContinuousVector {
 public:
  explicit TypedContinuousVector(size_t capacity = 0) : data_(capacity), size_(0) {}
  explicit TypedContinuousVector(std::vector<T> values)
      : data_(std::move(values)), size_(data_.size()) {}

  size_t GetSize() const { return size_; }
  size_t GetCapacity() const { return data_.size(); }
  const T* GetData() const { return data_.data(); }
  T* MutableData() { return data_.data(); }
  ge::graphStatus SetSize(size_t size) {
    if (size > data_.size()) return ge::GRAPH_FAILED;
    size_ = size;
    return ge::GRAPH_SUCCESS;
  }

 private:
  std::vector<T> data_;
  size_t size_;
};

}  // namespace gert
