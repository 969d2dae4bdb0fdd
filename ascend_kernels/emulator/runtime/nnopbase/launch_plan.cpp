// The second phase, on the stream's worker: lay out the arguments and launch.
#include <cstdlib>
#include <cstring>

#include "core/chip.h"
#include "core/trap.h"
#include "runtime/acl/internal.h"
#include "runtime/acl/launch_support.h"
#include "runtime/nnopbase/executor.h"

namespace dav::host {
namespace {

// Memory a kernel argument lies in for the time of one launch.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(const std::vector<uint8_t>& bytes) {
    const size_t size = (bytes.size() + 511) / 512 * 512;
    data_.reset(std::aligned_alloc(512, size ? size : 512));
    if (!data_) throw rt::TaskError(ACL_ERROR_RT_MEMORY_ALLOCATION, "no memory for an argument");
    if (!bytes.empty()) std::memcpy(data_.get(), bytes.data(), bytes.size());
  }
  void* get() const { return data_.get(); }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> data_;
};

void copy_strided(const aclTensor& tensor, size_t axis, const uint8_t* from, uint8_t*& to) {
  const auto bytes = static_cast<int64_t>(tensor.element_bytes());
  if (axis == tensor.dims.size()) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    to += bytes;
    return;
  }
  for (int64_t i = 0; i < tensor.dims[axis]; ++i) {
    copy_strided(tensor, axis + 1, from + i * tensor.strides[axis] * bytes, to);
  }
}

uint64_t address(const void* ptr) { return reinterpret_cast<uint64_t>(ptr); }

// An in-place port appears as input and output: one region, which may be written.
RegionRole role_of(const Plan& plan, const LaunchArgument& argument) {
  for (const LaunchArgument& other : plan.arguments) {
    if (other.role != argument.role && other.present &&
        other.tensor.begin() == argument.tensor.begin()) {
      return RegionRole::InPlace;
    }
  }
  return argument.role;
}

aclError error_code(TrapKind kind, KernelType type) {
  const bool vector = type == KernelType::AivOnly || type == KernelType::MixAiv10;
  if (kind == TrapKind::Deadlock || kind == TrapKind::BudgetExceeded) {
    return vector ? ACL_ERROR_RT_VECTOR_CORE_TIMEOUT : ACL_ERROR_RT_AICORE_TIMEOUT;
  }
  return vector ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : ACL_ERROR_RT_AICORE_EXCEPTION;
}

}  // namespace

void run_plan(const Plan& plan, void* workspace) {
  LaunchSpec spec;
  spec.chip = plan.chip;
  spec.name = plan.binary.kernel_name;
  spec.type = plan.binary.type_for(plan.tiling_key);
  spec.block_dim = plan.block_dim;
  spec.aic = plan.aic;
  spec.aiv = plan.aiv;
  spec.mode = rt::launch_mode();

  std::vector<DeviceBuffer> buffers;
  std::vector<void*> values;  // what each argument's value is
  auto* const base = static_cast<uint8_t*>(workspace);
  for (const LaunchArgument& argument : plan.arguments) {
    if (!argument.present) {
      values.push_back(nullptr);
      continue;
    }
    void* data = argument.tensor.begin();
    uint64_t bytes = argument.tensor.extent();
    if (!argument.host_values.empty()) {
      buffers.emplace_back(argument.host_values);
      data = buffers.back().get();
      bytes = argument.host_values.size();
    } else if (argument.make_contiguous) {
      data = base + argument.packed_offset;
      uint8_t* to = static_cast<uint8_t*>(data);
      copy_strided(argument.tensor, 0, argument.tensor.begin(), to);
      bytes = static_cast<uint64_t>(to - static_cast<uint8_t*>(data));
    }
    values.push_back(data);
    const RegionRole role = role_of(plan, argument);
    const bool covered = role == RegionRole::InPlace && argument.role == RegionRole::Input;
    if (bytes > 0 && !covered) {
      spec.regions.push_back({address(data), bytes, role, argument.name});
    }
  }
  values.push_back(plan.kernel_workspace ? workspace : nullptr);
  if (plan.kernel_workspace) {
    spec.regions.push_back(
        {address(workspace), plan.kernel_workspace, RegionRole::Workspace, "workspace"});
  }
  buffers.emplace_back(plan.tiling);
  values.push_back(buffers.back().get());
  if (!plan.tiling.empty()) {
    spec.regions.push_back(
        {address(buffers.back().get()), plan.tiling.size(), RegionRole::Tiling, "tiling"});
  }

  uint64_t tiling_key = plan.tiling_key;
  for (void*& value : values) spec.args.push_back(&value);
  spec.args.push_back(&tiling_key);

  try {
    launch(spec);
  } catch (const Trap& trap) {
    throw rt::TaskError(error_code(trap.kind(), spec.type), trap.what());
  }
}

}  // namespace dav::host
