// One core while it is replayed: the scalar unit's place in the program and the six queues it
// feeds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/timeline/cross_flags.h"
#include "core/timeline/replay.h"
#include "core/timeline/unit_order.h"

namespace dav::timeline {

// An instruction in a queue; `ready` is when S put it there.
struct Queued {
  uint32_t record;
  double ready;
};

// When flags and barriers held a pipe back since its last instruction.
struct Hold {
  double from = 0, until = 0;

  void add(double start, double end) {
    if (until <= from) from = start;
    until = std::max(until, end);
  }
  // The part of it in which the pipe had nothing else to do; starts afresh.
  double take(double busy_until, double start) {
    const double idle = std::min(start, until) - std::max(from, busy_until);
    *this = Hold{};
    return std::max(0.0, idle);
  }
};

// A transfer of global memory that has left its queue.
struct Transfer {
  uint32_t record = 0;
  double issued = 0;
  double data_from = 0;  // latency over, bytes may flow
  double bytes = 0, fetched = 0, background = 0, rate_cap = 0;
  bool looked_up = false;
  Hold hold;
  // Flags queued behind it, raised when it completes.
  std::vector<Queued> then;
};

// The queue in front of one pipe, and the pipe. Times in cycles.
struct PipeState {
  std::vector<Queued> ring;
  std::vector<double> left_at;  // when the entry in that slot of the ring left the queue
  uint64_t pushed = 0, popped = 0;
  double free_at = 0;  // the next instruction may begin
  double done_at = 0;  // everything known to be finished is finished
  double busy_until = 0;
  Hold hold;
  uint64_t transfers = 0;             // GM transfers issued so far
  double transferred_at = 0;          // the last of them that is complete was so then
  std::vector<double> transfer_done;  // completion of the last dma_outstanding ones
  std::deque<Transfer> in_flight;

  bool empty() const { return pushed == popped; }
  bool full() const { return pushed - popped == ring.size(); }
  bool drained() const { return empty() && in_flight.empty(); }
  Queued& front() { return ring[popped % ring.size()]; }
  void pop(double time) {
    left_at[popped % ring.size()] = time;
    ++popped;
  }
};

struct CoreState {
  const CoreTrace* trace = nullptr;
  CoreTimeline* out = nullptr;
  uint32_t index = 0;
  uint32_t group = 0;
  uint32_t next = 0;  // S: record to issue
  double s_time = 0;
  bool queued = false;  // on the list of cores to look at
  bool started = false, finished = false;
  bool has_fetched = false;  // something from HBM
  std::array<PipeState, kPipeCount> pipes;
  std::vector<FlagTimes> flags;  // by setting pipe, waiting pipe, id
  UnitOrder unit;

  static constexpr uint32_t kFlagIds = 16;
  FlagTimes& flag(Pipe from, Pipe to, uint32_t id) {
    const auto pair = static_cast<uint32_t>(from) * kPipeCount + static_cast<uint32_t>(to);
    return flags[pair * kFlagIds + id % kFlagIds];
  }
};

// Where blocks run. A chip holds so many at once; a block beyond that follows the one whose place
// it takes. Places are handed out in turn [L]: how the hardware's scheduler picks is not published.
struct Placement {
  uint32_t blocks = 0;            // of the launch
  uint32_t places = 0;            // blocks at once
  uint32_t blocks_per_group = 1;  // AIVs without a cube: two blocks in a group
  uint32_t group_of(uint32_t block) const { return block % places / blocks_per_group; }
  uint32_t groups() const {
    return (std::min(blocks, places) + blocks_per_group - 1) / blocks_per_group;
  }
};

struct BlockState {
  std::vector<uint32_t> cores;
  uint32_t running = 0;
  double end = 0;
};

}  // namespace dav::timeline
