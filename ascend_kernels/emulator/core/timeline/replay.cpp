#include "core/timeline/replay.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/timeline/engine.h"

namespace dav::timeline {
namespace {

Placement place(const std::vector<CoreTrace>& traces, const Costs& costs) {
  Placement p;
  bool cube = false;
  for (const CoreTrace& t : traces) {
    p.blocks = std::max(p.blocks, t.block + 1);
    cube |= t.kind != CoreKind::AIV || t.sub_block > 0;
  }
  p.blocks_per_group = cube ? 1 : std::max<uint32_t>(1, costs.aivs_per_group);
  p.places = std::max<uint32_t>(1, costs.groups) * p.blocks_per_group;
  return p;
}

// What a burst that does not start on a full line, or ends inside one, makes of the rate.
double dma_efficiency(const Costs& costs, const Work& w) {
  const auto line = static_cast<uint64_t>(costs.l2_line);
  const uint64_t bursts = std::max<uint32_t>(1, w.bursts);
  const bool dense = bursts == 1 || w.gm_stride == w.bytes / bursts;
  const bool aligned =
      w.gm_addr % line == 0 && (dense || (w.gm_stride % line == 0 && w.bytes / bursts % line == 0));
  return aligned ? 1.0 : costs.dma_unaligned;
}

}  // namespace

Engine::Engine(const std::vector<CoreTrace>& traces, const Costs& costs,
               const ReplayOptions& options, L2Cache& l2)
    : traces_(traces),
      costs_(costs),
      options_(options),
      l2_(l2),
      placement_(place(traces, costs)),
      cores_(traces.size()),
      blocks_(placement_.blocks),
      cross_(traces, costs.cross_flag),
      shared_(costs, placement_.groups()) {
  out_.cores.resize(traces.size());
  const auto depth = static_cast<size_t>(costs.queue_depth);
  for (uint32_t i = 0; i < traces.size(); ++i) {
    CoreState& core = cores_[i];
    core.trace = &traces[i];
    core.out = &out_.cores[i];
    core.index = i;
    core.group = placement_.group_of(traces[i].block);
    blocks_[traces[i].block].cores.push_back(i);
    ++blocks_[traces[i].block].running;
    core.flags.resize(size_t(kPipeCount) * kPipeCount * CoreState::kFlagIds);
    for (PipeState& p : core.pipes) {
      p.ring.resize(depth);
      p.left_at.resize(depth, 0.0);
      p.transfer_done.resize(static_cast<size_t>(costs.dma_outstanding), 0.0);
    }
    core.out->kind = traces[i].kind;
    core.out->block = traces[i].block;
    core.out->sub_block = traces[i].sub_block;
    if (options.keep_spans) core.out->spans.resize(traces[i].records.size());
  }
}

void Engine::on_issue(CoreState& core, Pipe pipe, double now) {
  PipeState& state = core.pipes[at(pipe)];
  auto& queue = state.in_flight;
  const auto place =
      std::find_if(queue.begin(), queue.end(), [](const Transfer& t) { return !t.looked_up; });
  Transfer& t = *place;
  const Work& w = core.trace->records[t.record].work;
  const bool write = writes_gm(w.path);
  const L2Traffic traffic = l2_.access(w, write);
  out_.l2.add(traffic);
  double latency = costs_.read_warm;
  if (write) {
    latency = w.path == Path::L0cToGm ? costs_.l0c_out_latency : costs_.write_latency;
  } else if (traffic.read_miss > 0 && !core.has_fetched) {
    latency = costs_.read_cold;
    core.has_fetched = true;
  }
  t.looked_up = true;
  t.data_from = now + latency;
  t.bytes = double(w.bytes);
  t.fetched = write ? 0 : double(traffic.read_miss);
  t.background = double(traffic.hbm()) - t.fetched;
  t.rate_cap = costs_.path[static_cast<size_t>(w.path)] * dma_efficiency(costs_, w);
  if (w.atomic) t.rate_cap *= costs_.atomic_rate;
  if (place == queue.begin()) {
    core.out->pipes[at(pipe)].wait += t.hold.take(state.busy_until, now);
    events_.push({t.data_from, owner_of(core, pipe), EventKind::Data});
  }
}

void Engine::on_data(CoreState& core, Pipe pipe, double now) {
  const Transfer& t = core.pipes[at(pipe)].in_flight.front();
  const bool write = writes_gm(core.trace->records[t.record].work.path);
  shared_.start(
      now, {owner_of(core, pipe), core.group, write, t.bytes, t.fetched, t.background, t.rate_cap});
}

void Engine::on_end(CoreState& core, Pipe pipe, double now) {
  PipeState& state = core.pipes[at(pipe)];
  Transfer t = std::move(state.in_flight.front());
  state.in_flight.pop_front();
  const size_t outstanding = state.transfer_done.size();
  const uint64_t number = state.transfers - state.in_flight.size() - 1;
  state.transfer_done[number % outstanding] = now;
  state.done_at = std::max(state.done_at, now);
  state.transferred_at = now;
  busy(core, pipe, t.issued, now);
  span(core, t.record, t.issued, now);
  for (const Queued& flag : t.then) {
    const double time = std::max(now, flag.ready);
    span(core, flag.record, time, time);
    raise(core, core.trace->records[flag.record], time);
  }
  if (!state.in_flight.empty() && state.in_flight.front().looked_up) {
    const double from = std::max(now, state.in_flight.front().data_from);
    events_.push({from, owner_of(core, pipe), EventKind::Data});
  }
  const TraceRecord& record = core.trace->records[t.record];
  if (record.work.unit_flag != 0) core.unit.ended(t.record, record, now);
  wake(core);
}

void Engine::check_finished() const {
  for (const CoreState& core : cores_) {
    uint32_t stuck = core.next;
    for (const PipeState& p : core.pipes) {
      if (!p.empty()) stuck = std::min(stuck, p.ring[p.popped % p.ring.size()].record);
    }
    if (stuck >= core.trace->records.size()) continue;
    const TraceRecord& r = core.trace->records[stuck];
    throw std::runtime_error("the trace of block " + std::to_string(core.trace->block) +
                             (core.trace->kind == CoreKind::AIV ? " AIV " : " AIC ") +
                             std::to_string(core.trace->sub_block) + " stops at record " +
                             std::to_string(stuck) + " (" + r.name + " on pipe " +
                             pipe_name(r.pipe) + "): it waits for a flag nobody sets");
  }
}

Timeline Engine::run() {
  for (uint32_t block = 0; block < placement_.blocks && block < placement_.places; ++block) {
    start_block(block, 0);
  }
  drain_worklist();
  while (!events_.empty() || !shared_.idle()) {
    // An end goes before a start at the same time.
    if (events_.empty() || shared_.next_end() <= events_.top().time) {
      const double now = shared_.next_end();
      const uint32_t owner = shared_.finish();
      on_end(cores_[owner / kPipeSlots], static_cast<Pipe>(owner % kPipeSlots), now);
    } else {
      const Event event = events_.top();
      events_.pop();
      CoreState& core = cores_[event.owner / kPipeSlots];
      const auto pipe = static_cast<Pipe>(event.owner % kPipeSlots);
      if (event.kind == EventKind::Issue) {
        on_issue(core, pipe, event.time);
      } else {
        on_data(core, pipe, event.time);
      }
    }
    drain_worklist();
  }
  check_finished();
  out_.groups = placement_.groups();
  const double ramp = costs_.groups > 0 ? std::min(1.0, double(out_.groups) / costs_.groups) : 1.0;
  out_.launch_us = costs_.launch_us + costs_.launch_ramp_us * ramp;
  return std::move(out_);
}

Timeline replay(const std::vector<CoreTrace>& traces, const Costs& costs,
                const ReplayOptions& options) {
  L2Cache l2(costs.l2_bytes, static_cast<uint32_t>(costs.l2_line));
  if (options.warm_l2) {
    ReplayOptions first = options;
    first.keep_spans = false;
    Engine(traces, costs, first, l2).run();
  }
  return Engine(traces, costs, options, l2).run();
}

}  // namespace dav::timeline
