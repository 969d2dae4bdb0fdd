// Walks the elements of tensor views on the host.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/nnopbase/objects.h"

namespace dav::opapi {

// A tensor's memory and shape, with strides in bytes.
struct View {
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
  aclDataType type = ACL_DT_UNDEFINED;
  size_t bytes = 0;  // of an element
  uint8_t* begin = nullptr;

  explicit View(const aclTensor& tensor)
      : dims(tensor.dims), strides(tensor.strides), type(tensor.type) {
    bytes = aclDataTypeSize(type);
    for (int64_t& stride : strides) stride *= static_cast<int64_t>(bytes);
    begin = static_cast<uint8_t*>(tensor.data) + tensor.offset * static_cast<int64_t>(bytes);
  }

  int64_t elements() const {
    int64_t count = 1;
    for (int64_t dim : dims) count *= dim;
    return count;
  }

  // In row-major order without gaps.
  bool dense() const {
    auto expected = static_cast<int64_t>(bytes);
    for (size_t axis = dims.size(); axis-- > 0;) {
      if (dims[axis] != 1 && strides[axis] != expected) return false;
      expected *= dims[axis];
    }
    return true;
  }
};

// Calls visit(to, from) for all elements of `to`, whose shape `from` has been brought to.
template <typename Visit>
void for_each_pair(const View& to, const View& from, Visit visit, size_t axis = 0,
                   int64_t to_offset = 0, int64_t from_offset = 0) {
  if (axis == to.dims.size()) {
    visit(to.begin + to_offset, from.begin + from_offset);
    return;
  }
  for (int64_t i = 0; i < to.dims[axis]; ++i) {
    for_each_pair(to, from, visit, axis + 1, to_offset + i * to.strides[axis],
                  from_offset + i * from.strides[axis]);
  }
}

}  // namespace dav::opapi
