// Cross-core flags, barriers over all cores, deadlock reports, block numbering.
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include "core_launch.h"
#include "dav/abi_sync.h"

namespace {

using dav::KernelType;
using dav::Pipe;
using dav::TrapKind;
using dav_test::Kernel;

// Every test of this file runs with one worker thread and with several, in both modes.
class CoreCross : public ::testing::TestWithParam<std::tuple<const char*, dav::Mode>> {
 protected:
  void SetUp() override {
    setenv("ASCENDFA_EMULATOR_THREADS", std::get<0>(GetParam()), 1);
    dav_test::default_mode() = std::get<1>(GetParam());
  }
  void TearDown() override {
    unsetenv("ASCENDFA_EMULATOR_THREADS");
    dav_test::default_mode() = dav::Mode::Fast;
  }
};
INSTANTIATE_TEST_SUITE_P(Threads, CoreCross,
                         ::testing::Combine(::testing::Values("1", "3"),
                                            ::testing::Values(dav::Mode::Fast, dav::Mode::Check)));

TEST_P(CoreCross, BlockNumbers) {
  std::mutex mutex;
  std::multiset<int64_t> aic, aiv;
  Kernel k(KernelType::MixAic12, 5);
  auto note = [&mutex](std::multiset<int64_t>& seen) {
    std::lock_guard<std::mutex> lock(mutex);
    seen.insert(dav::block_idx());
    ASSERT_EQ(dav::block_num(), 5);
  };
  k.aic = [&] {
    note(aic);
    ASSERT_EQ(dav::sub_block_num(), 1);
  };
  k.aiv = [&] {
    note(aiv);
    ASSERT_EQ(dav::sub_block_num(), 2);
    ASSERT_EQ(dav::block_idx(), dav::group_idx() * 2 + dav::sub_block_idx());
  };
  k.run();
  EXPECT_EQ(aic, (std::multiset<int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(aiv, (std::multiset<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_P(CoreCross, Mode2HandsOverBothWays) {
  constexpr int kGroups = 6, kTiles = 50;
  std::vector<int> tile(kGroups), sum(kGroups * 2);
  Kernel k(KernelType::MixAic12, kGroups);
  k.aic = [&] {
    for (int i = 1; i <= kTiles; ++i) {
      tile[dav::block_idx()] = i;
      dav::cross_core_set(2, Pipe::FIX, 3);
      dav::cross_core_wait(2, Pipe::S, 4);
    }
  };
  k.aiv = [&] {
    for (int i = 1; i <= kTiles; ++i) {
      dav::cross_core_wait(2, Pipe::S, 3);
      sum[dav::block_idx()] += tile[dav::group_idx()];
      dav::cross_core_set(2, Pipe::MTE3, 4);
    }
  };
  k.run();
  for (const int s : sum) EXPECT_EQ(s, kTiles * (kTiles + 1) / 2);
}

TEST_P(CoreCross, Mode0AndMode1WaitForEverybody) {
  constexpr int kGroups = 7;
  std::atomic<int> arrived{0};
  std::atomic<int> pair[kGroups] = {};
  Kernel k(KernelType::MixAic12, kGroups);
  k.aic = [] {};
  k.aiv = [&] {
    for (int round = 1; round <= 5; ++round) {
      ++pair[dav::group_idx()];
      dav::cross_core_set(1, Pipe::V, 1);
      dav::cross_core_wait(1, Pipe::S, 1);
      ASSERT_GE(pair[dav::group_idx()].load(), 2 * round);
      ++arrived;
      dav::cross_core_set(0, Pipe::MTE3, 0);
      dav::cross_core_wait(0, Pipe::S, 0);
      ASSERT_GE(arrived.load(), 2 * kGroups * round);
    }
  };
  k.run();
}

TEST_P(CoreCross, SyncAllOfMixedAndVectorKernels) {
  constexpr int kGroups = 4;
  std::atomic<int> arrived{0};
  auto body = [&](int all, bool aiv_only) {
    return [&arrived, all, aiv_only] {
      for (int round = 1; round <= 3; ++round) {
        ++arrived;
        dav::sync_all(aiv_only);
        ASSERT_GE(arrived.load(), all * round);
      }
    };
  };
  Kernel mixed(KernelType::MixAic12, kGroups);
  mixed.aic = mixed.aiv = body(3 * kGroups, false);
  mixed.run();
  arrived = 0;
  Kernel vector(KernelType::MixAiv10, 2 * kGroups);
  vector.aiv = body(2 * kGroups, true);
  vector.run();
}

TEST_P(CoreCross, SoftwareBarrierAndEvents) {
  constexpr int kCores = 6;
  std::vector<int32_t> workspace(8 * 64, 0);
  dav::gm_register(workspace.data(), workspace.size() * 4);
  const auto gm = reinterpret_cast<uint64_t>(workspace.data());
  std::atomic<int> arrived{0}, turn{0};
  Kernel k(KernelType::AivOnly, kCores);
  k.aiv = [&] {
    for (int round = 1; round <= 4; ++round) {
      ++arrived;
      dav::soft_sync_all(gm, 0, true);
      ASSERT_GE(arrived.load(), kCores * round);
    }
    // A chain: every core waits for the one before it.
    const auto me = static_cast<int32_t>(dav::block_idx());
    if (me > 0) dav::ib_wait(gm + 1024 - kCores * 32, me, 1, true);
    ASSERT_EQ(turn.load(), me);
    ++turn;
    if (me + 1 < kCores) dav::ib_set(gm + 1024 - kCores * 32, me + 1, 1, true);
  };
  EXPECT_NO_THROW(k.run());
  for (int i = 0; i < kCores; ++i) EXPECT_EQ(workspace[i * 8], 4);
  EXPECT_EQ(turn.load(), kCores);
  dav::gm_unregister(workspace.data());
}

// SyncAll, IBSet: who may take part, and that the workspace in GM begins as zeros.
TEST_P(CoreCross, SoftwareBarrierAndEventsHaveLimits) {
  std::vector<int32_t> workspace(8 * 8, 0);
  dav::gm_register(workspace.data(), workspace.size() * 4);
  const auto gm = reinterpret_cast<uint64_t>(workspace.data());
  const auto refuse = [&](const char* text, dav_test::Body body, uint32_t cores) {
    SCOPED_TRACE(text);
    Kernel k(KernelType::AivOnly, cores);
    k.aiv = std::move(body);
    EXPECT_TRAP(k, TrapKind::IllegalArgument, text);
  };
  refuse(
      "usedCores is 3, there are 2", [&] { dav::soft_sync_all(gm, 3, true); }, 2);
  refuse(
      "core 1 does not belong", [&] { dav::soft_sync_all(gm, 1, true); }, 2);
  refuse(
      "blockIdx is 2", [&] { dav::ib_set(gm, 2, 0, true); }, 2);
  refuse(
      "eventID -1", [&] { dav::ib_wait(gm, 0, -1, true); }, 2);
  refuse(
      "ubWorkspace has 32 bytes, it takes 64",
      [] {
        dav::sync_workspace("SyncAll", {dav::Buffer::UB, 0}, 32, 64);
      },
      1);
  workspace.assign(64, 0);
  workspace[8] = 5;
  refuse(
      "gmWorkspace was not zero", [&] { dav::soft_sync_all(gm, 0, true); }, 2);
  Kernel small(KernelType::AivOnly, 9);
  small.aiv = [&] { dav::soft_sync_all(gm, 0, true); };
  EXPECT_TRAP(small, TrapKind::OutOfBounds, "32 bytes");
  dav::gm_unregister(workspace.data());
}

TEST_P(CoreCross, DeadlockSaysWhoWaitsForWhat) {
  Kernel k(KernelType::MixAic12, 2);
  k.aic = [] { dav::cross_core_wait(2, Pipe::S, 5); };
  k.aiv = [] {
    if (dav::sub_block_idx() == 0) {
      dav::cross_core_set(2, Pipe::MTE3, 5);
      dav::cross_core_wait(2, Pipe::S, 6);
    }
  };
  EXPECT_TRAP(k, TrapKind::Deadlock, "4 cores wait", "AIC 0 waits for cross-core flag 5",
              "1 of 2 sets present, missing AIV 0.1 (ended)",
              "AIV 1.0 waits for cross-core flag 6; no core has set it");
}

TEST_P(CoreCross, SetsMayRunAheadOfWaitsOnlyByFifteen) {
  int seen = 0;
  Kernel k(KernelType::MixAic11, 1);
  k.aic = [] {
    for (int i = 0; i < 40; ++i) dav::cross_core_set(2, Pipe::FIX, 0);
  };
  k.aiv = [&] {
    for (int i = 0; i < 40; ++i) dav::cross_core_wait(2, Pipe::S, 0), ++seen;
  };
  const dav::LaunchResult result = k.run();
  EXPECT_EQ(seen, 40);
  ASSERT_EQ(result.hints.size(), 1u);
  EXPECT_NE(result.hints[0].find("15 ahead"), std::string::npos);
  k.aiv = [] {};
  EXPECT_TRAP(k, TrapKind::FlagMisuse, "AIC 0 cannot set cross-core flag 0", "exceed 15");
}

TEST_P(CoreCross, LeftOversTrap) {
  Kernel k(KernelType::MixAic12, 1);
  std::string place = "test_core_cross.cpp:" + std::to_string(__LINE__ + 2);
  k.aic = [] {
    dav::cross_core_set(2, Pipe::FIX, 9);
    dav::data_sync_barrier();  // a call in last place leaves no frame
  };
  k.aiv = [] {
    if (dav::sub_block_idx() == 0) dav::cross_core_wait(2, Pipe::S, 9);
  };
  EXPECT_TRAP(k, TrapKind::FlagMisuse, "AIV 0.1", "flag 9 is still 1",
              "CrossCoreSetFlag by AIC 0 at", place.c_str());
  k.aic = [] {};
  place = "test_core_cross.cpp:" + std::to_string(__LINE__ + 2);
  k.aiv = [] {
    if (dav::sub_block_idx() == 1) dav::cross_core_set(1, Pipe::V, 2);
    dav::data_sync_barrier();
  };
  EXPECT_TRAP(k, TrapKind::FlagMisuse, "flag 2, mode 1", "missing AIV 0.0",
              "CrossCoreSetFlag by AIV 0.1 at", place.c_str());
}

TEST_P(CoreCross, RefusesWhatTheHardwareCannot) {
  Kernel only(KernelType::AivOnly);
  only.aiv = [] { dav::cross_core_set(0, Pipe::MTE3, 0); };
  EXPECT_TRAP(only, TrapKind::UnsupportedOp, "AIV_ONLY");
  Kernel coupled(KernelType::Coupled, 1, "Ascend910A");
  coupled.aic = [] { dav::cross_core_wait(0, Pipe::S, 0); };
  EXPECT_TRAP(coupled, TrapKind::UnsupportedOp, "no cross-core flags");
  Kernel k(KernelType::MixAic12);
  k.aic = [] {};
  k.aiv = [] { dav::cross_core_set(2, Pipe::S, 0); };
  EXPECT_TRAP(k, TrapKind::FlagMisuse, "may not be PIPE_S");
  k.aiv = [] { dav::cross_core_set(2, Pipe::ALL, 0); };
  EXPECT_TRAP(k, TrapKind::FlagMisuse, "may not be PIPE_ALL");
  k.aiv = [] { dav::cross_core_set(2, Pipe::V, 16); };
  EXPECT_TRAP(k, TrapKind::FlagMisuse, "flag id 16");
  k.aiv = [] { dav::cross_core_set(4, Pipe::V, 0); };
  EXPECT_TRAP(k, TrapKind::FlagMisuse, "mode 4");
  Kernel vector(KernelType::MixAiv10, 41);
  vector.aiv = [] { dav::sync_all(true); };
  EXPECT_TRAP(vector, TrapKind::FlagMisuse, "block_dim 41");
}

}  // namespace
