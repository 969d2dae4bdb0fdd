#include "core/tracker_tickets.h"

#include <tuple>
#include <utility>

namespace dav {

uint64_t TicketOffice::issue(Ticket ticket) {
  auto shared = std::make_shared<Ticket>(std::move(ticket));
  std::lock_guard<std::mutex> lock(mutex_);
  open_.emplace(next_, std::move(shared));
  return next_++;
}

std::shared_ptr<const Ticket> TicketOffice::consume(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = open_.find(number);
  if (found == open_.end()) return nullptr;
  std::shared_ptr<Ticket> ticket = found->second;
  if (++ticket->consumed >= ticket->receivers) open_.erase(found);
  return ticket;
}

std::optional<Ticket> TicketOffice::never_waited() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::optional<Ticket> lowest;
  const auto key = [](const Ticket& t) {
    return std::make_tuple(t.setter.core.index, t.id, t.mode, t.setter.pipe);
  };
  for (const auto& [number, ticket] : open_) {
    if (ticket->consumed == 0 && (!lowest || key(*ticket) < key(*lowest))) lowest = *ticket;
  }
  return lowest;
}

}  // namespace dav
