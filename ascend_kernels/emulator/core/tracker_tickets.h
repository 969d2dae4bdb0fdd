// Cross-core sets on their way to the cores that wait for them. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/tracker_clock.h"
#include "core/tracker_report.h"

namespace dav {

struct Ticket {
  Parcel parcel;
  Party setter;
  int mode = 0;
  int id = 0;
  uint32_t receivers = 1;  // waits that are to consume it
  uint32_t consumed = 0;
};

class TicketOffice {
 public:
  uint64_t issue(Ticket ticket);
  // A wait consumes the ticket; null when there is no such ticket (any more).
  std::shared_ptr<const Ticket> consume(uint64_t number);
  // A set no core ever waited for; of several the one of the lowest core and id.
  std::optional<Ticket> never_waited() const;

 private:
  mutable std::mutex mutex_;
  uint64_t next_ = 1;
  std::unordered_map<uint64_t, std::shared_ptr<Ticket>> open_;
};

}  // namespace dav
