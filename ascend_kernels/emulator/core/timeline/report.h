// Figures of one replayed launch, and their JSON.
#pragma once

#include <map>
#include <string>

#include "core/timeline/replay.h"

namespace dav::timeline {

// One pipe of one kind of core, over all cores that used it.
struct PipeShare {
  uint32_t cores = 0;
  double busy = 0;      // mean share of the kernel's cycles
  double busy_max = 0;  // of the busiest core
  double wait = 0;      // mean share spent at flags and barriers
  uint64_t instructions = 0;
};

struct Summary {
  std::string name, soc;
  std::string error;        // why there is no prediction; otherwise empty
  double predicted_us = 0;  // launch and kernel
  double kernel_us = 0, launch_us = 0;
  double cycles = 0, clock_mhz = 0;
  double error_band = 0;
  uint32_t groups = 0, chip_groups = 0;
  double cube_utilisation = 0;             // of the whole chip's peak, launch included
  std::string limit;                       // the busiest pipe, as "AIC.M"
  std::map<std::string, PipeShare> pipes;  // by "AIC.M", "AIV.V", ...
  std::map<std::string, uint64_t> bytes;   // by path
  L2Traffic l2;
};

DAV_API Summary summarise(const std::string& name, const std::string& soc, const Timeline& timeline,
                          const Costs& costs);

DAV_API std::string to_json(const Summary& summary);
// A string with quotes, as JSON wants it.
DAV_API std::string json_string(const std::string& text);
const char* core_kind_name(CoreKind kind);

}  // namespace dav::timeline
