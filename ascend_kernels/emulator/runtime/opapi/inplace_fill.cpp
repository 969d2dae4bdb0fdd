// aclnnInplaceZero, aclnnInplaceOne and aclnnInplaceFillScalar.
#include "nnopbase/op_call.h"
#include "runtime/acl/internal.h"
#include "runtime/nnopbase/executor.h"
#include "runtime/opapi/element.h"
#include "runtime/opapi/view.h"

using dav::opapi::Number;
using dav::opapi::View;
using dav::rt::fail;

namespace {

Number whole(int64_t value) { return {true, value, static_cast<double>(value)}; }

aclnnStatus prepare(const char* op, const aclTensor* self, const Number& value,
                    uint64_t* workspace_size, aclOpExecutor** executor) {
  if (!self) {
    return fail(ACLNN_ERR_PARAM_NULLPTR, "aclnn%sGetWorkspaceSize: selfRef is null", op);
  }
  const View to(*self);
  // Zero has the same bits in every type.
  const bool zero = value.integral && value.integer == 0;
  if (!zero && !dav::opapi::is_number(to.type)) {
    return fail(ACLNN_ERR_PARAM_INVALID, "aclnn%sGetWorkspaceSize: data type %d cannot be filled",
                op, static_cast<int>(to.type));
  }
  std::vector<uint8_t> element(to.bytes, 0);
  if (!zero) dav::opapi::store(to.type, value, element.data());
  const auto fill = [to, element, zero] {
    if (zero && to.dense()) {
      std::memset(to.begin, 0, static_cast<size_t>(to.elements()) * to.bytes);
      return;
    }
    dav::opapi::for_each_pair(to, to, [&element](uint8_t* t, const uint8_t*) {
      std::memcpy(t, element.data(), element.size());
    });
  };
  return nnopbase::prepare_host_task(op, fill, workspace_size, executor);
}

}  // namespace

extern "C" {

ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceZeroGetWorkspaceSize(aclTensor* selfRef,
                                                                 uint64_t* workspaceSize,
                                                                 aclOpExecutor** executor) {
  return prepare("InplaceZero", selfRef, whole(0), workspaceSize, executor);
}

ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceZero(void* workspace, uint64_t workspaceSize,
                                                 aclOpExecutor* executor, aclrtStream stream) {
  return nnopbase::Run("aclnnInplaceZero", workspace, workspaceSize, executor, stream);
}

ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceOneGetWorkspaceSize(aclTensor* selfRef,
                                                                uint64_t* workspaceSize,
                                                                aclOpExecutor** executor) {
  return prepare("InplaceOne", selfRef, whole(1), workspaceSize, executor);
}

ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceOne(void* workspace, uint64_t workspaceSize,
                                                aclOpExecutor* executor, aclrtStream stream) {
  return nnopbase::Run("aclnnInplaceOne", workspace, workspaceSize, executor, stream);
}

ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceFillScalarGetWorkspaceSize(aclTensor* selfRef,
                                                                       const aclScalar* value,
                                                                       uint64_t* workspaceSize,
                                                                       aclOpExecutor** executor) {
  if (!value || !dav::opapi::is_number(value->type)) {
    return fail(ACLNN_ERR_PARAM_INVALID,
                "aclnnInplaceFillScalarGetWorkspaceSize: value is null or no real number");
  }
  return prepare("InplaceFillScalar", selfRef, dav::opapi::load(value->type, value->bytes.data()),
                 workspaceSize, executor);
}

ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceFillScalar(void* workspace, uint64_t workspaceSize,
                                                       aclOpExecutor* executor,
                                                       aclrtStream stream) {
  return nnopbase::Run("aclnnInplaceFillScalar", workspace, workspaceSize, executor, stream);
}

}  // extern "C"
