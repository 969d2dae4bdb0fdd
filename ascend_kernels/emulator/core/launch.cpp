#include "dav/launch.h"

#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "core/containment.h"
#include "core/launch_state.h"
#include "core/settings.h"
#include "core/timeline/profile_session.h"

namespace dav {
namespace {

[[noreturn]] void refuse(const LaunchSpec& spec, const std::string& why) {
  throw std::invalid_argument("launch of '" + spec.name + "': " + why);
}

void check(const LaunchSpec& spec) {
  if (spec.chip == nullptr) refuse(spec, "no chip given");
  const Chip& chip = *spec.chip;
  if (chip.arch == Arch::Dav3510) {
    refuse(spec, chip.name +
                     " (architecture 3510) is described but cannot be executed: its "
                     "register-based vector functions are not emulated");
  }
  if (spec.block_dim == 0) refuse(spec, "block_dim is 0");
  if (spec.block_dim > 65535) {
    refuse(spec, "block_dim is " + std::to_string(spec.block_dim) + ", at most 65535 are allowed");
  }
  if (chip.split() == (spec.type == KernelType::Coupled)) {
    refuse(spec,
           chip.name + (chip.split() ? " has separate AIC and AIV cores: the kernel type "
                                       "must say which it uses"
                                     : " has coupled cores: the kernel type must be Coupled"));
  }
  const bool aic = spec.type != KernelType::AivOnly && spec.type != KernelType::MixAiv10;
  const bool aiv = spec.type != KernelType::AicOnly && spec.type != KernelType::MixAic10 &&
                   spec.type != KernelType::Coupled;
  if (aic && spec.aic == nullptr) refuse(spec, "the kernel image has no entry for the AIC");
  if (aiv && spec.aiv == nullptr) refuse(spec, "the kernel image has no entry for the AIV");
}

}  // namespace

LaunchResult launch(const LaunchSpec& spec) {
  if (core_or_null() != nullptr) refuse(spec, "a kernel cannot launch a kernel");
  check(spec);
  install_containment();
  const bool watched = profile_active();
  LaunchSpec run = spec;
  run.profile |= watched;
  run.timing_only |= watched && profile_timing_only();
  // There is no data whose handling could be checked.
  if (run.timing_only) run.mode = Mode::Fast;
  LaunchState state(run);
  LaunchResult result = state.run();
  if (watched) {
    profile_record(spec.name, *spec.chip,
                   spec.profile ? std::vector<CoreTrace>(result.traces) : std::move(result.traces));
  }
  return result;
}

}  // namespace dav
