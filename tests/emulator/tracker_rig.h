// A tracker with a small launch around it: three blocks of one AIC and two AIVs, an input, an
// output and a workspace. Nothing executes; tests say what the cores would have done.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/chip.h"
#include "core/tracker.h"
#include "core/trap.h"

namespace dav {

constexpr uint64_t kInput = 0x100000000;
constexpr uint64_t kOutput = 0x200000000;
constexpr uint64_t kWorkspace = 0x300000000;
constexpr uint64_t kForeign = 0x900000000;  // no argument of the launch
constexpr uint64_t kRegionBytes = 200000;   // several shadow pages, no multiple of anything

inline const Chip& rig_chip(Arch arch = Arch::Dav2201) {
  static const auto make = [](Arch a) {
    Chip c;
    c.name = a == Arch::Dav3510 ? "Ascend950" : "Ascend910B3";
    c.arch = a;
    c.event_ids = 8;
    c.bytes = {0, 512u << 10, 64u << 10, 64u << 10, 128u << 10, 192u << 10, 1u << 10, 2u << 10};
    return c;
  };
  static const Chip b3 = make(Arch::Dav2201);
  static const Chip c950 = make(Arch::Dav3510);
  return arch == Arch::Dav3510 ? c950 : b3;
}

class Rig {
 public:
  explicit Rig(TrackerOptions options = {}, Arch arch = Arch::Dav2201, uint32_t blocks = 3) {
    for (uint32_t b = 0; b < blocks; ++b) {
      const auto n = static_cast<uint32_t>(ids.size());
      ids.push_back({CoreKind::AIC, b, 0, n});
      ids.push_back({CoreKind::AIV, b, 0, n + 1});
      ids.push_back({CoreKind::AIV, b, 1, n + 2});
    }
    const std::vector<Region> regions = {
        {kInput, kRegionBytes, RegionRole::Input, "q"},
        {kOutput, kRegionBytes, RegionRole::Output, "out"},
        {kWorkspace, kRegionBytes, RegionRole::Workspace, "workspace"},
    };
    tracker = make_tracker(rig_chip(arch), ids, regions, options);
  }

  const CoreId& aic(uint32_t block = 0) const { return ids[block * 3]; }
  const CoreId& aiv(uint32_t block = 0, uint32_t sub = 0) const { return ids[block * 3 + 1 + sub]; }

  void begin(const CoreId& c, Pipe p) { tracker->begin_instruction(c, p); }
  // One more access of the instruction begun last.
  void also(const CoreId& c, Pipe p, const char* name, Access a, Buffer b, uint64_t addr,
            uint64_t bytes) {
    tracker->access(c, p, name, 0, a, b, addr, bytes);
  }
  void read(const CoreId& c, Pipe p, const char* name, Buffer b, uint64_t addr, uint64_t bytes) {
    begin(c, p);
    also(c, p, name, Access::Read, b, addr, bytes);
  }
  void write(const CoreId& c, Pipe p, const char* name, Buffer b, uint64_t addr, uint64_t bytes) {
    begin(c, p);
    also(c, p, name, Access::Write, b, addr, bytes);
  }
  void flag(const CoreId& c, Pipe src, Pipe dst, int id = 0) {
    tracker->set_flag(c, src, dst, id, 0);
    tracker->wait_flag(c, src, dst, id, 0);
  }
  void barrier(const CoreId& c, Pipe p) { tracker->pipe_barrier(c, p, 0); }

  uint64_t set(const CoreId& c, Pipe p, int mode, int id = 0) {
    return tracker->cross_set(c, p, mode, id, 0);
  }
  void wait(const CoreId& c, int mode, const std::vector<uint64_t>& tickets, Pipe p = Pipe::S) {
    tracker->cross_wait(c, p, mode, 0, tickets, 0);
  }

  // The report the whole launch ends with; "" when it is clean.
  std::string end() {
    try {
      for (const CoreId& c : ids) tracker->core_end(c);
      tracker->launch_end();
    } catch (const Trap& t) {
      kind = t.kind();
      return t.what();
    }
    return "";
  }

  std::vector<CoreId> ids;
  std::unique_ptr<Tracker> tracker;
  TrapKind kind = TrapKind::NotInKernel;
};

inline ::testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
}

// What f traps with; the test fails when it does not trap.
template <class F>
std::string trapped(TrapKind kind, F f) {
  try {
    f();
  } catch (const Trap& t) {
    EXPECT_EQ(t.kind(), kind) << t.what();
    return t.what();
  }
  ADD_FAILURE() << "nothing trapped";
  return "";
}

inline constexpr auto GM = Buffer::GM;

// A hand-over through global memory, written by one core and read by another.
inline void produce(Rig& r, const CoreId& c, uint64_t addr = kWorkspace, uint64_t bytes = 4096) {
  r.write(c, Pipe::MTE3, "DataCopy", GM, addr, bytes);
}
inline void consume(Rig& r, const CoreId& c, uint64_t addr = kWorkspace, uint64_t bytes = 4096) {
  r.read(c, Pipe::MTE2, "DataCopy", GM, addr, bytes);
}

}  // namespace dav
