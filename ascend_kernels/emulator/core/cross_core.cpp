// Cross-core flags, the barriers built from them, and what is said when they do not come.
#include "core/call_site.h"
#include "core/instruction.h"
#include "core/launch_state.h"
#include "core/sync.h"
#include "dav/abi_sync.h"

namespace dav {
namespace {

// API reference: SyncAll takes these four ids.
constexpr uint32_t kSyncAic = 11, kSyncAiv = 12, kSyncAicAiv = 13, kSyncAivOnly = 14;

// Who takes part in a set, and whose counters rise when all of them have set.
struct Target {
  Rendezvous* rendezvous = nullptr;
  size_t member = 0;
  bool all = false;  // mode 0: counters of every group
  std::vector<Core*> receivers;
};

size_t at(uint32_t id) { return id; }

void record(Core& core, TraceType type, int mode, Pipe pipe, uint32_t id, const char* name,
            uint32_t site) {
  if (core.trace == nullptr) return;
  TraceRecord r;
  r.type = type;
  r.pipe = pipe;
  r.other = pipe;
  r.id = static_cast<uint8_t>(id);
  r.mode = static_cast<uint8_t>(mode);
  r.name = name;
  r.site = site;
  core.trace->records.push_back(r);
}

void check_use(Core& core, const char* name, Pipe pipe, uint32_t id) {
  if (!core.chip().has(Feature::CrossCoreFlags)) {
    core.trap(TrapKind::UnsupportedOp, pipe, name, "this chip has no cross-core flags");
  }
  const KernelType type = core.launch().spec().type;
  if (type == KernelType::AivOnly || type == KernelType::AicOnly) {
    core.trap(TrapKind::UnsupportedOp, pipe, name,
              "cross-core flags do not work in a kernel of type %s: declare a MIX type",
              type == KernelType::AivOnly ? "AIV_ONLY" : "AIC_ONLY");
  }
  if (id >= kCrossFlags) {
    core.trap(TrapKind::FlagMisuse, pipe, name, "flag id %u, allowed are 0 to 15", id);
  }
}

Target target_of(LaunchState& launch, Core& core, int mode, uint32_t id) {
  Group& group = launch.group_of(core);
  const bool aiv = core.kind() == CoreKind::AIV;
  Target t;
  if (mode == 0) {
    t.all = true;
    t.rendezvous = aiv ? &launch.all_aivs[at(id)] : &launch.all_aics[at(id)];
    t.member = aiv ? core.id().block * group.aivs.size() + core.id().sub_block : core.id().block;
    for (const auto& g : launch.groups()) {
      if (aiv) {
        t.receivers.insert(t.receivers.end(), g->aivs.begin(), g->aivs.end());
      } else {
        t.receivers.push_back(g->aic);
      }
    }
  } else if (mode == 1) {
    t.rendezvous = &group.among_aivs[at(id)];
    t.member = core.id().sub_block;
    t.receivers = group.aivs;
  } else if (aiv) {
    t.rendezvous = &group.aivs_to_aic[at(id)];
    t.member = core.id().sub_block;
    t.receivers = {group.aic};
  } else {
    t.rendezvous = &group.aic_to_aivs[at(id)];
    t.receivers = group.aivs;
  }
  return t;
}

void check_mode(Core& core, int mode, Pipe pipe) {
  const LaunchState& launch = core.launch();
  const KernelType type = launch.spec().type;
  const bool mixed = type == KernelType::MixAic11 || type == KernelType::MixAic12;
  if (mode < 0 || mode > 2) {
    core.trap(TrapKind::FlagMisuse, pipe, "CrossCoreSetFlag",
              "mode %d, this chip has modes 0, 1 and 2", mode);
  }
  if (pipe == Pipe::S || pipe == Pipe::ALL) {
    core.trap(TrapKind::FlagMisuse, pipe, "CrossCoreSetFlag", "the source pipe may not be PIPE_%s",
              to_string(pipe));
  }
  if (!core.has_pipe(pipe)) {
    core.trap(TrapKind::UnsupportedOp, pipe, "CrossCoreSetFlag", "%s has no pipe %s",
              to_string(core.kind()), to_string(pipe));
  }
  if (mode != 0 && !mixed) {
    core.trap(TrapKind::FlagMisuse, pipe, "CrossCoreSetFlag",
              "mode %d needs a kernel of type MIX_AIC_1_1 or MIX_AIC_1_2", mode);
  }
  if (mode == 1 && core.kind() != CoreKind::AIV) {
    core.trap(TrapKind::FlagMisuse, pipe, "CrossCoreSetFlag",
              "mode 1 synchronises the AIVs of a group, not the AIC");
  }
  if (mode == 0 && !launch.all_resident()) {
    core.trap(TrapKind::FlagMisuse, pipe, "CrossCoreSetFlag",
              "mode 0 waits for all blocks, but block_dim %u exceeds what the chip runs at once",
              launch.spec().block_dim);
  }
}

bool receivers_have_room(LaunchState& launch, const Target& t, uint32_t id, const Group* held) {
  for (Core* receiver : t.receivers) {
    Group& group = launch.group_of(*receiver);
    std::unique_lock<std::mutex> lock(group.mutex, std::defer_lock);
    if (&group != held) lock.lock();
    if (receiver->cross[at(id)].size() >= kCrossLimit) return false;
  }
  return true;
}

void deliver(LaunchState& launch, const Target& t, uint32_t id, const CrossArrival& arrival,
             const Group* held) {
  for (Core* receiver : t.receivers) {
    Group& group = launch.group_of(*receiver);
    {
      std::unique_lock<std::mutex> lock(group.mutex, std::defer_lock);
      if (&group != held) lock.lock();
      receiver->cross[at(id)].push_back(arrival);
      receiver->runnable.store(true, std::memory_order_release);
    }
    if (&group != held) launch.wake(*group.worker);
  }
}

// Room was made: whoever was held back by a limit may try again. all_mutex held, so that a setter
// that is about to block has either done so or will see the room.
void release_setters(LaunchState& launch, const Core& by) {
  for (const auto& core : launch.cores()) {
    if (core.get() == &by || core->blocked.on.load() != Blocked::On::CrossSet) continue;
    core->runnable.store(true, std::memory_order_release);
    launch.wake(*launch.group_of(*core).worker);
  }
}

// One attempt at a set. False when a counter or the core's own outstanding sets are at their limit.
bool try_set(LaunchState& launch, Core& core, int mode, Target& t, uint32_t id, Pipe pipe,
             uint32_t site, bool* made_room) {
  Rendezvous::Member& self = t.rendezvous->members[t.member];
  Group& own = launch.group_of(core);
  const Group* held = t.all ? nullptr : &own;
  if (self.sets.size() >= kCrossLimit || !receivers_have_room(launch, t, id, held)) return false;
  Tracker* tracker = core.tracker;
  const uint64_t ticket =
      tracker == nullptr ? 0
                         : tracker->cross_set(core.id(), pipe, mode, static_cast<int>(id), site);
  self.sets.push_back({ticket, &core, site});
  std::vector<CrossSet> sets;
  if (!t.rendezvous->complete(&sets)) return true;
  CrossArrival arrival;
  arrival.mode = mode;
  arrival.sets = std::make_shared<const std::vector<CrossSet>>(std::move(sets));
  deliver(launch, t, id, arrival, held);
  *made_room = t.rendezvous->members.size() > 1;
  return true;
}

}  // namespace

void cross_core_set(int mode, Pipe pipe, uint32_t id) {
  Core& core = current_core();
  core.charge();
  check_use(core, "CrossCoreSetFlag", pipe, id);
  check_mode(core, mode, pipe);
  LaunchState& launch = core.launch();
  const uint32_t site = capture_site();
  Target t = target_of(launch, core, mode, id);
  bool made_room = false;
  std::mutex& mutex = t.all ? launch.all_mutex : launch.group_of(core).mutex;
  for (bool hinted = false;; hinted = true) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (try_set(launch, core, mode, t, id, pipe, site, &made_room)) break;
      core.blocked.id = static_cast<int>(id);
      core.blocked.mode = mode;
      core.blocked.site = site;
      core.runnable.store(false);
      core.blocked.on.store(Blocked::On::CrossSet);
      launch.held_back.store(true);
    }
    if (!hinted) {
      launch.hint("cross-core flag " + std::to_string(id) + ", mode " + std::to_string(mode) +
                  ": sets ran 15 ahead of the waits; the counter of the hardware overflows there "
                  "unless the waiting core happens to be fast enough");
    }
    launch.suspend(core);
    core.blocked.on.store(Blocked::On::Nothing);
  }
  if (made_room && launch.held_back.load(std::memory_order_relaxed)) {
    std::lock_guard<std::mutex> lock(launch.all_mutex);
    release_setters(launch, core);
  }
  record(core, TraceType::CrossSet, mode, pipe, id, "CrossCoreSetFlag", site);
}

void cross_core_wait(int mode, Pipe pipe, uint32_t id) {
  Core& core = current_core();
  core.charge();
  check_use(core, "CrossCoreWaitFlag", pipe, id);
  LaunchState& launch = core.launch();
  const uint32_t site = core.tracker != nullptr || core.trace != nullptr ? capture_site() : 0;
  CrossArrival arrival;
  bool was_full = false;
  for (;;) {
    {
      std::lock_guard<std::mutex> lock(launch.group_of(core).mutex);
      auto& queue = core.cross[at(id)];
      if (!queue.empty()) {
        was_full = queue.size() >= kCrossLimit;
        arrival = std::move(queue.front());
        queue.erase(queue.begin());
        break;
      }
      core.blocked.id = static_cast<int>(id);
      core.blocked.mode = mode;
      core.blocked.site = site != 0 ? site : capture_site();
      core.runnable.store(false);
      core.blocked.on.store(Blocked::On::CrossWait);
    }
    launch.suspend(core);
    core.blocked.on.store(Blocked::On::Nothing);
  }
  if (was_full) {
    std::lock_guard<std::mutex> lock(launch.all_mutex);
    release_setters(launch, core);
  }
  if (core.tracker != nullptr) {
    std::vector<uint64_t> tickets;
    for (const CrossSet& set : *arrival.sets) tickets.push_back(set.ticket);
    core.tracker->cross_wait(core.id(), pipe, arrival.mode, static_cast<int>(id), tickets, site);
  }
  record(core, TraceType::CrossWait, arrival.mode, pipe, id, "CrossCoreWaitFlag", site);
}

// API reference: the AIC waits for its AIVs, the AICs for each other, the AIVs for their AIC.
void sync_all(bool aiv_only) {
  Core& core = current_core();
  pipe_barrier(Pipe::ALL);
  if (aiv_only) {
    if (core.kind() != CoreKind::AIV) return;
    cross_core_set(0, Pipe::MTE3, kSyncAivOnly);
    cross_core_wait(0, Pipe::S, kSyncAivOnly);
  } else if (core.kind() == CoreKind::AIC) {
    cross_core_wait(2, Pipe::S, kSyncAiv);
    cross_core_set(0, Pipe::FIX, kSyncAic);
    cross_core_wait(0, Pipe::S, kSyncAic);
    cross_core_set(2, Pipe::MTE3, kSyncAicAiv);
  } else {
    cross_core_set(2, Pipe::MTE3, kSyncAiv);
    cross_core_wait(2, Pipe::S, kSyncAicAiv);
  }
}

}  // namespace dav
