// Check mode end to end: real instructions on real cores, reports that name the kernel's lines.
#include <algorithm>
#include <vector>

#include "core_launch.h"
#include "dav/abi_cube.h"
#include "dav/abi_sync.h"

namespace dav_test {
namespace {

using dav::Buffer;
using dav::KernelType;
using dav::Mode;
using dav::Pipe;
using dav::RegionRole;
using dav::TrapKind;

constexpr uint32_t kBlock = 32;
constexpr uint32_t kBytes = 4096;

struct Memory {
  alignas(512) std::byte in[kBytes]{};
  alignas(512) std::byte out[kBytes]{};
  uint64_t at(const std::byte* p) const { return reinterpret_cast<uint64_t>(p); }
};

void attach(Kernel& k, Memory& m) {
  k.spec.mode = Mode::Check;
  k.spec.regions = {{m.at(m.in), kBytes, RegionRole::Input, "x"},
                    {m.at(m.out), kBytes, RegionRole::Output, "y"}};
}

void load(const Memory& m, uint32_t blocks) {
  dav::data_copy_in({Buffer::UB, 0}, m.at(m.in), dav::DType::F16, {1, blocks, 0, 0});
}
__attribute__((noinline)) int store(const Memory& m, uint64_t offset, uint32_t blocks) {
  dav::data_copy_out(m.at(m.out) + offset, {Buffer::UB, 0}, dav::DType::F16, {1, blocks, 0, 0});
  return __LINE__ - 1;
}

TEST(TrackerLaunch, ARaceNamesBothLinesOfTheKernel) {
  Memory m;
  Kernel k(KernelType::AivOnly);
  attach(k, m);
  int line = 0;
  k.aiv = [&] {
    load(m, 4);
    line = store(m, 0, 4);
  };
  const dav::Trap t = k.trap();
  EXPECT_EQ(t.kind(), TrapKind::DataRace);
  const std::string report = t.what();
  EXPECT_NE(report.find("SetFlag<HardEvent::MTE2_MTE3>(id)"), std::string::npos) << report;
  EXPECT_NE(report.find("test_tracker_launch.cpp:" + std::to_string(line) + " in"),
            std::string::npos)
      << report;
  EXPECT_EQ(report.find("instruction.cpp"), std::string::npos) << report;
}

TEST(TrackerLaunch, TheFlagMendsIt) {
  Memory m;
  m.in[5] = std::byte{7};
  Kernel k(KernelType::AivOnly);
  attach(k, m);
  k.aiv = [&] {
    load(m, 4);
    dav::set_flag(Pipe::MTE2, Pipe::MTE3, 0);
    dav::wait_flag(Pipe::MTE2, Pipe::MTE3, 0);
    store(m, 0, 4);
  };
  k.run();
  EXPECT_EQ(m.out[5], std::byte{7});
}

TEST(TrackerLaunch, TheSameReportOnEveryRunOfManyCores) {
  Memory m;
  std::vector<std::string> reports;
  for (int run = 0; run < 5; ++run) {
    Kernel k(KernelType::AivOnly, 40);
    attach(k, m);
    k.aiv = [&] {
      load(m, 4);
      dav::pipe_barrier(Pipe::ALL);
      const auto block = static_cast<uint64_t>(dav::block_idx());
      store(m, block * 3 * kBlock, 4);  // one block too many
    };
    reports.push_back(k.trap().what());
    EXPECT_EQ(reports.back(), reports.front());
  }
  EXPECT_NE(reports[0].find("output 'y' at byte 96"), std::string::npos) << reports[0];
  EXPECT_NE(reports[0].find("AIV 0.0"), std::string::npos) << reports[0];
  EXPECT_NE(reports[0].find("SyncAll"), std::string::npos) << reports[0];
}

TEST(TrackerLaunch, MoreBlocksThanCoresRunInTurn) {
  Memory m;
  Kernel k(KernelType::AivOnly, 600);
  attach(k, m);
  k.aiv = [&] { load(m, 4); };
  EXPECT_GE(k.run().instructions, 600u);
}

TEST(TrackerLaunch, ARaceIsTheCauseOfABlockedLaunch) {
  Memory m;
  Kernel k(KernelType::MixAic12);
  attach(k, m);
  k.aic = [&] { dav::cross_core_wait(2, Pipe::S, 3); };
  k.aiv = [&] {
    load(m, 4);
    store(m, 1024 * static_cast<uint64_t>(dav::sub_block_idx()), 4);
  };
  EXPECT_EQ(k.trap().kind(), TrapKind::DataRace);
}

}  // namespace
}  // namespace dav_test
