// Running a launch: workers resume the fibers of their groups until all have ended, or sleep until
// another worker's core sets a flag.
#include <algorithm>
#include <chrono>
#include <thread>

#include "core/containment.h"
#include "core/launch_state.h"
#include "core/sync.h"

namespace dav {
namespace {

// How long cores may poll after another one failed, before nobody is left to answer; and how often
// they look meanwhile.
constexpr std::chrono::milliseconds kPatience{100}, kNap{1};

bool all_finished(const Group& group) {
  return std::all_of(group.cores.begin(), group.cores.end(),
                     [](const Core* c) { return c->finished.load(); });
}

}  // namespace

LaunchResult LaunchState::run() {
  std::vector<std::thread> threads;
  for (size_t i = 1; i < workers_.size(); ++i) {
    threads.emplace_back([this, i] { work(*workers_[i]); });
  }
  work(*workers_[0]);
  for (std::thread& t : threads) t.join();

  try {
    if (failure_ == nullptr) check_left_over(*this);
    // A race found on the way is the better explanation of a core that trapped or is blocked.
    if (tracker_ != nullptr) tracker_->launch_end();
  } catch (...) {
    failure_ = std::current_exception();
  }
  if (failure_ != nullptr) std::rethrow_exception(failure_);

  LaunchResult result;
  result.hints = hints_;
  if (tracker_ != nullptr) {
    for (std::string& h : tracker_->hints()) result.hints.push_back(std::move(h));
  }
  for (const auto& core : cores_) result.instructions += budget_ - core->budget_left;
  for (const auto& trace : traces_) result.traces.push_back(std::move(*trace));
  return result;
}

void LaunchState::work(Worker& worker) {
  ThreadContainment containment;
  std::vector<Group*> active;
  size_t next = 0;
  auto busy_at = std::chrono::steady_clock::now();
  for (;;) {
    const uint64_t seen = wakes_of(worker);
    worker.seen_activity = activity_.load();
    while (active.size() < active_groups_ && next < worker.groups.size() && !stopping()) {
      active.push_back(worker.groups[next++]);
    }
    if (active.empty()) break;
    bool progress = false, busy = false;
    for (Group* group : active) {
      for (Core* core : group->cores) {
        if (!step(*core)) continue;
        progress = true;
        busy = busy || !core->polled || core->finished.load(std::memory_order_relaxed);
      }
    }
    const auto ended = std::remove_if(active.begin(), active.end(),
                                      [](const Group* g) { return all_finished(*g); });
    active.erase(ended, active.end());
    if (!progress && !stopping()) sleep(worker, seen);
    if (!failed_.load(std::memory_order_relaxed)) continue;
    if (busy) {
      activity_.fetch_add(1);
      busy_at = std::chrono::steady_clock::now();
    } else if (progress && std::chrono::steady_clock::now() - busy_at > kPatience) {
      nap(worker, seen);
    }
  }
  std::lock_guard<std::mutex> lock(sleep_mutex_);
  ++ended_;
  if (asleep_ != 0 && all_quiet()) deadlock();
}

// Runs the core until it blocks or ends. False when there was nothing to run.
bool LaunchState::step(Core& core) {
  if (core.finished.load(std::memory_order_relaxed)) return false;
  if (!core.started()) {
    if (core.stopped.load(std::memory_order_relaxed)) {
      core.finished.store(true);
      return true;
    }
    try {
      core.locals.start(core.kind() == CoreKind::AIV ? aiv_locals_ : aic_locals_);
      core.start([this, &core] { run_core(core); },
                 [this, &core](const Crash& crash) {
                   const Trap trap = crash_trap(core, crash);
                   if (crash.signal == 0 && core.told_to_stop) return;
                   fail(core, std::make_exception_ptr(trap),
                        trap.kind() == TrapKind::BudgetExceeded);
                 });
    } catch (...) {
      fail(core, std::current_exception());
      core.finished.store(true);
      return true;
    }
  }
  if (!core.runnable.load(std::memory_order_acquire) &&
      !core.stopped.load(std::memory_order_relaxed)) {
    return false;
  }
  core.polled = false;
  core.locals.switch_in();
  set_core(&core);
  core.fiber().resume();
  set_core(nullptr);
  core.locals.switch_out();
  if (core.fiber().done()) {
    core.end();
    core.finished.store(true);
  }
  return true;
}

void LaunchState::run_core(Core& core) {
  try {
    void** args = const_cast<void**>(spec_.args.data());
    (core.kind() == CoreKind::AIV ? spec_.aiv : spec_.aic)(args);
    end_core(core);
  } catch (const Stopped&) {
  } catch (const Trap& trap) {
    fail(core, std::current_exception(), trap.kind() == TrapKind::BudgetExceeded);
  } catch (const std::exception& e) {
    fail(core, std::make_exception_ptr(foreign_exception(core, e.what())));
  } catch (...) {
    fail(core,
         std::make_exception_ptr(foreign_exception(core, "of a type that is no std::exception")));
  }
}

uint64_t LaunchState::wakes_of(Worker& worker) {
  std::lock_guard<std::mutex> lock(sleep_mutex_);
  return worker.wakes;
}

void LaunchState::suspend(Core& core) {
  core.fiber().suspend();
  if (!core.stopped.load(std::memory_order_relaxed)) return;
  core.told_to_stop = true;
  throw Stopped{};
}

void LaunchState::yield(Core& core) {
  core.polled = true;
  suspend(core);
  std::this_thread::yield();
}

void LaunchState::sleep(Worker& worker, uint64_t seen) {
  std::unique_lock<std::mutex> lock(sleep_mutex_);
  if (worker.wakes != seen || stopping()) return;
  worker.asleep = true;
  ++asleep_;
  if (all_quiet()) {
    deadlock();
    return;
  }
  worker.condition.wait(lock, [&worker] { return !worker.asleep; });
}

void LaunchState::nap(Worker& worker, uint64_t seen) {
  std::unique_lock<std::mutex> lock(sleep_mutex_);
  if (worker.wakes != seen || stopping()) return;
  worker.asleep = worker.napping = true;
  ++asleep_;
  if (all_quiet()) {
    deadlock();
  } else {
    worker.condition.wait_for(lock, kNap, [&worker] { return !worker.asleep; });
  }
  worker.napping = false;
  if (!worker.asleep) return;
  worker.asleep = false;
  --asleep_;
}

// Who naps has to have looked at what the others did last.
bool LaunchState::all_quiet() const {
  if (asleep_ + ended_ != workers_.size()) return false;
  const uint64_t activity = activity_.load();
  return std::all_of(workers_.begin(), workers_.end(), [activity](const auto& w) {
    return !w->asleep || !w->napping || w->seen_activity == activity;
  });
}

// Everybody sleeps, so nothing changes while the report is made.
void LaunchState::deadlock() {
  {
    std::lock_guard<std::mutex> failure(failure_mutex_);
    if (failure_ == nullptr) failure_ = std::make_exception_ptr(deadlock_trap(*this));
  }
  stop_.store(true, std::memory_order_relaxed);
  for (const auto& core : cores_) stop(*core);
  for (const auto& worker : workers_) {
    ++worker->wakes;
    if (!worker->asleep) continue;
    worker->asleep = false;
    --asleep_;
    worker->condition.notify_one();
  }
}

}  // namespace dav
