#include "core/tracker_faults.h"

#include <cinttypes>
#include <cstdio>
#include <string_view>
#include <tuple>
#include <utility>

namespace dav {
namespace {

auto place_of(const Party& p) {
  return std::make_tuple(p.core.index, p.pipe, std::string_view(p.op.name));
}

bool before(const Fault& a, const Fault& b) {
  return std::make_tuple(a.region, a.begin, a.race, place_of(a.first), place_of(a.second)) <
         std::make_tuple(b.region, b.begin, b.race, place_of(b.first), place_of(b.second));
}

const char* role_name(RegionRole role) {
  switch (role) {
    case RegionRole::Input:
      return "input";
    case RegionRole::Output:
    case RegionRole::InPlace:
      return "output";
    case RegionRole::Workspace:
      return "workspace";
    case RegionRole::Tiling:
      return "tiling data";
    default:
      return "global memory";
  }
}

std::string where(const Fault& f, const std::vector<Region>& regions) {
  if (f.buffer != Buffer::GM) return local_range(f.buffer, f.begin, f.end);
  char text[80];
  if (f.region >= regions.size()) {
    std::snprintf(text, sizeof text, "GM address 0x%" PRIx64, f.begin);
    return text;
  }
  const Region& r = regions[f.region];
  std::snprintf(text, sizeof text, "at byte %" PRIu64 " (GM 0x%" PRIx64 ")", f.begin,
                r.addr + f.begin);
  return std::string(role_name(r.role)) + " '" + r.name + "' " + text;
}

}  // namespace

void GlobalFaults::add(const Fault& fault) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::optional<Fault>& best = fault.kind == TrapKind::DataRace ? race_ : undefined_;
  if (!best || before(fault, *best)) best = fault;
}

std::optional<Fault> GlobalFaults::race() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return race_;
}

std::optional<Fault> GlobalFaults::undefined_read() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return undefined_;
}

Fault make_race(const std::vector<CoreId>& cores, const OpTable& ops, const Party& now, Touch touch,
                const Conflict& conflict) {
  Fault f;
  const Stamp p = conflict.prior;
  const Party prior{cores[p.core()], p.pipe(), ops.at(p.op())};
  const bool cross = prior.core.index != now.core.index;
  const bool reading = touch == Touch::Read;
  f.first = prior;
  f.second = now;
  if (!reading && conflict.prior_touch != Touch::Read) {
    f.race = RaceKind::WriteAfterWrite;
    if (cross && now.core.index < prior.core.index) std::swap(f.first, f.second);
  } else if (!cross) {
    f.race = reading ? RaceKind::ReadAfterWrite : RaceKind::WriteAfterRead;
  } else {
    f.race = conflict.after_write ? RaceKind::WriteAfterRead : RaceKind::ReadAfterWrite;
    if (reading == conflict.after_write) std::swap(f.first, f.second);
  }
  f.begin = conflict.begin;
  f.end = conflict.end;
  return f;
}

Trap make_trap(const Fault& f, const std::string& chip, const std::vector<Region>& regions) {
  if (f.kind == TrapKind::DataRace) {
    return Trap(f.kind, race_report(chip, f.race, f.first, f.second, where(f, regions)));
  }
  return Trap(f.kind, headline("UninitialisedRead", chip, f.second) + "reads " + where(f, regions) +
                          ", which nothing wrote before or only "
                          "with results of memory nothing wrote\n  " +
                          describe(f.second));
}

}  // namespace dav
