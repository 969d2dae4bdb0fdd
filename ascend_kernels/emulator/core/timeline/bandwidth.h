// Transfers in flight and how they share what cores have in common: the L2 port of a core group,
// the L2 as a whole, and HBM. A fluid model: rates are constant between two starts or ends.
#pragma once

#include <cstdint>
#include <vector>

#include "core/timeline/costs.h"

namespace dav::timeline {

struct Flow {
  uint32_t owner = 0;  // the caller's number, returned when the flow ends
  uint32_t group = 0;  // core group
  bool write = false;
  double bytes = 0;       // through the L2
  double fetched = 0;     // of them from HBM, over the group's own path to it
  double background = 0;  // what the L2 exchanges with HBM because of them: evictions, old values
  double rate_cap = 0;    // bytes per cycle of the pipe alone
};

class DAV_API SharedBandwidth {
 public:
  SharedBandwidth(const Costs& costs, uint32_t groups);

  void start(double now, const Flow& flow);
  bool idle() const { return active_.empty(); }
  // When the next flow ends, if none starts before; infinity when idle.
  double next_end() const { return next_end_; }
  // Ends the flow due at next_end() (the lowest owner of those due together); returns its owner.
  uint32_t finish();

 private:
  struct Active {
    Flow flow;
    double left;
    double rate;
    double fetched_share, hbm_share;  // per byte of the flow
  };
  void advance(double now);
  void share();

  const Costs costs_;
  std::vector<Active> active_;  // sorted by owner, so that sums do not depend on history
  std::vector<double> group_read_, group_write_, group_hbm_;
  double now_ = 0;
  double next_end_;
  size_t next_ = 0;
};

}  // namespace dav::timeline
