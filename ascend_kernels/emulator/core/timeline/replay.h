// Replays what the cores did against the cost model: when every instruction would have started and
// ended on the chip. Event-driven and deterministic: a trace has one figure.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/timeline/costs.h"
#include "core/timeline/l2.h"
#include "core/trace.h"

namespace dav::timeline {

struct Span {
  double start = 0;  // cycles since the kernel's first instruction
  double end = 0;
};

struct PipeUse {
  double busy = 0;  // cycles with at least one instruction in progress
  double wait = 0;  // cycles stopped at a flag that was not set yet, or at a barrier
  double end = 0;   // completion of the last instruction
  uint64_t instructions = 0;
};

struct CoreTimeline {
  CoreKind kind = CoreKind::AIC;
  uint32_t block = 0;
  uint32_t sub_block = 0;
  double cycles = 0;      // its end, from the kernel's start
  double cube_steps = 0;  // multiply steps: cycles at the cube's peak
  std::array<PipeUse, kPipeCount> pipes{};
  std::array<uint64_t, kPathCount> bytes{};
  std::vector<Span> spans;  // one per record, when asked for
};

struct Timeline {
  double cycles = 0;     // the slowest core
  double launch_us = 0;  // what the host and the scheduler add
  uint32_t groups = 0;   // core groups of the chip in use
  std::vector<CoreTimeline> cores;
  L2Traffic l2;
};

struct ReplayOptions {
  bool keep_spans = true;
  // Starts with the L2 as a first run of the same launch leaves it, as in a repeated measurement.
  bool warm_l2 = false;
};

// Throws std::runtime_error when the traces wait for something nobody sets.
DAV_API Timeline replay(const std::vector<CoreTrace>& traces, const Costs& costs,
                        const ReplayOptions& options = {});

}  // namespace dav::timeline
