// Cross-core flags: a counter rises when every participant of a mode has set the flag.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace dav {

class Core;

// One CrossCoreSetFlag.
struct CrossSet {
  uint64_t ticket = 0;  // the tracker's
  const Core* core = nullptr;
  uint32_t site = 0;
};

struct Rendezvous {
  struct Member {
    std::vector<CrossSet> sets;  // not yet matched, oldest first
  };
  std::vector<Member> members;

  // True when all members have one set outstanding; takes those away.
  bool complete(std::vector<CrossSet>* taken) {
    for (const Member& m : members) {
      if (m.sets.empty()) return false;
    }
    for (Member& m : members) {
      taken->push_back(m.sets.front());
      m.sets.erase(m.sets.begin());
    }
    return true;
  }
  bool pending() const {
    for (const Member& m : members) {
      if (!m.sets.empty()) return true;
    }
    return false;
  }
};

}  // namespace dav
