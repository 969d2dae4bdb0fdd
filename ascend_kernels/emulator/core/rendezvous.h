// Cross-core flags: a counter rises when every participant of a mode has set the flag.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace dav {

struct Rendezvous {
  struct Member {
    std::vector<uint64_t> tickets;  // sets not yet matched, oldest first; zeros in fast mode
  };
  std::vector<Member> members;

  // True when all members have one set outstanding; takes those away.
  bool complete(std::vector<uint64_t>* tickets) {
    for (const Member& m : members) {
      if (m.tickets.empty()) return false;
    }
    for (Member& m : members) {
      tickets->push_back(m.tickets.front());
      m.tickets.erase(m.tickets.begin());
    }
    return true;
  }
  bool pending() const {
    for (const Member& m : members) {
      if (!m.tickets.empty()) return true;
    }
    return false;
  }
};

}  // namespace dav
