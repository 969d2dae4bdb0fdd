// Launching a kernel image on an emulated chip. Used by the runtime; independent of ACL.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace.h"
#include "core/tracker.h"  // Region
#include "dav/api.h"

namespace dav {

struct Chip;

enum class KernelType : uint8_t {
  AivOnly,
  AicOnly,
  MixAic11,
  MixAic12,
  MixAiv10,
  MixAic10,
  Coupled
};
enum class Mode : uint8_t { Check, Fast };

// args[i] points at the i-th kernel argument's value (a pointer for GM_ADDR).
using KernelEntry = void (*)(void** args);

struct LaunchSpec {
  const Chip* chip = nullptr;
  std::string name;
  KernelType type = KernelType::AivOnly;
  uint32_t block_dim = 1;
  KernelEntry aic = nullptr;  // the only entry on a coupled chip
  KernelEntry aiv = nullptr;
  std::vector<void*> args;
  std::vector<Region>
      regions;  // exact extents and roles; other GM must lie in a registered allocation
  Mode mode = Mode::Check;
  bool auto_sync = false;
  bool profile = false;  // record CoreTrace
  // Record it without moving or computing data: bounds and arguments are checked as ever, memory
  // keeps what it held. For kernels whose flow of control does not depend on data; one that asks
  // for a value it should have computed is trapped.
  bool timing_only = false;
  uint64_t budget = 0;  // instructions per core; 0 = the default
};

struct LaunchResult {
  std::vector<CoreTrace> traces;   // when profiling
  std::vector<std::string> hints;  // check mode
  uint64_t instructions = 0;
};

// Runs to completion; throws Trap.
DAV_API LaunchResult launch(const LaunchSpec& spec);

// Device allocations, so that a stray GM access is caught. Thread-safe.
DAV_API void gm_register(void* addr, uint64_t bytes);
DAV_API void gm_unregister(void* addr);

}  // namespace dav
