#include "core/trap.h"

#include <memory>

#include "core/call_site.h"
#include "core/core.h"

namespace dav {

const char* to_string(TrapKind kind) {
  switch (kind) {
    case TrapKind::OutOfBounds:
      return "OutOfBounds";
    case TrapKind::Misaligned:
      return "Misaligned";
    case TrapKind::IllegalArgument:
      return "IllegalArgument";
    case TrapKind::UnsupportedType:
      return "UnsupportedType";
    case TrapKind::UnsupportedPath:
      return "UnsupportedPath";
    case TrapKind::UnsupportedOp:
      return "UnsupportedOp";
    case TrapKind::WrongFractal:
      return "WrongFractal";
    case TrapKind::UninitialisedRead:
      return "UninitialisedRead";
    case TrapKind::FlagMisuse:
      return "FlagMisuse";
    case TrapKind::Unbalanced:
      return "Unbalanced";
    case TrapKind::WriteToInput:
      return "WriteToInput";
    case TrapKind::DataRace:
      return "DataRace";
    case TrapKind::Deadlock:
      return "Deadlock";
    case TrapKind::BudgetExceeded:
      return "BudgetExceeded";
    case TrapKind::KernelException:
      return "KernelException";
    case TrapKind::NotInKernel:
      return "NotInKernel";
    case TrapKind::NoData:
      return "NoData";
  }
  return "?";
}

const char* to_string(Pipe pipe) {
  switch (pipe) {
    case Pipe::S:
      return "S";
    case Pipe::V:
      return "V";
    case Pipe::M:
      return "M";
    case Pipe::MTE1:
      return "MTE1";
    case Pipe::MTE2:
      return "MTE2";
    case Pipe::MTE3:
      return "MTE3";
    case Pipe::FIX:
      return "FIX";
    case Pipe::ALL:
      return "ALL";
  }
  return "?";
}

const char* to_string(Buffer buffer) {
  switch (buffer) {
    case Buffer::GM:
      return "GM";
    case Buffer::L1:
      return "L1";
    case Buffer::L0A:
      return "L0A";
    case Buffer::L0B:
      return "L0B";
    case Buffer::L0C:
      return "L0C";
    case Buffer::UB:
      return "UB";
    case Buffer::BT:
      return "BT";
    case Buffer::FB:
      return "FB";
  }
  return "?";
}

const char* to_string(CoreKind kind) {
  switch (kind) {
    case CoreKind::AIC:
      return "AIC";
    case CoreKind::AIV:
      return "AIV";
    case CoreKind::Coupled:
      return "AICore";
  }
  return "?";
}

Trap::Trap(TrapKind kind, std::string report) : kind_(kind), report_(std::move(report)) {
  Core* core = core_or_null();
  if (core != nullptr && core->cause == nullptr) core->cause = std::make_unique<Trap>(*this);
}

std::string trap_report(TrapKind kind, const Core& core, Pipe pipe, const char* name, uint32_t site,
                        const std::string& message) {
  std::string report = std::string(to_string(kind)) + " on " + core.chip().name + ", " +
                       core.label() + ", pipe " + to_string(pipe) + ", " + name + ": " + message;
  const std::string where = describe_site(site);
  if (!where.empty()) report += "\n  at " + where;
  return report;
}

}  // namespace dav
