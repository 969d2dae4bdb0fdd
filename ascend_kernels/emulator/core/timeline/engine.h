// The engine behind replay(): queues in program order, transfers of global memory in global time.
//
// Within a core every time is a maximum and a sum over earlier ones in program order, so queues are
// worked off as far as their inputs are known, ahead of global time. Only transfers of global
// memory, whose speed depends on what the other cores do at that moment, go through the event loop.
// Whatever an event makes known lies at or after it, so events never come out of order.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "core/timeline/bandwidth.h"
#include "core/timeline/core_state.h"
#include "core/timeline/replay.h"

namespace dav::timeline {

constexpr size_t at(Pipe p) { return static_cast<size_t>(p); }

enum class EventKind : uint8_t { Issue /* a transfer leaves its queue */, Data /* bytes flow */ };

struct Event {
  double time;
  uint32_t owner;  // core * kPipeSlots + pipe
  EventKind kind;

  // Largest first, as std::priority_queue wants it; owner and kind make the order total.
  bool operator<(const Event& o) const {
    if (time != o.time) return time > o.time;
    if (owner != o.owner) return owner > o.owner;
    return kind > o.kind;
  }
};

class Engine {
 public:
  Engine(const std::vector<CoreTrace>& traces, const Costs& costs, const ReplayOptions& options,
         L2Cache& l2);
  Timeline run();

 private:
  static constexpr uint32_t kPipeSlots = 8;

  static uint32_t owner_of(const CoreState& core, Pipe pipe) {
    return core.index * kPipeSlots + static_cast<uint32_t>(pipe);
  }
  void start_block(uint32_t block, double time);
  void finish_if_done(CoreState& core);
  void wake(CoreState& core);
  void drain_worklist();
  bool run_scalar(CoreState& core);
  bool run_pipe(CoreState& core, Pipe pipe);
  struct Cost {
    double occupancy;
    double latency;
  };
  Cost local_move(const Work& w) const;
  // One entry of a queue; false when something it needs is not known yet.
  bool step(CoreState& core, Pipe pipe, PipeState& state, const Queued& entry);
  bool step_work(CoreState& core, Pipe pipe, PipeState& state, const Queued& entry);
  bool issue_transfer(CoreState& core, Pipe pipe, PipeState& state, const Queued& entry);
  void raise(CoreState& core, const TraceRecord& record, double time);
  bool scalar_wait(CoreState& core, FlagTimes& flag);
  bool scalar_barrier(CoreState& core);
  void span(CoreState& core, uint32_t record, double start, double end);
  void busy(CoreState& core, Pipe pipe, double start, double end);

  void on_issue(CoreState& core, Pipe pipe, double now);
  void on_data(CoreState& core, Pipe pipe, double now);
  void on_end(CoreState& core, Pipe pipe, double now);
  void check_finished() const;

  const std::vector<CoreTrace>& traces_;
  const Costs& costs_;
  const ReplayOptions& options_;
  L2Cache& l2_;
  Timeline out_;
  Placement placement_;
  std::vector<CoreState> cores_;
  std::vector<BlockState> blocks_;
  CrossFlags cross_;
  SharedBandwidth shared_;
  std::priority_queue<Event> events_;
  std::vector<uint32_t> worklist_;
  std::vector<uint32_t> woken_;
};

}  // namespace dav::timeline
