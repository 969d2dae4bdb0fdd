#include "core/core.h"

#include <cstdarg>
#include <cstdio>
#include <utility>

#include "core/call_site.h"
#include "core/launch_state.h"

namespace dav {
namespace {

// Fibers stay on their thread, so a thread-local names the running core. Initial-exec: one load
// instead of a call, in every instruction.
__attribute__((tls_model("initial-exec"))) thread_local Core* t_core = nullptr;

// With which a core is through, from its start, once another one has failed: more than kernels
// execute within seconds, and few enough for all cores of a chip.
constexpr uint64_t kInstructionsAfterFailure = 2000000;

constexpr uint32_t bit(Pipe p) { return 1u << static_cast<int>(p); }

// ARCH: an AIC has no vector pipe, an AIV neither cube nor L0 loads; only split chips have FIX.
uint32_t pipes_of(CoreKind kind) {
  constexpr uint32_t moves = bit(Pipe::S) | bit(Pipe::MTE2) | bit(Pipe::MTE3);
  constexpr uint32_t cube = bit(Pipe::MTE1) | bit(Pipe::M);
  switch (kind) {
    case CoreKind::AIC:
      return moves | cube | bit(Pipe::FIX);
    case CoreKind::AIV:
      return moves | bit(Pipe::V);
    case CoreKind::Coupled:
      return moves | cube | bit(Pipe::V);
  }
  return 0;
}

}  // namespace

Core* core_or_null() { return t_core; }
void set_core(Core* core) { t_core = core; }

Core::Core(LaunchState& launch, const CoreId& id, uint32_t sub_blocks_)
    : sub_blocks(sub_blocks_),
      launch_(launch),
      id_(id),
      chip_(launch.chip()),
      pipes_(pipes_of(id.kind)) {}

Core::~Core() = default;

void Core::start(std::function<void()> body, std::function<void(const Crash&)> crashed) {
  memory_ = std::make_unique<LocalMemory>(chip_, id_.kind);
  if (tracker != nullptr) memory_->poison();
  for (int i = 0; i < kBufferCount; ++i) {
    base_[i] = memory_->base(static_cast<Buffer>(i));
    bytes_[i] = memory_->bytes(static_cast<Buffer>(i));
  }
  fiber_ = std::make_unique<Fiber>(std::move(body), std::move(crashed));
}

void Core::end() {
  fiber_.reset();
  memory_.reset();
}

std::string Core::label() const {
  std::string s = std::string(to_string(id_.kind)) + " " + std::to_string(id_.block);
  if (id_.kind == CoreKind::AIV) s += "." + std::to_string(id_.sub_block);
  return s;
}

std::byte* Core::gm_slow(uint64_t addr, uint64_t bytes, std::string* reason) {
  GmRange range;
  if (!launch_.gm().find(addr, bytes, &range, reason)) return nullptr;
  recent_[next_recent_] = range;
  next_recent_ = (next_recent_ + 1) % recent_.size();
  return reinterpret_cast<std::byte*>(addr);
}

void Core::exhausted() {
  const bool spent = budget_left == ~uint64_t{0};  // counted below zero
  if (spent) budget_left = 0;
  const bool late = stop->load(std::memory_order_relaxed) &&
                    launch_.budget() - budget_left > kInstructionsAfterFailure;
  if (late || stopped.load(std::memory_order_relaxed)) {
    budget_left = 0;
    told_to_stop = true;
    stopped.store(true, std::memory_order_relaxed);
    throw Stopped{};
  }
  if (!spent) return;
  trap(TrapKind::BudgetExceeded, Pipe::S, "budget",
       "the core executed %llu instructions without ending; raise ASCENDFA_EMULATOR_BUDGET if the "
       "kernel is that long",
       static_cast<unsigned long long>(launch_.budget()));
}

void Core::trap(TrapKind kind, Pipe pipe, const char* name, const char* format, ...) const {
  char message[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(message, sizeof message, format, args);
  va_end(args);
  throw Trap(kind, trap_report(kind, *this, pipe, name, capture_site(), message));
}

}  // namespace dav
