// In-core synchronisation: flags, barriers, event ids.
#include "core/sync.h"

#include "core/call_site.h"
#include "core/core.h"
#include "core/instruction.h"
#include "dav/abi_sync.h"

namespace dav {
namespace {

size_t at(Pipe p) { return static_cast<size_t>(p); }

uint32_t site_of(const Core& core) {
  return core.tracker != nullptr || core.trace != nullptr ? capture_site() : 0;
}

void check_flag(const Core& core, const char* name, Pipe src, Pipe dst, int32_t id) {
  if (src == Pipe::ALL || dst == Pipe::ALL) {
    core.trap(TrapKind::FlagMisuse, src, name, "a flag connects two pipes, not ALL");
  }
  if (!core.has_pipe(src) || !core.has_pipe(dst)) {
    core.trap(TrapKind::UnsupportedOp, core.has_pipe(src) ? dst : src, name,
              "flag %s to %s: %s has no pipe %s", to_string(src), to_string(dst),
              to_string(core.kind()), to_string(core.has_pipe(src) ? dst : src));
  }
  if (id < 0 || id >= static_cast<int32_t>(core.chip().event_ids)) {
    core.trap(TrapKind::FlagMisuse, src, name, "event id %d of %s to %s, allowed are 0 to %u", id,
              to_string(src), to_string(dst), core.chip().event_ids - 1);
  }
}

void record(Core& core, TraceType type, Pipe pipe, Pipe other, int id, const char* name,
            uint32_t site) {
  if (core.trace == nullptr) return;
  TraceRecord r;
  r.type = type;
  r.pipe = pipe;
  r.other = other;
  r.id = static_cast<uint8_t>(id);
  r.name = name;
  r.site = site;
  core.trace->records.push_back(r);
}

}  // namespace

void set_flag(Pipe src, Pipe dst, int32_t id) {
  Core& core = current_core();
  core.charge();
  check_flag(core, "SetFlag", src, dst, id);
  uint8_t& bits = core.flags[at(src)][at(dst)];
  const auto bit = static_cast<uint8_t>(1u << id);
  if ((bits & bit) != 0) {
    core.trap(TrapKind::FlagMisuse, src, "SetFlag",
              "flag %s to %s id %d is set a second time before a wait", to_string(src),
              to_string(dst), id);
  }
  bits |= bit;
  const uint32_t site = site_of(core);
  if (core.tracker != nullptr) core.tracker->set_flag(core.id(), src, dst, id, site);
  record(core, TraceType::SetFlag, src, dst, id, "SetFlag", site);
}

void wait_flag(Pipe src, Pipe dst, int32_t id) {
  Core& core = current_core();
  core.charge();
  check_flag(core, "WaitFlag", src, dst, id);
  uint8_t& bits = core.flags[at(src)][at(dst)];
  const auto bit = static_cast<uint8_t>(1u << id);
  if ((bits & bit) == 0) {
    core.trap(TrapKind::FlagMisuse, dst, "WaitFlag",
              "waits for flag %s to %s id %d, which nothing has set", to_string(src),
              to_string(dst), id);
  }
  bits = static_cast<uint8_t>(bits & ~bit);
  const uint32_t site = site_of(core);
  if (core.tracker != nullptr) core.tracker->wait_flag(core.id(), src, dst, id, site);
  record(core, TraceType::WaitFlag, dst, src, id, "WaitFlag", site);
}

void pipe_barrier(Pipe pipe) {
  Core& core = current_core();
  core.charge();
  if (pipe == Pipe::S) {
    core.trap(TrapKind::FlagMisuse, pipe, "PipeBarrier",
              "takes no PIPE_S: the scalar unit is in order");
  }
  if (pipe != Pipe::ALL && !core.has_pipe(pipe)) {
    core.trap(TrapKind::UnsupportedOp, pipe, "PipeBarrier", "%s has no pipe %s",
              to_string(core.kind()), to_string(pipe));
  }
  const uint32_t site = site_of(core);
  if (core.tracker != nullptr) core.tracker->pipe_barrier(core.id(), pipe, site);
  record(core, TraceType::Barrier, pipe, pipe, 0, "PipeBarrier", site);
}

void data_sync_barrier() { current_core().charge(); }

int32_t fetch_event_id(Pipe src, Pipe dst) {
  Core& core = current_core();
  const uint8_t taken = core.events[at(src)][at(dst)];
  for (uint32_t id = 0; id < core.chip().event_ids; ++id) {
    if ((taken >> id & 1) == 0) return static_cast<int32_t>(id);
  }
  return -1;
}

int32_t alloc_event_id(Pipe src, Pipe dst) {
  const int32_t id = fetch_event_id(src, dst);
  if (id >= 0) {
    current_core().events[at(src)][at(dst)] |= static_cast<uint8_t>(1u << id);
  }
  return id;
}

void release_event_id(Pipe src, Pipe dst, int32_t id) {
  Core& core = current_core();
  uint8_t& taken = core.events[at(src)][at(dst)];
  if (id < 0 || id >= static_cast<int32_t>(core.chip().event_ids) || (taken >> id & 1) == 0) {
    core.trap(TrapKind::Unbalanced, src, "ReleaseEventID",
              "event id %d of %s to %s is released but was not allocated", id, to_string(src),
              to_string(dst));
  }
  taken = static_cast<uint8_t>(taken & ~(1u << id));
}

void end_core(Core& core) {
  // The tracker knows where a set was.
  if (core.tracker != nullptr) core.tracker->core_end(core.id());
  for (int src = 0; src < kPipeCount; ++src) {
    for (int dst = 0; dst < kPipeCount; ++dst) {
      for (uint32_t id = 0; id < core.chip().event_ids; ++id) {
        if ((core.flags[src][dst] >> id & 1) == 0) continue;
        const auto from = static_cast<Pipe>(src);
        const std::string message = std::string("flag ") + to_string(from) + " to " +
                                    to_string(static_cast<Pipe>(dst)) + " id " +
                                    std::to_string(id) + " is still set: a SetFlag has no WaitFlag";
        // No call site: the kernel's code has returned.
        throw Trap(TrapKind::FlagMisuse,
                   trap_report(TrapKind::FlagMisuse, core, from, "end of kernel", 0, message));
      }
    }
  }
}

}  // namespace dav
