// `kernel<<<blocks, l2, stream>>>(arguments)` of sources compiled by the ASC compiler driver.
#include "dav/asc_launch.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "acl/acl_rt.h"
#include "core/chip.h"
#include "runtime/acl/asc_images.h"
#include "runtime/acl/launch_support.h"

namespace dav::rt {
namespace {

// Stricter than any argument type needs.
constexpr size_t kAlignment = 64;

struct Queued {
  const asc::Module* module;
  std::string name, symbol;
  KernelType type;
  uint32_t blocks;
  std::vector<std::unique_ptr<void, decltype(&std::free)>> arguments;
};

bool uses_aic(KernelType type) {
  return type != KernelType::AivOnly && type != KernelType::MixAiv10;
}
bool uses_aiv(KernelType type) {
  return type == KernelType::AivOnly || type == KernelType::MixAiv10 ||
         type == KernelType::MixAic11 || type == KernelType::MixAic12;
}

void run(const Queued& queued) {
  const Chip& chip = default_chip();
  if (static_cast<uint32_t>(chip.arch) != queued.module->architecture) {
    throw TaskError(ACL_ERROR_RT_SOC_VERSION, "kernel " + queued.name + " was compiled for dav-" +
                                                  std::to_string(queued.module->architecture) +
                                                  ", the device is " + chip.name + " (dav-" +
                                                  std::to_string(static_cast<uint32_t>(chip.arch)) +
                                                  ")");
  }
  LaunchSpec spec;
  spec.chip = &chip;
  spec.name = queued.name;
  spec.type = queued.type;
  spec.block_dim = queued.blocks;
  if (uses_aic(queued.type)) spec.aic = aic_entry(*queued.module, queued.symbol);
  if (uses_aiv(queued.type)) spec.aiv = aiv_entry(*queued.module, queued.symbol);
  spec.mode = launch_mode();
  spec.auto_sync = queued.module->auto_sync != 0;
  for (const auto& argument : queued.arguments) spec.args.push_back(argument.get());
  try {
    launch(spec);
  } catch (const Trap& trap) {
    throw TaskError(trap_code(trap.kind(), spec.type), trap.what());
  }
}

}  // namespace
}  // namespace dav::rt

void dav_asc_launch(const dav::asc::Request* request) {
  using namespace dav::rt;
  auto queued = std::make_shared<Queued>();
  queued->module = request->module;
  queued->name = request->name;
  queued->symbol = entry_symbol(request->launch, request->callable, request->types);
  queued->type = static_cast<dav::KernelType>(request->type);
  queued->blocks = request->blocks;
  for (size_t i = 0; i < request->argument_count; ++i) {
    const dav::asc::Argument& argument = request->arguments[i];
    const size_t size = (argument.bytes + kAlignment - 1) / kAlignment * kAlignment;
    queued->arguments.emplace_back(std::aligned_alloc(kAlignment, size), &std::free);
    std::memcpy(queued->arguments.back().get(), argument.value, argument.bytes);
  }
  const aclError code = enqueue(static_cast<aclrtStream>(request->stream), [queued] {
    try {
      run(*queued);
    } catch (const std::exception& error) {
      // A launch returns nothing and many programs ask for no error afterwards.
      std::fprintf(stderr, "%s\n", error.what());
      throw;
    }
  });
  if (code != ACL_SUCCESS) {
    std::fprintf(stderr, "launch of kernel %s failed with code %d\n", request->name, code);
  }
}

aclError aclrtGetHardwareSyncAddr(void** addr) {
  if (!addr) {
    return dav::rt::fail(ACL_ERROR_INVALID_PARAM, "aclrtGetHardwareSyncAddr: addr is null");
  }
  *addr = nullptr;
  return ACL_SUCCESS;
}
