#include "core/instruction.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "core/call_site.h"
#include "core/core.h"

namespace dav {

Core& current_core() {
  Core* core = core_or_null();
  if (core == nullptr) {
    throw Trap(TrapKind::NotInKernel,
               "NotInKernel: a device function was called outside of a kernel launch");
  }
  return *core;
}

Instruction::Instruction(Pipe pipe, const char* name)
    : core_(current_core()),
      pipe_(pipe),
      name_(name),
      checking_(core_.tracker != nullptr),
      timing_only_(core_.timing_only) {
  core_.charge();
  if (!core_.has_pipe(pipe)) {
    trap(TrapKind::UnsupportedOp, "%s has no pipe %s", to_string(core_.kind()), to_string(pipe));
  }
  if (checking_ || core_.trace != nullptr) site_ = capture_site();
  if (checking_) core_.tracker->begin_instruction(core_.id(), pipe_);
  core_.in_instruction = true;
}

Instruction::~Instruction() {
  core_.in_instruction = false;
  if (core_.trace != nullptr) {
    TraceRecord r;
    r.type = TraceType::Work;
    r.pipe = pipe_;
    r.name = name_;
    r.site = site_;
    r.work = work_;
    core_.trace->records.push_back(r);
  }
}

std::byte* Instruction::span(Buffer buffer, uint64_t addr, uint64_t bytes) const {
  if (buffer == Buffer::GM) {
    std::string reason;
    if (std::byte* p = core_.gm(addr, bytes, &reason)) return p;
    trap(TrapKind::OutOfBounds, "global memory %s", reason.c_str());
  }
  const uint64_t size = core_.size_of(buffer);
  if (size == 0) {
    trap(TrapKind::UnsupportedPath, "%s of %s has no %s", to_string(core_.kind()),
         core_.chip().name.c_str(), to_string(buffer));
  }
  if (addr > size || bytes > size - addr) {
    trap(TrapKind::OutOfBounds,
         "%s[0x%" PRIx64 ", 0x%" PRIx64 ") (%" PRIu64 " bytes) leaves the buffer of %" PRIu64
         " bytes by %" PRIu64,
         to_string(buffer), addr, addr + bytes, bytes, size, addr + bytes - size);
  }
  return core_.local(buffer) + addr;
}

void Instruction::note_read(Buffer buffer, uint64_t addr, uint64_t bytes) {
  if (!checking_) return;
  core_.tracker->access(core_.id(), pipe_, name_, site_, Access::Read, buffer, addr, bytes);
}

void Instruction::note_write(Buffer buffer, uint64_t addr, uint64_t bytes) {
  if (!checking_) return;
  core_.tracker->access(core_.id(), pipe_, name_, site_, Access::Write, buffer, addr, bytes);
}

void Instruction::note_move(Buffer buffer, uint64_t addr, uint64_t bytes) {
  if (!checking_) return;
  core_.tracker->access(core_.id(), pipe_, name_, site_, Access::Move, buffer, addr, bytes);
}

void Instruction::copy_defined(Buffer dst, uint64_t dst_addr, Buffer src, uint64_t src_addr,
                               uint64_t bytes) {
  if (!checking_) return;
  core_.tracker->copy_defined(core_.id(), dst, dst_addr, src, src_addr, bytes);
}

bool Instruction::is_defined(Buffer buffer, uint64_t addr, uint64_t bytes) const {
  return !checking_ ||
         core_.tracker->first_undefined(core_.id(), buffer, addr, bytes) == addr + bytes;
}

void Instruction::set_undefined(Buffer buffer, uint64_t addr, uint64_t bytes) {
  if (checking_) core_.tracker->set_undefined(core_.id(), buffer, addr, bytes);
}

Layouts* Instruction::layouts() const {
  return checking_ ? &core_.tracker->layouts(core_.id()) : nullptr;
}

const std::byte* Instruction::read(Buffer buffer, uint64_t addr, uint64_t bytes) {
  const std::byte* p = span(buffer, addr, bytes);
  note_read(buffer, addr, bytes);
  return p;
}

std::byte* Instruction::write(Buffer buffer, uint64_t addr, uint64_t bytes) {
  std::byte* p = span(buffer, addr, bytes);
  note_write(buffer, addr, bytes);
  return p;
}

void Instruction::work(const Work& work) {
  if (core_.trace != nullptr) work_ = work;
}

void Instruction::trap(TrapKind kind, const char* format, ...) const {
  char message[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(message, sizeof message, format, args);
  va_end(args);
  const uint32_t site = site_ != 0 ? site_ : capture_site();
  throw Trap(kind, trap_report(kind, core_, pipe_, name_, site, message));
}

void Instruction::require_data(const char* what) const {
  if (!timing_only_) return;
  trap(TrapKind::NoData,
       "%s depends on data, which a timing-only run does not compute; profile this kernel with its "
       "data",
       what);
}

void Instruction::require_aligned(Buffer buffer, uint64_t addr, uint32_t alignment,
                                  const char* operand) const {
  if (addr % alignment == 0) return;
  trap(TrapKind::Misaligned, "%s at %s 0x%" PRIx64 " is not aligned to %u bytes", operand,
       to_string(buffer), addr, alignment);
}

void Instruction::require_range(const char* argument, int64_t value, int64_t low,
                                int64_t high) const {
  if (value >= low && value <= high) return;
  trap(TrapKind::IllegalArgument, "%s is %" PRId64 ", allowed are %" PRId64 " to %" PRId64,
       argument, value, low, high);
}

}  // namespace dav
