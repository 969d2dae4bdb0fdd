// Faults the tracker collects while cores run, so that the one it reports in the end does not
// depend on which core happened to run first.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/tracker.h"
#include "core/tracker_cells.h"
#include "core/tracker_report.h"
#include "core/trap.h"

namespace dav {

struct Fault {
  TrapKind kind = TrapKind::DataRace;
  RaceKind race = RaceKind::ReadAfterWrite;
  Party first;   // of a race
  Party second;  // of a race, or who read the undefined bytes
  Buffer buffer = Buffer::UB;
  uint32_t region = 0;  // GM: index of the region, and offsets in it
  uint64_t begin = 0;
  uint64_t end = 0;
};

// The lowest race and the lowest undefined read in global memory. Whether an address has a race
// does not depend on the order of execution, so neither does the lowest such address; of several
// races there the one with the lowest cores, pipes and names is kept. Thread-safe.
class GlobalFaults {
 public:
  void add(const Fault& fault);
  std::optional<Fault> race() const;
  std::optional<Fault> undefined_read() const;

 private:
  mutable std::mutex mutex_;
  std::optional<Fault> race_;
  std::optional<Fault> undefined_;
};

// Names the two sides in the order the kernel must have meant. In one core that is program order.
// Between cores nothing says so, least of all which ran first here: a read counts as of the value
// being written unless an earlier write was handed to the reader, in which case the writer should
// have waited for the reader. `cores` by index.
Fault make_race(const std::vector<CoreId>& cores, const OpTable& ops, const Party& now, Touch touch,
                const Conflict& conflict);

Trap make_trap(const Fault& fault, const std::string& chip, const std::vector<Region>& regions);

}  // namespace dav
