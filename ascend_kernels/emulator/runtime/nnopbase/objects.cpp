#include "runtime/nnopbase/objects.h"

#include <algorithm>

#include "aclnn/aclnn_base.h"
#include "runtime/acl/internal.h"

using dav::rt::fail;

int64_t aclTensor::elements() const {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

bool aclTensor::contiguous() const {
  int64_t expected = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    // The stride of an axis of length 1 never matters.
    if (dims[i] != 1 && strides[i] != expected) return elements() == 0;
    expected *= dims[i];
  }
  return true;
}

size_t aclTensor::element_bytes() const { return aclDataTypeSize(type); }

uint8_t* aclTensor::begin() const {
  return static_cast<uint8_t*>(data) + offset * static_cast<int64_t>(element_bytes());
}

uint64_t aclTensor::extent() const {
  if (elements() == 0) return 0;
  int64_t last = 0;
  for (size_t i = 0; i < dims.size(); ++i) last += (dims[i] - 1) * strides[i];
  return static_cast<uint64_t>(last + 1) * element_bytes();
}

namespace {

template <typename T>
aclnnStatus destroy(const T* object, const char* function) {
  if (!object) return fail(ACLNN_ERR_PARAM_NULLPTR, "%s: the object is null", function);
  delete object;
  return ACLNN_SUCCESS;
}

aclnnStatus copy_out(const std::vector<int64_t>& values, int64_t** out, uint64_t* count) {
  if (!out || !count) return fail(ACLNN_ERR_PARAM_NULLPTR, "a result pointer is null");
  *out = new int64_t[values.size()];
  std::copy(values.begin(), values.end(), *out);
  *count = values.size();
  return ACLNN_SUCCESS;
}

template <typename Array>
aclnnStatus array_size(const Array* array, uint64_t* size) {
  if (!array || !size) return fail(ACLNN_ERR_PARAM_NULLPTR, "the array or the result is null");
  *size = array->values.size();
  return ACLNN_SUCCESS;
}

}  // namespace

extern "C" {

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  if ((!viewDims && viewDimsNum > 0) || (!storageDims && storageDimsNum > 0)) {
    fail(ACLNN_ERR_PARAM_NULLPTR, "aclCreateTensor: dimensions are null");
    return nullptr;
  }
  // More dimensions than a shape holds, or a type no kernel can address.
  if (viewDimsNum > 25 || storageDimsNum > 25 || aclDataTypeSize(dataType) == 0 || offset < 0) {
    fail(ACLNN_ERR_PARAM_INVALID,
         "aclCreateTensor: %llu dimensions (at most 25), data type %d, offset %lld are not all "
         "legal",
         static_cast<unsigned long long>(viewDimsNum), static_cast<int>(dataType),
         static_cast<long long>(offset));
    return nullptr;
  }
  auto* tensor = new aclTensor;
  tensor->dims.assign(viewDims, viewDims + viewDimsNum);
  tensor->storage_dims.assign(storageDims, storageDims + storageDimsNum);
  tensor->offset = offset;
  tensor->type = dataType;
  tensor->format = format;
  tensor->data = tensorData;
  if (stride) {
    tensor->strides.assign(stride, stride + viewDimsNum);
  } else {
    tensor->strides.resize(viewDimsNum);
    int64_t next = 1;
    for (size_t i = viewDimsNum; i-- > 0;) {
      tensor->strides[i] = next;
      next *= tensor->dims[i];
    }
  }
  return tensor;
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  const size_t size = aclDataTypeSize(dataType);
  if (!value || size == 0) {
    fail(ACLNN_ERR_PARAM_INVALID, "aclCreateScalar: value is null or the data type is unknown");
    return nullptr;
  }
  const auto* bytes = static_cast<const uint8_t*>(value);
  return new aclScalar{{bytes, bytes + size}, dataType};
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return value || size == 0 ? new aclIntArray{{value, value + size}} : nullptr;
}
aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return value || size == 0 ? new aclFloatArray{{value, value + size}} : nullptr;
}
aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return value || size == 0 ? new aclBoolArray{{value, value + size}} : nullptr;
}
aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  return value || size == 0 ? new aclTensorList{{value, value + size}} : nullptr;
}
aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  return value || size == 0 ? new aclScalarList{{value, value + size}} : nullptr;
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  return destroy(tensor, "aclDestroyTensor");
}
aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  return destroy(scalar, "aclDestroyScalar");
}
aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
  return destroy(array, "aclDestroyIntArray");
}
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
  return destroy(array, "aclDestroyFloatArray");
}
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
  return destroy(array, "aclDestroyBoolArray");
}
aclnnStatus aclDestroyTensorList(const aclTensorList* list) {
  if (list) {
    for (const aclTensor* tensor : list->tensors) delete tensor;
  }
  return destroy(list, "aclDestroyTensorList");
}
aclnnStatus aclDestroyScalarList(const aclScalarList* list) {
  if (list) {
    for (const aclScalar* scalar : list->scalars) delete scalar;
  }
  return destroy(list, "aclDestroyScalarList");
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  if (!tensor) return fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetViewShape: tensor is null");
  return copy_out(tensor->dims, viewDims, viewDimsNum);
}
aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
  if (!tensor) return fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetStorageShape: tensor is null");
  return copy_out(tensor->storage_dims, storageDims, storageDimsNum);
}
aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
  if (!tensor) return fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetViewStrides: tensor is null");
  return copy_out(tensor->strides, stridesValue, stridesNum);
}
aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  if (!tensor || !offset) return fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetViewOffset: null argument");
  *offset = tensor->offset;
  return ACLNN_SUCCESS;
}
aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  if (!tensor || !format) return fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetFormat: null argument");
  *format = tensor->format;
  return ACLNN_SUCCESS;
}
aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  if (!tensor || !dataType) return fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetDataType: null argument");
  *dataType = tensor->type;
  return ACLNN_SUCCESS;
}
aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  if (!tensor || !addr) return fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetRawTensorAddr: null argument");
  *addr = tensor->data;
  return ACLNN_SUCCESS;
}
aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  if (!tensor) return fail(ACLNN_ERR_PARAM_NULLPTR, "aclSetRawTensorAddr: tensor is null");
  tensor->data = addr;
  return ACLNN_SUCCESS;
}
aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return array_size(array, size);
}
aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  return array_size(array, size);
}
aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  return array_size(array, size);
}
aclnnStatus aclGetTensorListSize(const aclTensorList* list, uint64_t* size) {
  if (!list || !size) return fail(ACLNN_ERR_PARAM_NULLPTR, "aclGetTensorListSize: null argument");
  *size = list->tensors.size();
  return ACLNN_SUCCESS;
}

aclnnStatus aclnnInit(const char*) { return ACLNN_SUCCESS; }
aclnnStatus aclnnFinalize() { return ACLNN_SUCCESS; }

}  // extern "C"
