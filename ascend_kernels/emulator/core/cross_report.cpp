// What is said about cross-core flags that never came or were left over.
#include <algorithm>

#include "core/call_site.h"
#include "core/launch_state.h"
#include "core/sync.h"

namespace dav {
namespace {

std::string list(const std::vector<std::string>& items) {
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(items.size(), kShown); ++i) text += (i ? ", " : "") + items[i];
  if (items.size() > kShown) text += " and " + std::to_string(items.size() - kShown) + " more";
  return text;
}

// "1 of 2 sets present, missing AIV 0.1 (ended)", or nothing when no member has set.
std::string partial(const Rendezvous& r, const std::vector<Core*>& members) {
  if (!r.pending()) return "";
  std::vector<std::string> missing;
  for (size_t i = 0; i < members.size(); ++i) {
    if (r.members[i].sets.empty())
      missing.push_back(members[i]->label() + (members[i]->finished ? " (ended)" : ""));
  }
  return std::to_string(members.size() - missing.size()) + " of " + std::to_string(members.size()) +
         " sets present, missing " + list(missing);
}

std::vector<Core*> all_of(LaunchState& launch, bool aiv) {
  std::vector<Core*> cores;
  for (const auto& c : launch.cores()) {
    if ((c->kind() == CoreKind::AIV) == aiv) cores.push_back(c.get());
  }
  return cores;
}

// What the flag that a core waits for still lacks, mode by mode.
std::string lacking(LaunchState& launch, const Core& core) {
  const auto id = static_cast<size_t>(core.blocked.id);
  Group& group = launch.group_of(core);
  const bool aiv = core.kind() == CoreKind::AIV;
  std::string text;
  auto add = [&text](int mode, const std::string& what) {
    if (!what.empty()) text += "; mode " + std::to_string(mode) + ": " + what;
  };
  add(0, partial(aiv ? launch.all_aivs[id] : launch.all_aics[id], all_of(launch, aiv)));
  if (aiv) {
    add(1, partial(group.among_aivs[id], group.aivs));
  } else {
    add(2, partial(group.aivs_to_aic[id], group.aivs));
  }
  return text.empty() ? "; no core has set it" : text;
}

std::string line_of(LaunchState& launch, const Core& core) {
  const std::string id = std::to_string(core.blocked.id);
  std::string text = core.label();
  switch (core.blocked.on.load()) {
    case Blocked::On::CrossWait:
      text += " waits for cross-core flag " + id + lacking(launch, core);
      break;
    case Blocked::On::CrossSet:
      text += " cannot set cross-core flag " + id + " (mode " + std::to_string(core.blocked.mode) +
              "): its counter would exceed 15";
      break;
    case Blocked::On::SoftBarrier:
      text += " waits in SyncAll: " + std::to_string(launch.soft_barrier.arrived.size()) +
              " cores have arrived";
      break;
    case Blocked::On::Nothing:
      text += " is suspended";
      break;
  }
  const std::string where = describe_site(core.blocked.site);
  if (!where.empty()) text += "\n      at " + where;
  return text;
}

// The kernel's code has returned, so what has a place is the set that nothing took.
[[noreturn]] void left_over(const Core& core, const CrossSet& set, const std::string& message) {
  std::string text = message + "\n  CrossCoreSetFlag by " + set.core->label();
  const std::string where = describe_site(set.site);
  if (!where.empty()) text += " at " + where;
  throw Trap(TrapKind::FlagMisuse,
             trap_report(TrapKind::FlagMisuse, core, Pipe::S, "end of kernel", 0, text));
}

void check_unmatched(LaunchState& launch, const Rendezvous& r, const std::vector<Core*>& members,
                     int mode, int id) {
  if (!r.pending()) return;
  (void)launch;
  for (size_t i = 0; i < members.size(); ++i) {
    if (r.members[i].sets.empty()) continue;
    left_over(*members[i], r.members[i].sets.front(),
              "cross-core flag " + std::to_string(id) + ", mode " + std::to_string(mode) +
                  ", is left incomplete: " + partial(r, members));
  }
}

}  // namespace

Trap deadlock_trap(LaunchState& launch) {
  std::vector<std::string> lines;
  bool overflow = false;
  size_t ended = 0;
  for (const auto& core : launch.cores()) {
    if (core->finished) {
      ++ended;
    } else if (core->started()) {
      overflow |= core->blocked.on.load() == Blocked::On::CrossSet;
      lines.push_back(line_of(launch, *core));
    }
  }
  const TrapKind kind = overflow ? TrapKind::FlagMisuse : TrapKind::Deadlock;
  std::string report = std::string(to_string(kind)) + " on " + launch.chip().name + " in '" +
                       launch.spec().name + "': " + std::to_string(lines.size()) +
                       " cores wait and none can continue (" + std::to_string(ended) +
                       " have ended)";
  constexpr size_t kLines = 32;
  for (size_t i = 0; i < std::min(lines.size(), kLines); ++i) report += "\n  " + lines[i];
  if (lines.size() > kLines) {
    report += "\n  and " + std::to_string(lines.size() - kLines) + " more";
  }
  return Trap(kind, report);
}

void check_left_over(LaunchState& launch) {
  for (const auto& core : launch.cores()) {
    for (int id = 0; id < kCrossFlags; ++id) {
      const size_t n = core->cross[static_cast<size_t>(id)].size();
      if (n == 0) continue;
      left_over(*core, core->cross[static_cast<size_t>(id)].front().sets->back(),
                "the counter of cross-core flag " + std::to_string(id) + " is still " +
                    std::to_string(n) + ": a CrossCoreWaitFlag is missing");
    }
  }
  const auto aics = all_of(launch, false);
  const auto aivs = all_of(launch, true);
  for (int id = 0; id < kCrossFlags; ++id) {
    const auto i = static_cast<size_t>(id);
    check_unmatched(launch, launch.all_aics[i], aics, 0, id);
    check_unmatched(launch, launch.all_aivs[i], aivs, 0, id);
    for (const auto& group : launch.groups()) {
      check_unmatched(launch, group->among_aivs[i], group->aivs, 1, id);
      check_unmatched(launch, group->aivs_to_aic[i], group->aivs, 2, id);
    }
  }
}

}  // namespace dav
