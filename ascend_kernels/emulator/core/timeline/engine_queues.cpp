#include <algorithm>

#include "core/timeline/engine.h"

namespace dav::timeline {

void Engine::span(CoreState& core, uint32_t record, double start, double end) {
  if (options_.keep_spans) core.out->spans[record] = {start, end};
}

void Engine::busy(CoreState& core, Pipe pipe, double start, double end) {
  PipeState& state = core.pipes[at(pipe)];
  PipeUse& use = core.out->pipes[at(pipe)];
  use.busy += std::max(0.0, end - std::max(start, state.busy_until));
  state.busy_until = std::max(state.busy_until, end);
  use.end = std::max(use.end, end);
  ++use.instructions;
}

void Engine::wake(CoreState& core) {
  if (core.queued || !core.started) return;
  core.queued = true;
  worklist_.push_back(core.index);
}

void Engine::start_block(uint32_t block, double time) {
  for (const uint32_t index : blocks_[block].cores) {
    CoreState& core = cores_[index];
    core.started = true;
    core.s_time = time;
    wake(core);
  }
  const uint32_t successor = block + placement_.places;
  if (blocks_[block].cores.empty() && successor < placement_.blocks) start_block(successor, time);
}

void Engine::finish_if_done(CoreState& core) {
  if (core.finished || core.next < core.trace->records.size()) return;
  double end = core.s_time;
  for (const PipeState& p : core.pipes) {
    if (!p.drained()) return;
    end = std::max({end, p.done_at, p.free_at});
  }
  core.finished = true;
  core.out->cycles = end;
  out_.cycles = std::max(out_.cycles, end);
  BlockState& block = blocks_[core.trace->block];
  block.end = std::max(block.end, end);
  if (--block.running > 0) return;
  const uint32_t successor = core.trace->block + placement_.places;
  if (successor < placement_.blocks) start_block(successor, block.end);
}

void Engine::drain_worklist() {
  while (!worklist_.empty()) {
    CoreState& core = cores_[worklist_.back()];
    worklist_.pop_back();
    core.queued = false;
    for (bool progress = true; progress;) {
      progress = run_scalar(core);
      for (size_t p = at(Pipe::V); p < kPipeCount; ++p) {
        progress |= run_pipe(core, static_cast<Pipe>(p));
      }
    }
    finish_if_done(core);
  }
}

void Engine::raise(CoreState& core, const TraceRecord& r, double time) {
  if (r.type == TraceType::SetFlag) {
    core.flag(r.pipe, r.other, r.id).raise(time);
    return;
  }
  woken_.clear();
  cross_.set(core.index, r.mode, r.id, time, woken_);
  for (uint32_t other : woken_) wake(cores_[other]);
}

bool Engine::scalar_wait(CoreState& core, FlagTimes& flag) {
  if (!flag.raised()) return false;
  const double arrived = core.s_time + costs_.issue;
  core.s_time = std::max(arrived, flag.take());
  core.out->pipes[at(Pipe::S)].wait += core.s_time - arrived;
  span(core, core.next, arrived, core.s_time);
  return true;
}

bool Engine::scalar_barrier(CoreState& core) {
  double drained = core.s_time + costs_.issue;
  const double arrived = drained;
  for (const PipeState& p : core.pipes) {
    if (!p.drained()) return false;
    drained = std::max({drained, p.done_at, p.free_at});
  }
  core.s_time = drained;
  core.out->pipes[at(Pipe::S)].wait += drained - arrived;
  span(core, core.next, arrived, drained);
  return true;
}

// Issues until S is stopped by a full queue, a flag or a barrier.
bool Engine::run_scalar(CoreState& core) {
  const std::vector<TraceRecord>& records = core.trace->records;
  const uint32_t first = core.next;
  for (; core.next < records.size(); ++core.next) {
    const TraceRecord& r = records[core.next];
    const bool own = r.pipe == Pipe::S || r.pipe == Pipe::ALL;
    if (!own) {
      PipeState& p = core.pipes[at(r.pipe)];
      if (p.full()) break;
      core.s_time = std::max(core.s_time, p.left_at[p.pushed % p.ring.size()]) + costs_.issue;
      p.ring[p.pushed % p.ring.size()] = {core.next, core.s_time};
      ++p.pushed;
      if (r.work.unit_flag != 0) core.unit.issued(core.next, r);
    } else if (r.type == TraceType::WaitFlag) {
      if (!scalar_wait(core, core.flag(r.other, r.pipe, r.id))) break;
      continue;
    } else if (r.type == TraceType::CrossWait) {
      if (!scalar_wait(core, cross_.waiting(core.index, r.id))) break;
      continue;
    } else if (r.type == TraceType::Barrier && r.pipe == Pipe::ALL) {
      if (!scalar_barrier(core)) break;
      continue;
    } else {
      core.s_time += costs_.issue;
      span(core, core.next, core.s_time - costs_.issue, core.s_time);
      if (r.type == TraceType::SetFlag || r.type == TraceType::CrossSet) {
        raise(core, r, core.s_time);
      }
    }
    // Handing an instruction over is work of S, whoever executes it.
    busy(core, Pipe::S, core.s_time - costs_.issue, core.s_time);
  }
  return core.next != first;
}

bool Engine::run_pipe(CoreState& core, Pipe pipe) {
  PipeState& state = core.pipes[at(pipe)];
  const uint64_t first = state.popped;
  while (!state.empty()) {
    const Queued entry = state.front();
    if (!step(core, pipe, state, entry)) break;
  }
  return state.popped != first;
}

bool Engine::step(CoreState& core, Pipe pipe, PipeState& state, const Queued& entry) {
  const TraceRecord& r = core.trace->records[entry.record];
  const double start = std::max(state.free_at, entry.ready);
  switch (r.type) {
    case TraceType::Work:
      return step_work(core, pipe, state, entry);
    case TraceType::SetFlag:
    case TraceType::CrossSet:
      if (state.in_flight.empty()) {
        const double time = std::max(start, state.done_at);
        span(core, entry.record, time, time);
        raise(core, r, time);
      } else {
        state.in_flight.back().then.push_back(entry);
      }
      state.pop(start);
      return true;
    case TraceType::WaitFlag:
    case TraceType::CrossWait: {
      FlagTimes& flag = r.type == TraceType::WaitFlag ? core.flag(r.other, r.pipe, r.id)
                                                      : cross_.waiting(core.index, r.id);
      if (!flag.raised()) return false;
      state.free_at = std::max(start, flag.take());
      state.hold.add(start, state.free_at);
      span(core, entry.record, start, state.free_at);
      state.pop(state.free_at);
      return true;
    }
    case TraceType::Barrier: {
      if (!state.in_flight.empty()) return false;
      const double drained = std::max(start, state.done_at);
      state.free_at = drained + (pipe == Pipe::V ? costs_.vector_barrier : costs_.issue);
      state.hold.add(start, state.free_at);
      span(core, entry.record, start, state.free_at);
      state.pop(drained);
      return true;
    }
  }
  return true;
}

// A move inside the core: how long it holds the pipe, and how much later it is complete.
Engine::Cost Engine::local_move(const Work& w) const {
  const double flow = local_move_cycles(costs_, w);
  switch (w.path) {
    case Path::L1ToL0a:
    case Path::L1ToL0b:
    case Path::L1ToBt:
    case Path::L1ToFb: {
      const double hidden = costs_.load_data * costs_.load_data_overlap;
      return {flow + costs_.load_data - hidden, hidden};
    }
    case Path::L0cToL1:
      return {flow, costs_.l0c_out_latency};
    case Path::UbToUb:
    case Path::L0cToUb:
      // Executed by the vector unit, with its start-up.
      return {flow, costs_.vector[static_cast<size_t>(VectorClass::Binary)].fixed};
    default:
      return {flow, costs_.load_data};
  }
}

bool Engine::step_work(CoreState& core, Pipe pipe, PipeState& state, const Queued& entry) {
  const Work& w = core.trace->records[entry.record].work;
  if (w.unit_flag != 0) {
    const double from = core.unit.start(entry.record, core.trace->records[entry.record]);
    if (from < 0) return false;
    state.hold.add(std::max(state.free_at, entry.ready), from);
    state.free_at = std::max(state.free_at, from);
  }
  if (moves_gm(w)) return issue_transfer(core, pipe, state, entry);
  if (!state.in_flight.empty()) return false;
  Cost cost{costs_.issue, 0};
  if (w.kind == WorkKind::Move) {
    cost = local_move(w);
    const bool fill = reads_gm(w.path) || writes_gm(w.path);
    if (!fill) core.out->bytes[static_cast<size_t>(w.path)] += w.bytes;
  } else if (w.kind == WorkKind::Vector) {
    const VectorCycles v = vector_cycles(costs_, w);
    cost = {v.occupancy, v.latency};
  } else if (w.kind == WorkKind::Mmad) {
    cost.occupancy = mmad_cycles(costs_, w);
    core.out->cube_steps += mmad_steps(costs_, w);
  }
  // Behind transfers of global memory, but not behind the latency of other moves.
  const double start = std::max({state.free_at, entry.ready, state.transferred_at});
  const double end = start + cost.occupancy + cost.latency;
  state.free_at = start + cost.occupancy;
  state.done_at = std::max(state.done_at, end);
  core.out->pipes[at(pipe)].wait += state.hold.take(state.busy_until, start);
  busy(core, pipe, start, end);
  span(core, entry.record, start, end);
  state.pop(start);
  if (w.unit_flag != 0) core.unit.ended(entry.record, core.trace->records[entry.record], end);
  return true;
}

bool Engine::issue_transfer(CoreState& core, Pipe pipe, PipeState& state, const Queued& entry) {
  const size_t outstanding = state.transfer_done.size();
  if (state.in_flight.size() >= outstanding) return false;
  // The one this many transfers ago has to be complete.
  const double slot = state.transfer_done[state.transfers % outstanding];
  const double start = std::max({state.free_at, entry.ready, slot});
  const Work& w = core.trace->records[entry.record].work;
  core.out->bytes[static_cast<size_t>(w.path)] += w.bytes;
  Transfer transfer;
  transfer.record = entry.record;
  transfer.issued = start;
  transfer.hold = state.hold;
  state.hold = Hold{};
  state.in_flight.push_back(std::move(transfer));
  ++state.transfers;
  state.free_at = start;
  state.pop(start);
  events_.push({start, owner_of(core, pipe), EventKind::Issue});
  return true;
}

}  // namespace dav::timeline
