// Collects the arguments of a call, and the C entry points around executors.
#include "nnopbase/op_call.h"

#include <cstring>
#include <exception>
#include <mutex>
#include <set>

#include "runtime/acl/internal.h"
#include "runtime/nnopbase/executor.h"

using dav::host::LaunchArgument;
using dav::rt::fail;

namespace nnopbase {
namespace {

struct LiveExecutors {
  std::mutex mutex;
  std::set<const aclOpExecutor*> set;
};

// Stale executors are an error code, not a crash.
LiveExecutors& live_executors() {
  static LiveExecutors* instance = new LiveExecutors;
  return *instance;
}

bool is_live(const aclOpExecutor* executor) {
  LiveExecutors& live = live_executors();
  std::lock_guard<std::mutex> lock(live.mutex);
  return live.set.count(executor) != 0;
}

aclOpExecutor* make_executor(std::shared_ptr<dav::host::Plan> plan) {
  auto created = std::make_unique<aclOpExecutor>();
  created->plan = std::move(plan);
  LiveExecutors& live = live_executors();
  std::lock_guard<std::mutex> lock(live.mutex);
  live.set.insert(created.get());
  return created.release();
}

void destroy_executor(aclOpExecutor* executor) {
  LiveExecutors& live = live_executors();
  {
    std::lock_guard<std::mutex> lock(live.mutex);
    live.set.erase(executor);
  }
  delete executor;
}

void remember(OpCallData& call, aclnnStatus status, const std::string& message) {
  if (call.status == ACLNN_SUCCESS) call.status = status, call.message = message;
}

void missing(OpCallData& call, const char* what, const char* name) {
  remember(call, ACLNN_ERR_PARAM_NULLPTR, std::string(what) + " '" + name + "' is null");
}

// Kernels move 32-byte blocks from the start of an allocation (aclCreateTensor's reference).
constexpr uintptr_t kAlignment = 32;

LaunchArgument tensor_argument(OpCallData& call, const char* what, const char* name,
                               const aclTensor* tensor, bool optional) {
  LaunchArgument argument;
  argument.name = name;
  if (!tensor) {
    if (!optional) missing(call, what, name);
    return argument;
  }
  argument.present = true;
  argument.tensor = *tensor;
  const bool empty = tensor->elements() == 0;
  if (!empty && !tensor->data) {
    missing(call, "the data of", name);
  } else if (!empty && reinterpret_cast<uintptr_t>(tensor->data) % kAlignment != 0) {
    remember(call, ACLNN_ERR_PARAM_INVALID,
             std::string("the data of '") + name + "' is not aligned to 32 bytes");
  }
  for (int64_t stride : tensor->strides) {
    if (stride < 0) {
      remember(call, ACLNN_ERR_PARAM_INVALID, std::string("'") + name + "' has a negative stride");
    }
  }
  return argument;
}

template <typename Array, typename Element>
LaunchArgument value_argument(OpCallData& call, const char* name, const Array* array,
                              aclDataType type, bool optional) {
  LaunchArgument argument;
  argument.name = name;
  if (!array) {
    if (!optional) missing(call, "input", name);
    return argument;
  }
  argument.present = true;
  argument.tensor.dims = {static_cast<int64_t>(array->values.size())};
  argument.tensor.strides = {1};
  argument.tensor.storage_dims = argument.tensor.dims;
  argument.tensor.type = type;
  argument.host_values.resize(array->values.size() * sizeof(Element));
  if (!array->values.empty()) {
    std::memcpy(argument.host_values.data(), array->values.data(), argument.host_values.size());
  }
  return argument;
}

}  // namespace

OpCall::OpCall(const char* op_type, const char* function) : data_(std::make_unique<OpCallData>()) {
  data_->op_type = op_type;
  data_->function = function;
}
OpCall::~OpCall() = default;

void OpCall::Input(const char* name, const aclTensor* tensor, bool optional,
                   Contiguity contiguity) {
  LaunchArgument argument = tensor_argument(*data_, "input", name, tensor, optional);
  if (argument.present && !argument.tensor.contiguous()) {
    if (contiguity == Contiguity::Required) {
      remember(*data_, ACLNN_ERR_PARAM_INVALID,
               std::string("input '") + name + "' must be contiguous for this op");
    }
    argument.make_contiguous = contiguity == Contiguity::Automatic;
  }
  data_->inputs.push_back(std::move(argument));
  data_->view_allowed.push_back(contiguity == Contiguity::Ignored);
}
void OpCall::InputInts(const char* name, const aclIntArray* values, bool optional) {
  data_->inputs.push_back(
      value_argument<aclIntArray, int64_t>(*data_, name, values, ACL_INT64, optional));
  data_->view_allowed.push_back(false);
}
void OpCall::InputFloats(const char* name, const aclFloatArray* values, bool optional) {
  data_->inputs.push_back(
      value_argument<aclFloatArray, float>(*data_, name, values, ACL_FLOAT, optional));
  data_->view_allowed.push_back(false);
}
void OpCall::InputBools(const char* name, const aclBoolArray* values, bool optional) {
  data_->inputs.push_back(
      value_argument<aclBoolArray, uint8_t>(*data_, name, values, ACL_BOOL, optional));
  data_->view_allowed.push_back(false);
}

void OpCall::AttrBool(bool value) { data_->attrs.Append<bool>(value); }
void OpCall::AttrInt(int64_t value) { data_->attrs.Append<int64_t>(value); }
// The interface takes a double, the tiling function reads a float.
void OpCall::AttrFloat(double value) { data_->attrs.Append<float>(static_cast<float>(value)); }
void OpCall::AttrString(const char* value) { data_->attrs.AppendString(value); }
void OpCall::AttrInts(const aclIntArray* values) {
  data_->attrs.Append(
      gert::TypedContinuousVector<int64_t>(values ? values->values : std::vector<int64_t>{}));
}
void OpCall::AttrFloats(const aclFloatArray* values) {
  data_->attrs.Append(
      gert::TypedContinuousVector<float>(values ? values->values : std::vector<float>{}));
}
void OpCall::AttrBools(const aclBoolArray* values) {
  data_->attrs.Append(
      gert::TypedContinuousVector<uint8_t>(values ? values->values : std::vector<uint8_t>{}));
}

void OpCall::Output(const char* name, const aclTensor* tensor, bool optional) {
  LaunchArgument argument = tensor_argument(*data_, "output", name, tensor, optional);
  argument.role = dav::RegionRole::Output;
  if (argument.present && !argument.tensor.contiguous()) {
    remember(*data_, ACLNN_ERR_PARAM_INVALID,
             std::string("output '") + name + "' must be contiguous");
  }
  data_->outputs.push_back(std::move(argument));
}

aclnnStatus OpCall::Prepare(uint64_t* workspace_size, aclOpExecutor** executor) {
  const std::string where = data_->function + "GetWorkspaceSize";
  if (!workspace_size || !executor) {
    return fail(ACLNN_ERR_PARAM_NULLPTR, "%s: workspaceSize or executor is null", where.c_str());
  }
  *workspace_size = 0;
  *executor = nullptr;
  if (data_->status != ACLNN_SUCCESS) {
    return fail(data_->status, "%s: %s", where.c_str(), data_->message.c_str());
  }
  try {
    auto plan = make_plan(*data_);
    *workspace_size = plan->workspace;
    *executor = make_executor(std::move(plan));
    return ACLNN_SUCCESS;
  } catch (const dav::host::OpError& e) {
    return fail(e.status(), "%s: %s", where.c_str(), e.what());
  } catch (const std::exception& e) {
    return fail(ACLNN_ERR_INNER, "%s: %s", where.c_str(), e.what());
  }
}

aclnnStatus prepare_host_task(const char* op_type, std::function<void()> task,
                              uint64_t* workspace_size, aclOpExecutor** executor) {
  if (!workspace_size || !executor) {
    return fail(ACLNN_ERR_PARAM_NULLPTR, "aclnn%sGetWorkspaceSize: a result pointer is null",
                op_type);
  }
  auto plan = std::make_shared<dav::host::Plan>();
  plan->op_type = op_type;
  plan->on_host = std::move(task);
  *workspace_size = 0;
  *executor = make_executor(std::move(plan));
  return ACLNN_SUCCESS;
}

aclnnStatus Run(const char* function, void* workspace, uint64_t workspace_size,
                aclOpExecutor* executor, aclrtStream stream) {
  if (!executor) return fail(ACLNN_ERR_PARAM_NULLPTR, "%s: executor is null", function);
  if (!is_live(executor)) {
    return fail(ACLNN_ERR_PARAM_INVALID,
                "%s: the executor has been used or destroyed; executors serve one call unless made "
                "repeatable",
                function);
  }
  const std::shared_ptr<dav::host::Plan> plan = executor->plan;
  if (!executor->repeatable) destroy_executor(executor);
  if (workspace_size < plan->workspace) {
    return fail(ACLNN_ERR_PARAM_INVALID, "%s: workspaceSize is %llu, %llu were asked for", function,
                static_cast<unsigned long long>(workspace_size),
                static_cast<unsigned long long>(plan->workspace));
  }
  if (plan->workspace > 0 && !workspace) {
    return fail(ACLNN_ERR_PARAM_NULLPTR, "%s: workspace is null, %llu bytes were asked for",
                function, static_cast<unsigned long long>(plan->workspace));
  }
  if (plan->empty) return ACLNN_SUCCESS;
  const aclError error = dav::rt::enqueue(stream, [plan, workspace] {
    if (plan->on_host) {
      plan->on_host();
    } else {
      dav::host::run_plan(*plan, workspace);
    }
  });
  return error == ACL_SUCCESS ? ACLNN_SUCCESS : error;
}

}  // namespace nnopbase

extern "C" {

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  if (!executor || !nnopbase::is_live(executor)) {
    return fail(ACLNN_ERR_PARAM_INVALID, "aclSetAclOpExecutorRepeatable: no live executor");
  }
  executor->repeatable = true;
  return ACLNN_SUCCESS;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  if (!executor || !nnopbase::is_live(executor)) {
    return fail(ACLNN_ERR_PARAM_INVALID, "aclDestroyAclOpExecutor: no live executor");
  }
  nnopbase::destroy_executor(executor);
  return ACLNN_SUCCESS;
}

namespace {

aclnnStatus set_address(aclOpExecutor* executor, size_t index, void* addr, bool input) {
  if (!executor || !nnopbase::is_live(executor) || !addr) {
    return fail(ACLNN_ERR_PARAM_INVALID,
                "setting a tensor address: no live executor or no address");
  }
  // A launch already queued keeps the plan it was queued with.
  auto plan = std::make_shared<dav::host::Plan>(*executor->plan);
  size_t seen = 0;
  for (LaunchArgument& argument : plan->arguments) {
    if ((argument.role == dav::RegionRole::Input) != input || !argument.present) continue;
    if (seen++ != index) continue;
    argument.tensor.data = addr;
    executor->plan = plan;
    return ACLNN_SUCCESS;
  }
  return fail(ACLNN_ERR_PARAM_INVALID, "setting a tensor address: there is no tensor %zu", index);
}

}  // namespace

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor*,
                                  void* addr) {
  return set_address(executor, index, addr, true);
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor*,
                                   void* addr) {
  return set_address(executor, index, addr, false);
}

}  // extern "C"
