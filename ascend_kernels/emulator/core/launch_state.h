// One launch in flight: its cores, in groups that share flags, and what stops it.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/core.h"
#include "core/rendezvous.h"
#include "dav/launch.h"

namespace dav {

struct Worker;

// An AIC with its AIVs, or one coupled core. All of a group's cores run on one worker.
struct Group {
  std::mutex mutex;  // counters of the group's cores and its rendezvous
  std::vector<Core*> cores;
  std::vector<Core*> aivs;
  Core* aic = nullptr;
  Worker* worker = nullptr;
  // Modes 1 and 2, by flag id.
  std::array<Rendezvous, kCrossFlags> among_aivs, aic_to_aivs, aivs_to_aic;
};

// A worker thread: the groups it owns and its place to sleep, which sleep_mutex_ guards.
struct Worker {
  std::vector<Group*> groups;
  std::condition_variable condition;
  uint64_t wakes = 0;
  bool asleep = false, napping = false;
  uint64_t seen_activity = 0;
};

class LaunchState {
 public:
  explicit LaunchState(const LaunchSpec& spec);
  ~LaunchState();

  const Chip& chip() const { return *spec_.chip; }
  const LaunchSpec& spec() const { return spec_; }
  const GmView& gm() const { return gm_; }
  uint64_t budget() const { return budget_; }
  Group& group_of(const Core& core) { return *groups_[core.id().block]; }
  const std::vector<std::unique_ptr<Core>>& cores() const { return cores_; }
  const std::vector<std::unique_ptr<Group>>& groups() const { return groups_; }
  Tracker* tracker() const { return tracker_.get(); }
  // Whether every block has a core of its own, as synchronising all of them needs.
  bool all_resident() const;

  // Runs all cores to their end; throws the first trap.
  LaunchResult run();

  // Records a core's failure. The lowest core's counts, whichever was first: the others run on
  // until they end, fail, can do no more or have taken long enough. With `urgent`, for what takes a
  // core long to be recognised, only those that may still count.
  void fail(const Core& core, std::exception_ptr error, bool urgent = false);
  bool stopping() const { return stop_.load(std::memory_order_relaxed); }
  // Something a core of this worker may wait for has changed.
  void wake(Worker& worker);
  // Suspends the running core; on return it may try again. Throws Stopped when the launch ends.
  void suspend(Core& core);
  // Lets the other cores of the worker run, and other workers too when those all wait.
  void yield(Core& core);
  void hint(const std::string& text);

  // Mode 0: all cores of a kind, by flag id. Guarded by all_mutex; take it before a group's.
  std::mutex all_mutex;
  std::array<Rendezvous, kCrossFlags> all_aics, all_aivs;
  std::map<const void*, uint64_t> ib_tickets;  // IBSet events by their word in global memory
  std::atomic<bool> held_back{false};          // some set has met a limit
  // The software barrier of SyncAll(workspace): arrivals of the current round.
  struct SoftBarrier {
    std::vector<uint64_t> tickets;
    std::vector<Core*> arrived;
    uint64_t round = 0;
    std::shared_ptr<const std::vector<uint64_t>> released;
  } soft_barrier;

  // Blocks one after another: whose turn it is, counted over all rounds. Guarded by all_mutex.
  uint64_t order_turn = 0;

 private:
  void make_groups();
  void add_core(Group& group, CoreKind kind, uint32_t block, uint32_t sub_block);
  void work(Worker& worker);
  bool step(Core& core);
  void stop(Core& core);
  void run_core(Core& core);
  void sleep(Worker& worker, uint64_t seen);
  // As sleep, after a failure, of a worker whose cores have only polled for a while: nobody wakes
  // it, so it looks again by itself.
  void nap(Worker& worker, uint64_t seen);
  bool all_quiet() const;  // sleep_mutex_ held
  void deadlock();         // sleep_mutex_ held
  uint64_t wakes_of(Worker& worker);

  const LaunchSpec& spec_;
  GmView gm_;
  uint64_t budget_ = 0;
  BlockLocalImage aic_locals_, aiv_locals_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<std::unique_ptr<CoreTrace>> traces_;
  std::unique_ptr<Tracker> tracker_;

  std::atomic<bool> stop_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  uint32_t failed_core_ = 0;
  std::atomic<bool> failed_{false};
  std::vector<std::string> hints_;

  std::mutex sleep_mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  size_t asleep_ = 0, ended_ = 0;
  std::atomic<uint64_t> activity_{0};  // rounds in which a worker's cores did more than poll
  size_t active_groups_ = 1;           // that one worker keeps in flight
};

}  // namespace dav
