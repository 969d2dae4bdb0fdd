// Flags between cores, as times: a wait may end once every core its mode asks for has set the flag,
// plus the hand-over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/trace.h"

namespace dav::timeline {

// Times at which a flag was raised and is yet to be consumed, oldest first.
class FlagTimes {
 public:
  void raise(double time) { times_.push_back(time); }
  bool raised() const { return next_ < times_.size(); }
  double take() {
    const double time = times_[next_++];
    if (next_ == times_.size()) {
      times_.clear();
      next_ = 0;
    }
    return time;
  }

 private:
  std::vector<double> times_;
  size_t next_ = 0;
};

class CrossFlags {
 public:
  CrossFlags(const std::vector<CoreTrace>& traces, double hand_over);

  // Core number `core` (its place in the traces) sets a flag; appends the cores that can now see
  // something new to `woken`.
  void set(uint32_t core, uint32_t mode, uint32_t id, double time, std::vector<uint32_t>& woken);
  FlagTimes& waiting(uint32_t core, uint32_t id) { return arrived_[core * kIds + id % kIds]; }

 private:
  static constexpr uint32_t kIds = 32;

  // Cores that have to set a flag together, and those that then see it.
  struct Meeting {
    std::vector<uint32_t> members;
    std::vector<uint32_t> receivers;
    std::vector<FlagTimes> set;  // by member
  };
  Meeting make_meeting(uint32_t core, uint32_t mode) const;
  void deliver(uint32_t receiver, uint32_t id, double time, std::vector<uint32_t>& woken);

  const std::vector<CoreTrace>& traces_;
  double hand_over_;
  std::vector<FlagTimes> arrived_;
  std::map<uint64_t, Meeting> meetings_;
};

}  // namespace dav::timeline
