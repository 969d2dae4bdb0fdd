#include "core/timeline/cross_flags.h"

#include <algorithm>

namespace dav::timeline {
namespace {

constexpr uint32_t kAllOfAKind = 0, kAivPair = 1, kSingleAiv = 4;

}  // namespace

CrossFlags::CrossFlags(const std::vector<CoreTrace>& traces, double hand_over)
    : traces_(traces), hand_over_(hand_over), arrived_(traces.size() * kIds) {}

CrossFlags::Meeting CrossFlags::make_meeting(uint32_t core, uint32_t mode) const {
  const CoreTrace& self = traces_[core];
  Meeting meeting;
  for (uint32_t i = 0; i < traces_.size(); ++i) {
    const CoreTrace& other = traces_[i];
    const bool kin = other.kind == self.kind;
    const bool near = other.block == self.block;
    if (mode == kAllOfAKind) {
      if (!kin) continue;
      meeting.members.push_back(i);
      meeting.receivers.push_back(i);
    } else if (mode == kAivPair) {
      if (!kin || !near) continue;
      meeting.members.push_back(i);
      meeting.receivers.push_back(i);
    } else if (near) {
      // AIC to its AIVs and back: all AIVs of the group have to agree before the AIC sees it.
      (kin ? meeting.members : meeting.receivers).push_back(i);
    }
  }
  meeting.set.resize(meeting.members.size());
  return meeting;
}

void CrossFlags::deliver(uint32_t receiver, uint32_t id, double time,
                         std::vector<uint32_t>& woken) {
  waiting(receiver, id).raise(time + hand_over_);
  woken.push_back(receiver);
}

void CrossFlags::set(uint32_t core, uint32_t mode, uint32_t id, double time,
                     std::vector<uint32_t>& woken) {
  const CoreTrace& self = traces_[core];
  if (mode == kSingleAiv) {
    // One AIV at a time; the AIC addresses the second one with ids from 16 on.
    const bool from_cube = self.kind != CoreKind::AIV;
    const uint32_t sub_block = from_cube ? id / 16 : self.sub_block;
    for (uint32_t i = 0; i < traces_.size(); ++i) {
      const CoreTrace& other = traces_[i];
      if (other.block != self.block || other.kind == self.kind) continue;
      if (from_cube && other.sub_block != sub_block) continue;
      deliver(i, from_cube ? id % 16 : id + 16 * sub_block, time, woken);
    }
    return;
  }
  // Kind, mode, id and, unless all groups meet, the group.
  const uint64_t key = (uint64_t(mode == kAllOfAKind ? 0 : self.block + 1) << 16) |
                       (uint64_t(self.kind) << 12) | (uint64_t(mode) << 8) | id;
  auto place = meetings_.find(key);
  if (place == meetings_.end()) place = meetings_.emplace(key, make_meeting(core, mode)).first;
  Meeting& m = place->second;
  const auto self_at = std::find(m.members.begin(), m.members.end(), core) - m.members.begin();
  m.set[static_cast<size_t>(self_at)].raise(time);
  if (!std::all_of(m.set.begin(), m.set.end(), [](const FlagTimes& t) { return t.raised(); })) {
    return;
  }
  double last = 0;
  for (FlagTimes& t : m.set) last = std::max(last, t.take());
  for (uint32_t receiver : m.receivers) deliver(receiver, id, last, woken);
}

}  // namespace dav::timeline
