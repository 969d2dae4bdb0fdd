// Stands between a kernel and its synchronisation calls: instrument.py sends every call through
// here with the number of its place in the source, and a test says from outside which places stay
// silent. One object so serves all mutants, and without a selection it behaves as the kernel does.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernel_operator.h"

namespace sync_points {

// An event of a core: which pipes, which id.
using Event = std::pair<AscendC::HardEvent, int32_t>;

// Places of a set and of its wait, -1 where there is none.
using SetAndWait = std::pair<int, int>;

// Of one core. Cores run on several threads, but each on one; launches follow each other.
struct CoreState {
  int place = -1;                    // of the call under way that is known to wrap flags
  size_t sets = 0;                   // so far
  std::map<Event, size_t> last_set;  // by number
  std::set<int> entered;             // calls that may wrap flags
  std::set<int> visited;             // places of synchronisation that was reached
  // Flag id, place, and place of the primitive.
  std::set<std::tuple<uint32_t, int, int>> cross_sets, cross_waits;
};

constexpr size_t kCores = 256;

// Of each core the sets in their order. A core does the same whatever is silent, so the untouched
// kernel's say which of a mutant's sets to leave out before their wait is known.
using Recording = std::array<std::vector<SetAndWait>, kCores>;

inline std::array<CoreState, kCores> states;
inline std::map<int, Recording> recordings;     // by case
inline Recording* recording = &recordings[-1];  // of the case under way
inline bool untouched = true;
inline std::set<int> silenced;
inline std::set<SetAndWait> silenced_pairs;

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

inline std::vector<SetAndWait>& sets_of(const CoreState& core) {
  return (*recording)[static_cast<size_t>(&core - states.data())];
}

inline bool silent_pair(const CoreState& core, size_t set) {
  return !silenced_pairs.empty() && silenced_pairs.count(sets_of(core).at(set)) != 0;
}

template <AscendC::HardEvent kEvent>
void SetFlag(int here, int32_t id) {
  CoreState& core = state();
  const int place = place_of(core, here);
  if (silent(here, place)) return;
  const size_t set = core.sets++;
  core.last_set[{kEvent, id}] = set;
  if (untouched) sets_of(core).push_back({place, -1});
  if (!silent_pair(core, set)) AscendC::SetFlag<kEvent>(id);
}

template <AscendC::HardEvent kEvent>
void WaitFlag(int here, int32_t id) {
  CoreState& core = state();
  const int place = place_of(core, here);
  if (silent(here, place)) return;
  const auto set = core.last_set.find({kEvent, id});
  if (set != core.last_set.end()) {
    if (untouched) sets_of(core).at(set->second).second = place;
    if (silent_pair(core, set->second)) return;
  }
  AscendC::WaitFlag<kEvent>(id);
}

template <typename Call>
void CrossSet(int here, uint32_t flag, Call&& call) {
  CoreState& core = state();
  const int place = place_of(core, here);
  core.cross_sets.insert({flag, place, here});
  if (!silent(here, place)) call();
}

template <typename Call>
void CrossWait(int here, uint32_t flag, Call&& call) {
  CoreState& core = state();
  const int place = place_of(core, here);
  core.cross_waits.insert({flag, place, here});
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

// Forgets the last run. From now on `count` places are silent, and so are sets and their waits at
// `pair_count` pairs of places. A run in which nothing is silent is remembered under the number of
// its case, which has to precede a case's pairs.
SYNC_POINTS_EXPORT void sync_points_select(const int* places, int count, const int* pairs,
                                           int pair_count, int number) {
  using namespace sync_points;
  silenced = std::set<int>(places, places + count);
  silenced_pairs.clear();
  for (int i = 0; i < pair_count; ++i) silenced_pairs.insert({pairs[2 * i], pairs[2 * i + 1]});
  untouched = count == 0 && pair_count == 0;
  recording = &recordings[number];
  if (untouched) *recording = {};
  for (CoreState& core : states) core = {};
}

// What the cores did since then, a line each: "enter P", "visit P", "cross_set FLAG P Q" and
// "cross_wait FLAG P Q" where Q is the primitive's place, of the untouched kernel also "pair P Q".
// Valid until the next call.
SYNC_POINTS_EXPORT const char* sync_points_seen() {
  using namespace sync_points;
  static std::string text;
  text.clear();
  const auto line = [&](const char* what, auto... numbers) {
    text += what;
    ((text += " " + std::to_string(numbers)), ...);
    text += "\n";
  };
  for (const CoreState& core : states) {
    for (int place : core.entered) line("enter", place);
    for (int place : core.visited) line("visit", place);
    for (const auto& [flag, place, here] : core.cross_sets) line("cross_set", flag, place, here);
    for (const auto& [flag, place, here] : core.cross_waits) line("cross_wait", flag, place, here);
  }
  std::set<SetAndWait> pairs;
  if (untouched) {
    for (const std::vector<SetAndWait>& sets : *recording) pairs.insert(sets.begin(), sets.end());
  }
  for (const auto& [set, wait] : pairs) {
    if (wait >= 0) line("pair", set, wait);
  }
  return text.c_str();
}
