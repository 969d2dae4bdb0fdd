// The descriptors behind aclTensor and its relatives.
#pragma once

#include <cstdint>
#include <vector>

#include "aclnn/acl_meta.h"

struct aclTensor {
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;  // in elements; always filled in
  int64_t offset = 0;            // in elements
  std::vector<int64_t> storage_dims;
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  void* data = nullptr;

  int64_t elements() const;
  bool contiguous() const;
  size_t element_bytes() const;
  // Address of element 0 of the view.
  uint8_t* begin() const;
  // Bytes from begin() to the end of the last element of the view.
  uint64_t extent() const;
};

struct aclScalar {
  std::vector<uint8_t> bytes;
  aclDataType type = ACL_DT_UNDEFINED;
};

struct aclIntArray {
  std::vector<int64_t> values;
};
struct aclFloatArray {
  std::vector<float> values;
};
struct aclBoolArray {
  std::vector<uint8_t> values;
};
struct aclTensorList {
  std::vector<const aclTensor*> tensors;
};
struct aclScalarList {
  std::vector<const aclScalar*> scalars;
};
