// Where a core stands, its registers, and refusals that are no instruction's.
#include <chrono>
#include <cstdarg>
#include <cstdio>

#include "core/instruction.h"
#include "core/launch_state.h"
#include "dav/abi_sync.h"

namespace dav {
namespace {

[[noreturn]] void raise(TrapKind kind, const char* what, const char* format, va_list args) {
  char message[1024];
  std::vsnprintf(message, sizeof message, format, args);
  current_core().trap(kind, Pipe::S, what, "%s", message);
}

}  // namespace

int64_t block_idx() {
  const Core& core = current_core();
  const CoreId& id = core.id();
  if (id.kind != CoreKind::AIV) return id.block;
  return static_cast<int64_t>(id.block) * core.sub_blocks + id.sub_block;
}

int64_t block_num() { return current_core().launch().spec().block_dim; }
int64_t sub_block_idx() { return current_core().id().sub_block; }
int64_t sub_block_num() { return current_core().sub_blocks; }
int64_t group_idx() { return current_core().id().block; }

int64_t system_cycle() {
  current_core();
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

uint32_t arch_version() { return static_cast<uint32_t>(current_core().chip().arch); }

void* slot(Slot slot) { return current_core().slots[static_cast<size_t>(slot)]; }
void set_slot(Slot slot, void* value) { current_core().slots[static_cast<size_t>(slot)] = value; }

void set_mask_mode(bool counter) {
  Core& core = current_core();
  core.charge();
  core.control.mask_counter = counter;
}

void set_vector_mask(uint64_t high, uint64_t low) {
  Core& core = current_core();
  core.charge();
  core.control.mask_high = high;
  core.control.mask_low = low;
}

void set_atomic(Atomic op, DType type) {
  Core& core = current_core();
  core.charge();
  if ((op == Atomic::Max || op == Atomic::Min) && !core.chip().has(Feature::AtomicMaxMin)) {
    core.trap(TrapKind::UnsupportedOp, Pipe::S, op == Atomic::Max ? "SetAtomicMax" : "SetAtomicMin",
              "this chip stores atomically with add only");
  }
  core.control.atomic = op;
  core.control.atomic_type = type;
}

void init_soc_state() {
  Core& core = current_core();
  core.charge();
  core.control = ControlState{};
}

uint64_t ctrl() { return current_core().control.ctrl; }
void set_ctrl(uint64_t value) { current_core().control.ctrl = value; }

void poll() {
  Core& core = current_core();
  core.charge();
  core.launch().yield(core);
}

void data_cache_clean_invalidate(uint64_t addr, uint64_t bytes) {
  Core& core = current_core();
  if (core.tracker != nullptr) core.tracker->clean_cache(core.id(), addr, bytes);
  poll();
}

void raise_unbalanced(const char* what, const char* format, ...) {
  va_list args;
  va_start(args, format);
  raise(TrapKind::Unbalanced, what, format, args);
}

void raise_illegal(const char* what, const char* format, ...) {
  va_list args;
  va_start(args, format);
  raise(TrapKind::IllegalArgument, what, format, args);
}

void raise_trap() {
  current_core().trap(TrapKind::KernelException, Pipe::S, "Trap", "the kernel called Trap()");
}

}  // namespace dav
