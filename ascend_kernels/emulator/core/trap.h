// Typed traps: everything a strict Da Vinci core refuses. A trap ends the kernel, never the
// process.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "dav/api.h"
#include "dav/types.h"

namespace dav {

enum class TrapKind : uint8_t {
  OutOfBounds,      // beyond a local buffer, or outside every device allocation
  Misaligned,       // operand address
  IllegalArgument,  // repeat, stride, mask, count, id range
  UnsupportedType,  // dtype this chip's instruction does not take
  UnsupportedPath,  // data path this chip or core lacks
  UnsupportedOp,    // instruction this chip lacks, or wrong core kind
  WrongFractal,     // layout of an operand
  UninitialisedRead,
  FlagMisuse,  // double set, wait without set, counter overflow, left over at the end
  Unbalanced,  // queues, event ids
  WriteToInput,
  DataRace,
  Deadlock,
  BudgetExceeded,   // a kernel that does not end
  KernelException,  // C++ exception or signal out of kernel code
  NotInKernel,
  NoData,  // a value asked for in a run that computes none
};

DAV_API const char* to_string(TrapKind kind);

// `what()` is the whole report: kind, chip, core, pipe, instruction, buffer, address, limit and,
// where available, the kernel source line.
class DAV_API Trap : public std::exception {
 public:
  Trap(TrapKind kind, std::string report);
  TrapKind kind() const { return kind_; }
  const char* what() const noexcept override { return report_.c_str(); }

 private:
  TrapKind kind_;
  std::string report_;
};

}  // namespace dav
