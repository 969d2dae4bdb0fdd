// A tensor as tiling and shape inference see it: a description, and host data only for inputs
// whose value the op declares to depend on.
#pragma once

#include "exe_graph/runtime/storage_shape.h"
#include "graph/types.h"

namespace gert {

class CompileTimeTensorDesc {
 public:
  CompileTimeTensorDesc() = default;
  CompileTimeTensorDesc(ge::DataType type, ge::Format origin, ge::Format storage)
      : type_(type), origin_(origin), storage_(storage) {}
  ge::DataType GetDataType() const { return type_; }
  ge::Format GetOriginFormat() const { return origin_; }
  ge::Format GetStorageFormat() const { return storage_; }

 private:
  ge::DataType type_ = ge::DT_UNDEFINED;
  ge::Format origin_ = ge::FORMAT_ND;
  ge::Format storage_ = ge::FORMAT_ND;
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(const StorageShape& shape, const CompileTimeTensorDesc& desc, const void* data = nullptr)
      : shape_(shape), desc_(desc), data_(data) {}

  const StorageShape& GetShape() const { return shape_; }
  const Shape& GetOriginShape() const { return shape_.GetOriginShape(); }
  const Shape& GetStorageShape() const { return shape_.GetStorageShape(); }
  int64_t GetShapeSize() const { return shape_.GetStorageShape().GetShapeSize(); }
  ge::DataType GetDataType() const { return desc_.GetDataType(); }
  ge::Format GetOriginFormat() const { return desc_.GetOriginFormat(); }
  ge::Format GetStorageFormat() const { return desc_.GetStorageFormat(); }
  size_t GetSize() const {
    return static_cast<size_t>(GetShapeSize()) * ge::GetSizeByDataType(GetDataType());
  }
  const void* GetAddr() const { return data_; }
  template <typename T>
  const T* GetData() const {
    return static_cast<const T*>(data_);
  }
  const CompileTimeTensorDesc& desc() const { return desc_; }

 private:
  StorageShape shape_;
  CompileTimeTensorDesc desc_;
  const void* data_ = nullptr;
};

}  // namespace gert
