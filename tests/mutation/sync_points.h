// Stands between a kernel and its synchronisation calls: instrument.py sends every call through
// here with the number of its place in the source, and a test says from outside which places stay
// silent. One object so serves all mutants, and without a selection it behaves as the kernel does.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "kernel_operator.h"

namespace sync_points {

// An event of a core: which pipes, which id.
using Event = std::pair<AscendC::HardEvent, int32_t>;

// Of one core. Cores run on several threads, but each on one; launches follow each other.
struct CoreState {
  int place = -1;                       // of the call under way that is known to wrap flags
  std::map<Event, int> setter;          // place of the last set
  std::map<Event, bool> held_back;      // sets that wait for their wait to show itself
  std::set<int> entered;                // calls that may wrap flags
  std::set<int> visited;                // places of synchronisation that was reached
  std::set<std::pair<int, int>> pairs;  // places of a set and of its wait
  std::set<std::pair<uint32_t, int>> cross_sets, cross_waits;  // flag id and place
};

constexpr size_t kCores = 256;

inline std::array<CoreState, kCores> states;
inline std::set<int> silenced;
inline std::pair<int, int> silenced_pair{-1, -1};

inline CoreState& state() { return states[static_cast<size_t>(AscendC::GetBlockIdx())]; }

// A call of a function that wraps flags: what happens inside counts as happening at `place`, the
// outermost of several.
template <typename Call>
decltype(auto) In(int place, Call&& call) {
  struct Scope {
    CoreState& core = state();
    int outer = core.place;
    ~Scope() { core.place = outer; }
  } scope;
  if (scope.outer < 0) scope.core.place = place;
  scope.core.entered.insert(place);
  return call();
}

inline int place_of(CoreState& core, int here) {
  core.visited.insert(here);
  if (core.place < 0) return here;
  core.visited.insert(core.place);
  return core.place;
}

inline bool silent(int here, int place) {
  return silenced.count(here) != 0 || silenced.count(place) != 0;
}

template <AscendC::HardEvent kEvent>
void SetFlag(int here, int32_t id) {
  CoreState& core = state();
  const int place = place_of(core, here);
  if (silent(here, place)) return;
  core.setter[{kEvent, id}] = place;
  if (place == silenced_pair.first) {
    core.held_back[{kEvent, id}] = true;
    return;
  }
  AscendC::SetFlag<kEvent>(id);
}

template <AscendC::HardEvent kEvent>
void WaitFlag(int here, int32_t id) {
  CoreState& core = state();
  const int place = place_of(core, here);
  if (silent(here, place)) return;
  const Event event{kEvent, id};
  const auto setter = core.setter.find(event);
  if (setter != core.setter.end()) core.pairs.insert({setter->second, place});
  if (std::exchange(core.held_back[event], false)) {
    if (place == silenced_pair.second) return;
    // Another wait of the same set's place: that pair stays, if a little later than written.
    AscendC::SetFlag<kEvent>(id);
  }
  AscendC::WaitFlag<kEvent>(id);
}

template <typename Call>
void CrossSet(int here, uint32_t flag, Call&& call) {
  CoreState& core = state();
  const int place = place_of(core, here);
  core.cross_sets.insert({flag, place});
  if (!silent(here, place)) call();
}

template <typename Call>
void CrossWait(int here, uint32_t flag, Call&& call) {
  CoreState& core = state();
  const int place = place_of(core, here);
  core.cross_waits.insert({flag, place});
  if (!silent(here, place)) call();
}

// Barriers and everything else without a partner.
template <typename Call>
void Gate(int here, Call&& call) {
  CoreState& core = state();
  core.visited.insert(here);
  if (!silent(here, here)) call();
}

}  // namespace sync_points

#define SYNC_POINTS_EXPORT extern "C" __attribute__((visibility("default"), used)) inline

// Forgets everything. From now on `count` places are silent, and so is each set at `set` whose
// wait is at `wait`, with that wait; -1 is no place.
SYNC_POINTS_EXPORT void sync_points_select(const int* places, int count, int set, int wait) {
  sync_points::silenced = std::set<int>(places, places + count);
  sync_points::silenced_pair = {set, wait};
  for (sync_points::CoreState& core : sync_points::states) core = {};
}

// What the cores did since then, a line each: "enter P", "visit P", "pair P Q",
// "cross_set FLAG P", "cross_wait FLAG P". Valid until the next call.
SYNC_POINTS_EXPORT const char* sync_points_seen() {
  static std::string text;
  text.clear();
  const auto line = [&](const char* what, auto... numbers) {
    text += what;
    ((text += " " + std::to_string(numbers)), ...);
    text += "\n";
  };
  for (const sync_points::CoreState& core : sync_points::states) {
    for (int place : core.entered) line("enter", place);
    for (int place : core.visited) line("visit", place);
    for (const auto& [set, wait] : core.pairs) line("pair", set, wait);
    for (const auto& [flag, place] : core.cross_sets) line("cross_set", flag, place);
    for (const auto& [flag, place] : core.cross_waits) line("cross_wait", flag, place);
  }
  return text.c_str();
}
