// The attributes of one call, in the order of the op definition.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exe_graph/runtime/continuous_vector.h"

namespace gert {

class RuntimeAttrs {
 public:
  // Null when the index is out of range. T must be the attribute's type: int64_t, float, bool,
  // char (a zero-terminated string) or TypedContinuousVector<...>.
  template <typename T>
  const T* GetAttrPointer(size_t index) const {
    return index < values_.size() ? static_cast<const T*>(values_[index].get()) : nullptr;
  }
  const int64_t* GetInt(size_t index) const { return GetAttrPointer<int64_t>(index); }
  const float* GetFloat(size_t index) const { return GetAttrPointer<float>(index); }
  const bool* GetBool(size_t index) const { return GetAttrPointer<bool>(index); }
  const char* GetStr(size_t index) const { return GetAttrPointer<char>(index); }
  const TypedContinuousVector<int64_t>* GetListInt(size_t index) const {
    return GetAttrPointer<TypedContinuousVector<int64_t>>(index);
  }
  const TypedContinuousVector<float>* GetListFloat(size_t index) const {
    return GetAttrPointer<TypedContinuousVector<float>>(index);
  }
  size_t GetAttrNum() const { return values_.size(); }

  // For the executor.
  template <typename T>
  void Append(T value) {
    values_.push_back(std::make_shared<T>(std::move(value)));
  }
  void AppendString(const char* text) {
    auto holder = std::make_shared<std::string>(text ? text : "");
    values_.push_back(std::shared_ptr<void>(holder, holder->data()));
  }

 private:
  std::vector<std::shared_ptr<void>> values_;
};

}  // namespace gert
