// An executor: everything a launch needs, independent of the descriptors it came from.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dav/api.h"
#include "dav/launch.h"
#include "exe_graph/runtime/runtime_attrs.h"
#include "runtime/nnopbase/objects.h"
#include "runtime/nnopbase/packages.h"

namespace dav::host {

struct LaunchArgument {
  std::string name;
  RegionRole role = RegionRole::Input;
  bool present = false;
  aclTensor tensor;  // a copy
  bool make_contiguous = false;
  uint64_t packed_offset = 0;        // of its contiguous copy, behind the kernel's workspace
  std::vector<uint8_t> host_values;  // value-depend inputs
};

struct Plan {
  std::string op_type;
  bool empty = false;                     // nothing to compute: no launch
  std::function<void()> on_host;          // runs instead of a kernel
  std::vector<LaunchArgument> arguments;  // inputs, then outputs
  const Chip* chip = nullptr;
  KernelBinary binary;
  KernelEntry aic = nullptr;
  KernelEntry aiv = nullptr;
  uint64_t tiling_key = 0;
  uint32_t block_dim = 0;
  std::vector<uint8_t> tiling;
  uint64_t kernel_workspace = 0;
  uint64_t workspace = 0;  // with contiguous copies
};

// Runs a plan to completion on the calling thread. Throws rt::TaskError.
void run_plan(const Plan& plan, void* workspace);

}  // namespace dav::host

struct aclOpExecutor {
  std::shared_ptr<dav::host::Plan> plan;
  bool repeatable = false;
};

namespace nnopbase {

struct OpCallData {
  std::string op_type;
  std::string function;
  std::vector<dav::host::LaunchArgument> inputs;
  std::vector<dav::host::LaunchArgument> outputs;
  gert::RuntimeAttrs attrs;
  std::vector<bool> view_allowed;      // per input
  aclnnStatus status = ACLNN_SUCCESS;  // first error while collecting
  std::string message;
};

// The first phase of an operator without a kernel. The task must not refer to descriptors.
DAV_API aclnnStatus prepare_host_task(const char* op_type, std::function<void()> task,
                                      uint64_t* workspace_size, aclOpExecutor** executor);

// First phase. Throws OpError.
std::shared_ptr<dav::host::Plan> make_plan(const OpCallData& call);

}  // namespace nnopbase
