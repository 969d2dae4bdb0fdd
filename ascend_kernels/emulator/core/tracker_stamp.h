// Stamps: who touched a memory cell last, in 64 bits, and the table that tells what the
// instruction behind a stamp was.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "dav/types.h"

namespace dav {

// clock: the instruction's number on its pipe, from 1. handed: a read that came, in order, after
// some write of the launch. The top bit is left to the shadow cells.
class Stamp {
 public:
  Stamp() = default;
  Stamp(uint32_t core, Pipe pipe, uint32_t op, uint32_t clock)
      : bits_(uint64_t{clock & kMaxClock} | uint64_t{op} << kOpShift |
              uint64_t{core} << kCoreShift | static_cast<uint64_t>(pipe) << kPipeShift) {}
  static Stamp from_bits(uint64_t bits) {
    Stamp s;
    s.bits_ = bits;
    return s;
  }

  uint64_t bits() const { return bits_; }
  explicit operator bool() const { return bits_ != 0; }
  uint32_t clock() const { return static_cast<uint32_t>(bits_) & kMaxClock; }
  uint32_t op() const { return static_cast<uint32_t>(bits_ >> kOpShift) & (kMaxOps - 1); }
  uint32_t core() const { return static_cast<uint32_t>(bits_ >> kCoreShift) & (kMaxCores - 1); }
  Pipe pipe() const { return static_cast<Pipe>(bits_ >> kPipeShift & 7); }
  bool handed() const { return bits_ & kHanded; }
  Stamp with_handed() const { return from_bits(bits_ | kHanded); }
  // Same core and pipe.
  bool same_pipe(Stamp o) const { return ((bits_ ^ o.bits_) >> kCoreShift) == 0; }
  bool same_instruction(Stamp o) const { return ((bits_ ^ o.bits_) & ~kHanded) == 0; }

  static constexpr uint32_t kMaxClock = (1u << 29) - 1;
  static constexpr uint32_t kMaxOps = 1u << 16;
  static constexpr uint32_t kMaxCores = 1u << 14;
  static constexpr uint64_t kTopBit = uint64_t{1} << 63;

 private:
  static constexpr int kOpShift = 29;
  static constexpr uint64_t kHanded = uint64_t{1} << 45;
  static constexpr int kCoreShift = 46;
  static constexpr int kPipeShift = 60;

  uint64_t bits_ = 0;
};

// An instruction of the kernel's text, as opposed to one of its executions.
struct Op {
  const char* name = "an instruction";
  uint32_t site = 0;
  uint8_t unit_flag = 0;
  // A scalar access to GM that takes part in hand-shakes through the data cache.
  enum class Cached : uint8_t { No, Load, Store } cached = Cached::No;

  bool operator==(const Op& o) const {
    return name == o.name && site == o.site && unit_flag == o.unit_flag && cached == o.cached;
  }
};

struct OpHash {
  size_t operator()(const Op& op) const {
    const uint64_t x = reinterpret_cast<uintptr_t>(op.name) ^ uint64_t { op.site } << 32 ^
                       uint64_t { op.unit_flag } << 17 ^ static_cast<uint64_t>(op.cached) << 21;
    return static_cast<size_t>((x * 0x9e3779b97f4a7c15u) >> 20);
  }
};

// Numbers the Ops of a launch; number 0 stands for all that no longer fit. Thread-safe.
class OpTable {
 public:
  OpTable() : ops_(1) {}
  uint32_t number(const Op& op);
  Op at(uint32_t number) const;

 private:
  mutable std::mutex mutex_;
  std::deque<Op> ops_;
  std::unordered_map<Op, uint32_t, OpHash> numbers_;
};

// One core's lock-free front of the table.
class OpCache {
 public:
  explicit OpCache(OpTable& table) : table_(&table) {}
  uint32_t number(const Op& op) {
    Slot& slot = slots_[OpHash()(op) % slots_.size()];
    if (slot.number == 0 || !(slot.op == op)) slot = {op, table_->number(op)};
    return slot.number;
  }

 private:
  struct Slot {
    Op op;
    uint32_t number = 0;
  };
  OpTable* table_;
  std::array<Slot, 256> slots_{};
};

}  // namespace dav
