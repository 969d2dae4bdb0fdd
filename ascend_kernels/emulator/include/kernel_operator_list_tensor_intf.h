// Lists of tensors in global memory, as dynamic inputs reach a kernel: the byte offset of the
// address table; for each tensor the number of dimensions, its index and the extents; the table.
#pragma once

#include "kernel_operator.h"

namespace AscendC {

template <class T>
class TensorDesc {
 public:
  void SetShapeAddr(uint64_t* shapePtr) { shape_ = shapePtr; }
  uint64_t GetDim() const { return dim_; }
  uint64_t GetIndex() const { return index_; }
  uint64_t GetShape(uint32_t offset) const {
    if (shape_ == nullptr || offset >= dim_)
      dav::raise_illegal("TensorDesc", "dimension %u of %llu is not there", offset,
                         static_cast<unsigned long long>(dim_));
    return shape_[offset];
  }
  __gm__ T* GetDataPtr() const { return data_; }
  GlobalTensor<T> GetDataObj() const {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(data_);
    return tensor;
  }

 private:
  friend class ListTensorDesc;
  uint64_t* shape_ = nullptr;
  uint64_t dim_ = 0, index_ = 0;
  __gm__ T* data_ = nullptr;
};

class ListTensorDesc {
 public:
  ListTensorDesc() = default;
  ListTensorDesc(__gm__ void* data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff) {
    Init(data, length, shapeSize);
  }

  void Init(__gm__ void* data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff) {
    (void)length;
    (void)shapeSize;
    base_ = reinterpret_cast<uint64_t>(data);
    table_ = Word(0) / 8;
    size_ = 0;
    for (uint64_t at = 1; at < table_; at += 1 + Dim(at)) ++size_;
  }
  uint32_t GetSize() const { return size_; }

  template <class T>
  void GetDesc(TensorDesc<T>& desc, uint32_t index) const {
    const uint64_t at = Find(index);
    desc.dim_ = Dim(at);
    desc.index_ = Word(at) >> 32;
    for (uint64_t i = 0; desc.shape_ != nullptr && i < desc.dim_; ++i)
      desc.shape_[i] = Word(at + 1 + i);
    desc.data_ = GetDataPtr<T>(index);
  }
  template <class T>
  __gm__ T* GetDataPtr(uint32_t index) const {
    Find(index);
    return reinterpret_cast<__gm__ T*>(Word(table_ + index));
  }

 private:
  uint64_t Word(uint64_t index) const {
    return dav::scalar_load(dav::Buffer::GM, base_ + 8 * index, 8);
  }
  uint64_t Dim(uint64_t at) const { return Word(at) & 0xffffffff; }
  uint64_t Find(uint32_t index) const {
    if (index >= size_)
      dav::raise_illegal("ListTensorDesc", "tensor %u of a list of %u", index, size_);
    uint64_t at = 1;
    for (uint32_t i = 0; i < index; ++i) at += 1 + Dim(at);
    return at;
  }

  uint64_t base_ = 0, table_ = 0;
  uint32_t size_ = 0;
};

}  // namespace AscendC
