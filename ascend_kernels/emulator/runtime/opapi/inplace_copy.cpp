// aclnnInplaceCopy: any view into any view, with conversion and broadcasting.
#include "nnopbase/op_call.h"
#include "runtime/acl/internal.h"
#include "runtime/nnopbase/executor.h"
#include "runtime/opapi/element.h"
#include "runtime/opapi/view.h"

using dav::opapi::View;
using dav::rt::fail;

namespace {

// Repeats `source` along missing axes and axes of length 1. False when the shapes do not fit.
bool broadcast(View& source, const std::vector<int64_t>& dims) {
  if (source.dims.size() > dims.size()) return false;
  const size_t missing = dims.size() - source.dims.size();
  source.dims.insert(source.dims.begin(), missing, 1);
  source.strides.insert(source.strides.begin(), missing, 0);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (source.dims[axis] == dims[axis]) continue;
    if (source.dims[axis] != 1) return false;
    source.dims[axis] = dims[axis];
    source.strides[axis] = 0;
  }
  return true;
}

void copy(const View& to, const View& from) {
  const size_t bytes = to.bytes;
  if (to.type == from.type && to.dense() && from.dense()) {
    std::memmove(to.begin, from.begin, static_cast<size_t>(to.elements()) * bytes);
  } else if (to.type == from.type) {
    dav::opapi::for_each_pair(to, from,
                              [bytes](uint8_t* t, const uint8_t* f) { std::memcpy(t, f, bytes); });
  } else {
    dav::opapi::for_each_pair(to, from, [&](uint8_t* t, const uint8_t* f) {
      dav::opapi::store(to.type, dav::opapi::load(from.type, f), t);
    });
  }
}

}  // namespace

extern "C" {

ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceCopyGetWorkspaceSize(aclTensor* selfRef,
                                                                 const aclTensor* src,
                                                                 uint64_t* workspaceSize,
                                                                 aclOpExecutor** executor) {
  if (!selfRef || !src) {
    return fail(ACLNN_ERR_PARAM_NULLPTR, "aclnnInplaceCopyGetWorkspaceSize: a tensor is null");
  }
  const View to(*selfRef);
  View from(*src);
  if (!broadcast(from, to.dims)) {
    return fail(ACLNN_ERR_PARAM_INVALID,
                "aclnnInplaceCopyGetWorkspaceSize: src cannot be broadcast to the shape of self");
  }
  const bool convertible = dav::opapi::is_number(to.type) && dav::opapi::is_number(from.type);
  if (to.type != from.type && !convertible) {
    return fail(ACLNN_ERR_PARAM_INVALID,
                "aclnnInplaceCopyGetWorkspaceSize: no conversion from data type %d to %d",
                static_cast<int>(from.type), static_cast<int>(to.type));
  }
  return nnopbase::prepare_host_task(
      "InplaceCopy",
      [to, from] {
        if (to.elements() > 0) copy(to, from);
      },
      workspaceSize, executor);
}

ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceCopy(void* workspace, uint64_t workspaceSize,
                                                 aclOpExecutor* executor, aclrtStream stream) {
  return nnopbase::Run("aclnnInplaceCopy", workspace, workspaceSize, executor, stream);
}

}  // extern "C"
