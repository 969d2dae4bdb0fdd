// One emulated core: identity, memories, registers, flags, and its place in the launch.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/block_locals.h"
#include "core/chip.h"
#include "core/control_state.h"
#include "core/fiber.h"
#include "core/gm.h"
#include "core/local_memory.h"
#include "core/rendezvous.h"
#include "core/trace.h"
#include "core/tracker.h"
#include "core/trap.h"
#include "dav/abi_sync.h"
#include "dav/launch.h"
#include "dav/types.h"

namespace dav {

class LaunchState;

// One increment of a cross-core counter: who made it and in which mode.
struct CrossArrival {
  int mode = 0;
  std::shared_ptr<const std::vector<CrossSet>> sets;
};

// A core's 16 cross-core counters, 0 to 15 each. Guarded by the group's mutex.
constexpr int kCrossFlags = 16;
constexpr size_t kCrossLimit = 15;
using CrossCounters = std::array<std::vector<CrossArrival>, kCrossFlags>;

// What a blocked core waits for.
struct Blocked {
  enum class On : uint8_t { Nothing, CrossWait, CrossSet, SoftBarrier };
  std::atomic<On> on{On::Nothing};
  int id = 0;
  int mode = 0;
  uint32_t site = 0;
};

class Core {
 public:
  Core(LaunchState& launch, const CoreId& id, uint32_t sub_blocks);
  ~Core();

  // Gives the core its memories and its flow of control; both go back when it has ended.
  void start(std::function<void()> body, std::function<void(const Crash&)> crashed);
  void end();
  bool started() const { return fiber_ != nullptr; }
  Fiber& fiber() const { return *fiber_; }

  const CoreId& id() const { return id_; }
  CoreKind kind() const { return id_.kind; }
  const Chip& chip() const { return chip_; }
  LaunchState& launch() const { return launch_; }
  bool has_pipe(Pipe p) const { return (pipes_ >> static_cast<int>(p)) & 1; }

  std::byte* local(Buffer b) const { return base_[static_cast<size_t>(b)]; }
  uint32_t size_of(Buffer b) const { return bytes_[static_cast<size_t>(b)]; }
  // Null, with a reason, when the launch may not touch it.
  std::byte* gm(uint64_t addr, uint64_t bytes, std::string* reason) {
    for (const GmRange& r : recent_) {
      if (addr >= r.begin && bytes <= r.end - r.begin && addr - r.begin <= r.end - r.begin - bytes)
        return reinterpret_cast<std::byte*>(addr);
    }
    return gm_slow(addr, bytes, reason);
  }

  // "AIV 3.1" and the like, for reports.
  std::string label() const;
  // Charges one instruction; throws when the budget is used up or the launch is being stopped.
  void charge() {
    if (budget_left-- == 0 || stop->load(std::memory_order_relaxed)) exhausted();
  }
  // Throws a Trap for something that is no Instruction: flags, queues, scalar accesses.
  [[noreturn]] void trap(TrapKind kind, Pipe pipe, const char* name, const char* format, ...) const
      __attribute__((format(printf, 5, 6)));

  BlockLocals locals;

  // Hot state.
  uint64_t budget_left = 0;
  const std::atomic<bool>* stop = nullptr;
  Tracker* tracker = nullptr;  // check mode
  CoreTrace* trace = nullptr;  // profiling
  bool timing_only = false;    // instructions leave memory alone
  bool in_instruction = false;
  bool told_to_stop = false;  // left because another core trapped
  bool polled = false;        // and did nothing else that its worker knows of
  std::atomic<bool> stopped{false};
  std::atomic<bool> curtailed{false};  // another core has failed: look at `stopped` and the time
  std::unique_ptr<Trap> cause;         // the first trap of this core
  ControlState control;
  // What LoadDataWithSparse brought: 128 bytes for each fractal of L0B. Empty before the first.
  std::vector<std::byte> sparse_index;
  bool pad_value_set = false;  // before, DataCopyPad fills with anything
  // In-core flags: bit id of flags[source][destination].
  std::array<std::array<uint8_t, kPipeCount>, kPipeCount> flags{};
  // Event ids handed out by TPipe, same shape.
  std::array<std::array<uint8_t, kPipeCount>, kPipeCount> events{};

  CrossCounters cross;
  Blocked blocked;
  // Guarded by the group's mutex while the core is suspended.
  std::atomic<bool> runnable{true};
  std::atomic<bool> finished{false};
  uint32_t sub_blocks = 1;  // AIVs in the group, as GetSubBlockNum() tells an AIV
  std::array<void*, static_cast<size_t>(Slot::Count)> slots{};
  bool order_ready = false;  // for WaitPreBlock and NotifyNextBlock
  uint64_t order_round = 0;

 private:
  std::byte* gm_slow(uint64_t addr, uint64_t bytes, std::string* reason);
  void exhausted();

  LaunchState& launch_;
  CoreId id_;
  const Chip& chip_;
  uint32_t pipes_ = 0;
  std::array<std::byte*, kBufferCount> base_{};
  std::array<uint32_t, kBufferCount> bytes_{};
  std::unique_ptr<LocalMemory> memory_;
  std::unique_ptr<Fiber> fiber_;
  std::array<GmRange, 4> recent_{};
  uint32_t next_recent_ = 0;
};

// The whole text of a trap's report.
std::string trap_report(TrapKind kind, const Core& core, Pipe pipe, const char* name, uint32_t site,
                        const std::string& message);

const char* to_string(Pipe pipe);
const char* to_string(Buffer buffer);
const char* to_string(CoreKind kind);

// Thrown through a core's kernel when another core has trapped. Not an std::exception, so that no
// handler for those swallows it.
struct Stopped {};

// The core on this thread, or null.
Core* core_or_null();
void set_core(Core* core);

}  // namespace dav
