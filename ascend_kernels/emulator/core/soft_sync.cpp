// Barriers and events that real kernels build from polling global memory. The polling is replaced
// by blocking; the words in global memory are kept as the hardware leaves them, so that a workspace
// that was not cleared misbehaves here too.
#include <cstring>

#include "core/call_site.h"
#include "core/instruction.h"
#include "core/launch_state.h"
#include "dav/abi_sync.h"

namespace dav {
namespace {

constexpr uint64_t kWord = 32;  // one 32-byte block per core

int32_t* word(uint64_t gm_workspace, int64_t index, const char* name) {
  Instruction i(Pipe::S, name);
  return reinterpret_cast<int32_t*>(
      i.span(Buffer::GM, gm_workspace + static_cast<uint64_t>(index) * kWord, kWord));
}

// AIVs that take part when the kernel names no number.
int64_t participants(const Core& core, bool aiv_only) {
  return aiv_only ? block_num() : block_num() * core.sub_blocks;
}

void meet(Core& core, uint32_t site) {
  if (core.tracker != nullptr) core.tracker->pipe_barrier(core.id(), Pipe::ALL, site);
}

// Real cores count how often each has come, from what the workspace held.
void require_equal_words(const Core& core, uint64_t gm_workspace, int64_t count) {
  const int32_t first = *word(gm_workspace, 0, "SyncAll");
  for (int64_t i = 1; i < count; ++i) {
    const int32_t other = *word(gm_workspace, i, "SyncAll");
    if (other == first) continue;
    core.trap(TrapKind::IllegalArgument, Pipe::S, "SyncAll",
              "core 0 has come %d times, core %lld %d times: gmWorkspace was not zero", first,
              static_cast<long long>(i), other);
  }
}

void require_event(const Core& core, const char* name, int32_t block, int32_t event, int64_t most) {
  if (block >= 0 && block < most && event >= 0) return;
  core.trap(TrapKind::IllegalArgument, Pipe::S, name,
            "blockIdx is %d and eventID %d, allowed are 0 to %lld and from 0", block, event,
            static_cast<long long>(most - 1));
}

// The cycle model sees a mode 0 flag under an id no kernel can use.
void trace_meeting(Core& core, uint32_t site) {
  if (core.trace == nullptr) return;
  TraceRecord r;
  r.pipe = r.other = Pipe::S;
  r.id = 31;
  r.name = "SyncAll";
  r.site = site;
  for (const TraceType type : {TraceType::CrossSet, TraceType::CrossWait}) {
    r.type = type;
    core.trace->records.push_back(r);
  }
}

}  // namespace

void sync_workspace(const char* name, Local ub, uint64_t have, uint64_t need) {
  if (current_core().kind() == CoreKind::AIC) return;
  pipe_barrier(Pipe::ALL);
  Instruction in(Pipe::S, name);
  if (ub.buffer != Buffer::UB) {
    in.trap(TrapKind::UnsupportedPath, "ubWorkspace lies in %s", to_string(ub.buffer));
  }
  in.require_aligned(Buffer::UB, ub.addr, kWord, "ubWorkspace");
  if (have < need) {
    in.trap(TrapKind::IllegalArgument, "ubWorkspace has %llu bytes, it takes %llu",
            static_cast<unsigned long long>(have), static_cast<unsigned long long>(need));
  }
  std::memset(in.write(Buffer::UB, ub.addr, need), 0, need);
}

void soft_sync_all(uint64_t gm_workspace, int32_t used, bool aiv_only) {
  Core& core = current_core();
  core.charge();
  if (core.kind() == CoreKind::AIC) return;
  LaunchState& launch = core.launch();
  const int64_t count = used > 0 ? used : participants(core, aiv_only);
  if (!launch.all_resident()) {
    core.trap(TrapKind::FlagMisuse, Pipe::S, "SyncAll",
              "waits for all blocks, but block_dim %u exceeds what the chip runs at once",
              launch.spec().block_dim);
  }
  const int64_t most = block_num() * core.sub_blocks;
  if (used < 0 || used > most) {
    core.trap(TrapKind::IllegalArgument, Pipe::S, "SyncAll", "usedCores is %d, there are %lld",
              used, static_cast<long long>(most));
  }
  if (block_idx() >= count) {
    core.trap(TrapKind::IllegalArgument, Pipe::S, "SyncAll",
              "core %lld does not belong to the first %lld that usedCores names",
              static_cast<long long>(block_idx()), static_cast<long long>(count));
  }
  word(gm_workspace, count - 1, "SyncAll");  // traps where the workspace is too small
  ++*word(gm_workspace, block_idx(), "SyncAll");
  const uint32_t site = capture_site();
  pipe_barrier(Pipe::ALL);
  if (count == participants(core, aiv_only)) trace_meeting(core, site);
  std::shared_ptr<const std::vector<uint64_t>> released;
  auto& barrier = launch.soft_barrier;
  std::unique_lock<std::mutex> lock(launch.all_mutex);
  const uint64_t round = barrier.round;
  barrier.tickets.push_back(
      core.tracker == nullptr ? 0 : core.tracker->cross_set(core.id(), Pipe::MTE3, 0, 0, site));
  barrier.arrived.push_back(&core);
  if (static_cast<int64_t>(barrier.arrived.size()) == count) {
    require_equal_words(core, gm_workspace, count);
    barrier.released = std::make_shared<const std::vector<uint64_t>>(std::move(barrier.tickets));
    barrier.tickets.clear();
    ++barrier.round;
    for (Core* other : barrier.arrived) {
      other->runnable.store(true, std::memory_order_release);
      if (other != &core) launch.wake(*launch.group_of(*other).worker);
    }
    barrier.arrived.clear();
    released = barrier.released;
  }
  while (barrier.round == round) {
    core.blocked.site = site;
    core.runnable.store(false);
    core.blocked.on.store(Blocked::On::SoftBarrier);
    lock.unlock();
    launch.suspend(core);
    core.blocked.on.store(Blocked::On::Nothing);
    lock.lock();
  }
  // Nobody can complete the next round before every core of this one has left it.
  released = barrier.released;
  lock.unlock();
  if (core.tracker != nullptr) {
    core.tracker->cross_wait(core.id(), Pipe::S, 0, 0, *released, site);
  }
  meet(core, site);
}

void ib_set(uint64_t gm_workspace, int32_t block, int32_t event, bool aiv_only) {
  Core& core = current_core();
  if (core.kind() == CoreKind::AIC) return;
  pipe_barrier(Pipe::ALL);
  require_event(core, "IBSet", block, event, participants(core, aiv_only));
  int32_t* slot = word(gm_workspace, participants(core, aiv_only) * event + block, "IBSet");
  LaunchState& launch = core.launch();
  for (;;) {
    {
      std::lock_guard<std::mutex> lock(launch.all_mutex);
      if (*slot == 0) {
        if (core.tracker != nullptr) {
          launch.ib_tickets[slot] =
              core.tracker->cross_set(core.id(), Pipe::MTE3, 0, 0, capture_site());
        }
        *slot = 1;
        break;
      }
    }
    poll();
  }
  pipe_barrier(Pipe::ALL);
}

void ib_wait(uint64_t gm_workspace, int32_t block, int32_t event, bool aiv_only) {
  Core& core = current_core();
  if (core.kind() == CoreKind::AIC) return;
  pipe_barrier(Pipe::ALL);
  require_event(core, "IBWait", block, event, participants(core, aiv_only));
  int32_t* slot = word(gm_workspace, participants(core, aiv_only) * event + block, "IBWait");
  LaunchState& launch = core.launch();
  for (;;) {
    std::vector<uint64_t> tickets;
    {
      std::lock_guard<std::mutex> lock(launch.all_mutex);
      if (*slot == 1) {
        *slot = 0;
        if (core.tracker != nullptr) tickets.push_back(launch.ib_tickets[slot]);
        if (core.tracker != nullptr) {
          core.tracker->cross_wait(core.id(), Pipe::S, 0, 0, tickets, capture_site());
        }
        break;
      }
    }
    poll();
  }
  pipe_barrier(Pipe::ALL);
}

}  // namespace dav
