// One executed instruction: what it touches and what it costs. Every instruction in isa/ makes one
// of these, asks it for the memory it reads and writes, and describes its work for the cycle model.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/trap.h"
#include "core/work.h"
#include "dav/api.h"
#include "dav/types.h"

namespace dav {

class Core;
class Layouts;

class DAV_API Instruction {
 public:
  // Binds to the core running on this thread. Traps when the core has no such pipe (V on an AIC),
  // and when the kernel's instruction budget is used up.
  Instruction(Pipe pipe, const char* name);
  ~Instruction();
  Instruction(const Instruction&) = delete;
  Instruction& operator=(const Instruction&) = delete;

  Core& core() const { return core_; }
  Pipe pipe() const { return pipe_; }
  const char* name() const { return name_; }
  // True when accesses are tracked; instructions then report them block by block with note_*,
  // otherwise one bounds check of the hull through span() is enough.
  bool checking() const { return checking_; }
  // True when only the cycle model is asked: an instruction then checks its arguments and bounds
  // and describes its work, but may leave data as it is.
  bool timing_only() const { return timing_only_; }
  // Traps in a timing-only launch: the value asked for has not been computed.
  void require_data(const char* what) const;

  // Host address of [addr, addr + bytes) after a bounds check. `addr` is an offset in a local
  // buffer, or the device address itself for GM. Does not record an access.
  std::byte* span(Buffer buffer, uint64_t addr, uint64_t bytes) const;

  // Records an access for race, uninitialised-read and write-to-input detection; no-ops in fast
  // mode. Bytes need not be contiguous with the previous call.
  void note_read(Buffer buffer, uint64_t addr, uint64_t bytes);
  void note_write(Buffer buffer, uint64_t addr, uint64_t bytes);
  // As note_read, for a copy that carries undefined bytes along instead of consuming them
  // (L1 to L0 moves whole fractals; only what Mmad then uses has to be defined). Pair it with
  // copy_defined for each piece.
  void note_move(Buffer buffer, uint64_t addr, uint64_t bytes);
  void copy_defined(Buffer dst, uint64_t dst_addr, Buffer src, uint64_t src_addr, uint64_t bytes);

  // For results that depend on parts of their operands only: where an operand has a value, and
  // which results have none for that reason. True and no-op in fast mode.
  bool is_defined(Buffer buffer, uint64_t addr, uint64_t bytes) const;
  void set_undefined(Buffer buffer, uint64_t addr, uint64_t bytes);

  // How the cube's buffers were written; null in fast mode.
  Layouts* layouts() const;
  // Where in the kernel, for descriptions of what it wrote; 0 in fast mode.
  uint32_t site() const { return site_; }

  // span() and note in one, for contiguous operands.
  const std::byte* read(Buffer buffer, uint64_t addr, uint64_t bytes);
  std::byte* write(Buffer buffer, uint64_t addr, uint64_t bytes);

  // What the cycle model has to know; the last call wins. Nothing set means one issue cycle.
  void work(const Work& work);

  // Throws a Trap that names core, pipe, instruction and call site. printf-style.
  [[noreturn]] void trap(TrapKind kind, const char* format, ...) const
      __attribute__((format(printf, 3, 4)));
  // Traps when addr is no multiple of `alignment`.
  void require_aligned(Buffer buffer, uint64_t addr, uint32_t alignment, const char* operand) const;
  // Traps when value is outside [low, high].
  void require_range(const char* argument, int64_t value, int64_t low, int64_t high) const;

 private:
  Core& core_;
  Pipe pipe_;
  const char* name_;
  bool checking_;
  bool timing_only_;
  uint32_t site_ = 0;
  Work work_{};
};

// The core that runs on this thread. Traps (NotInKernel) when there is none.
DAV_API Core& current_core();

}  // namespace dav
