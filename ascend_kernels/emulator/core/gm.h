// Global memory as one launch sees it: the registered device allocations and the exact extents of
// the launch's arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/tracker.h"

namespace dav {

struct GmRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

using GmAllocations = std::vector<GmRange>;  // sorted, disjoint

// The allocations at this moment; later registrations make a new list.
std::shared_ptr<const GmAllocations> gm_allocations();

class GmView {
 public:
  explicit GmView(const std::vector<Region>& regions);

  // The widest range in which an access that lies inside may move without another look-up, or
  // false with a reason when [addr, addr + bytes) is not all the launch's to touch.
  bool find(uint64_t addr, uint64_t bytes, GmRange* range, std::string* reason) const;

 private:
  const Region* containing(uint64_t addr, uint64_t bytes) const;
  const Region* overlapping(uint64_t addr, uint64_t bytes) const;

  const std::vector<Region>& regions_;
};

}  // namespace dav
