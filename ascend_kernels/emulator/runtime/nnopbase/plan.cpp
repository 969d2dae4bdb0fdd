// The first phase: choose the kernel, ask its tiling function, size the workspace.
#include <exception>

#include "core/chip.h"
#include "exe_graph/runtime/tiling_context.h"
#include "runtime/acl/internal.h"
#include "runtime/nnopbase/executor.h"
#include "runtime/registry/op_registry.h"

namespace nnopbase {
namespace {

using dav::host::LaunchArgument;
using dav::host::OpError;
using dav::host::Plan;

// More than any struct an op passes by value; CANN sizes it by the registered struct.
constexpr size_t kTilingCapacity = 64 * 1024;
// Alignment of aclrtMalloc, kept for the copies behind the kernel's workspace.
constexpr uint64_t kCopyAlignment = 512;

std::string type_of(const LaunchArgument& argument) {
  if (!argument.present) return "";
  const std::string name = dav::host::dtype_name(argument.tensor.type);
  if (name.empty()) {
    throw OpError(ACLNN_ERR_PARAM_INVALID, "'" + argument.name + "' has data type " +
                                               std::to_string(argument.tensor.type) +
                                               ", which no kernel takes");
  }
  return name;
}

gert::Shape shape_of(const std::vector<int64_t>& dims) {
  gert::Shape shape;
  for (int64_t dim : dims) shape.AppendDim(dim);
  return shape;
}

gert::NodeData::Port port_of(const LaunchArgument& argument, bool view_allowed) {
  const aclTensor& tensor = argument.tensor;
  gert::StorageShape shape;
  shape.MutableOriginShape() = shape_of(tensor.dims);
  // Plain layouts have no storage shape of their own, whatever flat size the caller states.
  const bool plain = tensor.format != ACL_FORMAT_FRACTAL_NZ &&
                     tensor.format != ACL_FORMAT_NC1HWC0 && tensor.format != ACL_FORMAT_FRACTAL_Z;
  shape.MutableStorageShape() = shape_of(plain ? tensor.dims : tensor.storage_dims);
  const auto format = static_cast<ge::Format>(tensor.format);
  gert::NodeData::Port port;
  port.tensor = gert::Tensor(
      shape, gert::CompileTimeTensorDesc(static_cast<ge::DataType>(tensor.type), format, format),
      argument.host_values.empty() ? nullptr : argument.host_values.data());
  port.view = view_allowed && !tensor.contiguous();
  if (port.view) {
    for (int64_t stride : tensor.strides) port.stride.AppendStride(stride);
    port.offset = tensor.offset;
  }
  return port;
}

void run_tiling(const OpCallData& call, Plan& plan) {
  const std::string library = dav::host::tiling_library(plan.binary.vendor);
  try {
    dav::host::load_host_library(library);
  } catch (const std::exception& e) {
    throw OpError(ACLNN_ERR_INNER_TILING_ERROR, std::string("tiling library: ") + e.what());
  }
  const auto* impl = dav::host::find_op_impl(library, call.op_type);
  if (!impl || !impl->tiling) {
    throw OpError(ACLNN_ERR_INNER_TILING_ERROR,
                  library + " registers no tiling function of " + call.op_type);
  }
  gert::NodeData node;
  node.type = node.name = call.op_type;
  node.attrs = call.attrs;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const LaunchArgument& input = call.inputs[i];
    node.ir_input.push_back(input.present ? static_cast<int>(node.inputs.size()) : -1);
    if (input.present) node.inputs.push_back(port_of(input, call.view_allowed[i]));
  }
  for (const LaunchArgument& output : call.outputs) {
    if (output.present) node.outputs.push_back(port_of(output, false));
  }
  gert::TilingResult result(std::max(impl->max_tiling_data, kTilingCapacity));
  auto* platform =
      const_cast<fe::PlatFormInfos*>(reinterpret_cast<const fe::PlatFormInfos*>(plan.chip));
  gert::TilingContext context(&node, &result, platform, 0);
  ge::graphStatus status = ge::GRAPH_FAILED;
  try {
    status = impl->tiling(&context);
  } catch (const std::exception& e) {
    throw OpError(ACLNN_ERR_INNER_TILING_ERROR,
                  "the tiling function of " + call.op_type + " threw: " + e.what());
  }
  if (status != ge::GRAPH_SUCCESS) {
    const std::string why = dav::host::tiling_error_message(library);
    throw OpError(ACLNN_ERR_INNER_TILING_ERROR,
                  "the tiling function of " + call.op_type + " refused the call" +
                      (why.empty() ? " with status " + std::to_string(status) : ": " + why));
  }
  if (result.block_dim == 0) {
    throw OpError(ACLNN_ERR_INNER_TILING_ERROR,
                  "the tiling function of " + call.op_type + " set no block count");
  }
  plan.tiling_key = result.tiling_key;
  plan.block_dim = result.block_dim;
  const auto* bytes = static_cast<const uint8_t*>(result.data.GetData());
  plan.tiling.assign(bytes, bytes + result.data.GetDataSize());
  for (size_t i = 0; i < result.workspaces.GetSize(); ++i) {
    plan.kernel_workspace += result.workspaces.GetData()[i];
  }
}

bool nothing_to_compute(const std::vector<LaunchArgument>& outputs) {
  for (const LaunchArgument& output : outputs) {
    if (output.present && output.tensor.elements() > 0) return false;
  }
  return !outputs.empty();
}

void place_copies(Plan& plan) {
  plan.workspace = plan.kernel_workspace;
  for (LaunchArgument& argument : plan.arguments) {
    if (!argument.make_contiguous) continue;
    plan.workspace = (plan.workspace + kCopyAlignment - 1) / kCopyAlignment * kCopyAlignment;
    argument.packed_offset = plan.workspace;
    plan.workspace +=
        static_cast<uint64_t>(argument.tensor.elements()) * argument.tensor.element_bytes();
  }
}

}  // namespace

std::shared_ptr<Plan> make_plan(const OpCallData& call) {
  if (dav::rt::current_device() < 0) {
    throw OpError(ACLNN_ERR_RUNTIME_ERROR, "this thread has no context; call aclrtSetDevice first");
  }
  auto plan = std::make_shared<Plan>();
  plan->op_type = call.op_type;
  plan->chip = &dav::default_chip();
  std::vector<std::string> input_types;
  std::vector<std::string> output_types;
  for (const auto& input : call.inputs) input_types.push_back(type_of(input));
  for (const auto& output : call.outputs) output_types.push_back(type_of(output));
  plan->binary =
      dav::host::find_kernel(call.op_type, plan->chip->package_unit, input_types, output_types);
  plan->arguments = call.inputs;
  plan->arguments.insert(plan->arguments.end(), call.outputs.begin(), call.outputs.end());
  if (nothing_to_compute(call.outputs)) {
    plan->empty = true;
    return plan;
  }
  run_tiling(call, *plan);
  plan->aic = dav::host::load_entry(plan->binary.aic_path);
  plan->aiv = dav::host::load_entry(plan->binary.aiv_path);
  place_copies(*plan);
  return plan;
}

}  // namespace nnopbase
