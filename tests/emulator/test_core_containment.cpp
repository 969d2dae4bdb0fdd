// A kernel that crashes, throws or never ends becomes a trap, stops the other cores, and leaves the
// process able to launch again.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "core/instruction.h"
#include "core_launch.h"
#include "dav/abi_sync.h"

namespace {

using dav::KernelType;
using dav::Pipe;
using dav::TrapKind;
using dav_test::Kernel;

class CoreContainment : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { setenv("ASCENDFA_EMULATOR_THREADS", GetParam(), 1); }
  void TearDown() override {
    unsetenv("ASCENDFA_EMULATOR_THREADS");
    // Whatever happened, the next launch works.
    std::atomic<int> ran{0};
    Kernel k(KernelType::AivOnly, 8);
    k.aiv = [&ran] { ++ran; };
    k.run();
    EXPECT_EQ(ran.load(), 8);
  }
};
INSTANTIATE_TEST_SUITE_P(Threads, CoreContainment, ::testing::Values("1", "2"));

// One core fails; the rest would run for ever.
Kernel failing(dav_test::Body failure) {
  Kernel k(KernelType::AivOnly, 8);
  k.aiv = [failure] {
    if (dav::block_idx() == 5) failure();
    while (dav::block_idx() != 5) {
      dav::Instruction i(Pipe::V, "Add");
      if (dav::block_idx() < 5) return;
    }
  };
  return k;
}

TEST_P(CoreContainment, Exceptions) {
  Kernel k = failing([] { throw std::runtime_error("out of cheese"); });
  EXPECT_TRAP(k, TrapKind::KernelException, "AIV 5.0", "out of cheese");
  Kernel odd = failing([] { throw 42; });
  EXPECT_TRAP(odd, TrapKind::KernelException, "no std::exception");
}

// Two blocks fail, the higher one long before the other.
TEST_P(CoreContainment, TheLowestCoreThatFailsIsReported) {
  Kernel k(KernelType::AivOnly, 8);
  k.aiv = [] {
    if (dav::block_idx() == 6) dav::wait_flag(Pipe::MTE2, Pipe::V, 6);
    if (dav::block_idx() != 3) return;
    for (int i = 0; i < 200000; ++i) dav::Instruction(Pipe::V, "Add");
    dav::wait_flag(Pipe::MTE2, Pipe::V, 2);
  };
  for (int i = 0; i < 10; ++i) EXPECT_TRAP(k, TrapKind::FlagMisuse, "AIV 3.0", "id 2");
}

// Who waits for a core that failed, by a flag or by looking, is not waited for.
TEST_P(CoreContainment, WhoWaitsForAFailedCoreIsStopped) {
  Kernel flags(KernelType::MixAic12, 3);
  flags.aic = [] { dav::cross_core_wait(2, Pipe::S, 1); };
  flags.aiv = [] {
    if (dav::group_idx() == 1) dav::wait_flag(Pipe::MTE2, Pipe::V, 4);
    dav::cross_core_set(2, Pipe::MTE3, 1);
  };
  EXPECT_TRAP(flags, TrapKind::FlagMisuse, "AIV 1.0", "id 4");
  Kernel polls(KernelType::AivOnly, 3);
  polls.aiv = [] {
    if (dav::block_idx() == 1) dav::wait_flag(Pipe::MTE2, Pipe::V, 4);
    for (;;) dav::poll();
  };
  EXPECT_TRAP(polls, TrapKind::FlagMisuse, "AIV 1.0", "id 4");
}

TEST_P(CoreContainment, TheLowestCoreThatNeverEndsIsReported) {
  Kernel k(KernelType::AivOnly, 8);
  k.spec.budget = 300000;
  k.aiv = [] {
    while (dav::block_idx() % 3 == 1) dav::Instruction(Pipe::V, "Add");
  };
  for (int i = 0; i < 5; ++i) EXPECT_TRAP(k, TrapKind::BudgetExceeded, "AIV 1.0");
}

struct TrapsInDestructor {
  ~TrapsInDestructor() { dav::wait_flag(Pipe::V, Pipe::MTE3, 0); }
};

TEST_P(CoreContainment, TrapOutOfADestructorKeepsItsReport) {
  Kernel k = failing([] { TrapsInDestructor t; });
  EXPECT_TRAP(k, TrapKind::FlagMisuse, "V to MTE3 id 0", "nothing has set");
}

TEST_P(CoreContainment, TheFirstTrapCountsNotWhatDestructorsMeetAfterIt) {
  Kernel k = failing([] {
    TrapsInDestructor t;
    dav::wait_flag(Pipe::MTE2, Pipe::V, 3);
  });
  EXPECT_TRAP(k, TrapKind::FlagMisuse, "MTE2 to V id 3");
  // Cores that are only stopped because another one trapped have nothing to report.
  Kernel others(KernelType::AivOnly, 4);
  others.aiv = [] {
    if (dav::block_idx() == 0) dav::wait_flag(Pipe::MTE2, Pipe::V, 3);
    TrapsInDestructor t;
    for (;;) dav::Instruction(Pipe::V, "Add");
  };
  EXPECT_TRAP(others, TrapKind::FlagMisuse, "MTE2 to V id 3");
}

template <typename T>
void divide_by_zero() {
  volatile T dividend = static_cast<T>(-77), zero = 0;
  volatile T quotient = static_cast<T>(dividend / zero);
  volatile T remainder = static_cast<T>(dividend % zero);
  EXPECT_EQ(quotient, T{0});
  EXPECT_EQ(remainder, dividend);
  volatile T three = 3;
  EXPECT_EQ(static_cast<T>(dividend / three), static_cast<T>(dividend) / T{3});
}

TEST_P(CoreContainment, DivisionByZeroIsNoFault) {
  Kernel k(KernelType::AivOnly, 1);
  k.aiv = [] {
    divide_by_zero<int32_t>();
    divide_by_zero<uint32_t>();
    divide_by_zero<int64_t>();
    divide_by_zero<uint64_t>();
    divide_by_zero<int16_t>();
    volatile int32_t smallest = INT32_MIN, minus_one = -1;
    int32_t divisor = minus_one;
    asm volatile("" : "+r"(divisor));
    EXPECT_EQ(smallest / divisor, INT32_MIN);
  };
  k.run();
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
int recurse(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}

TEST_P(CoreContainment, Crashes) {
  Kernel wild = failing([] { *reinterpret_cast<volatile int*>(uint64_t{0x1234}) = 1; });
  EXPECT_TRAP(wild, TrapKind::KernelException, "AIV 5.0", "SIGSEGV", "0x1234");
  Kernel arithmetic = failing([] { std::raise(SIGFPE); });
  EXPECT_TRAP(arithmetic, TrapKind::KernelException, "SIGFPE");
  Kernel illegal = failing([] { __builtin_trap(); });
  EXPECT_TRAP(illegal, TrapKind::KernelException, "SIGILL");
  volatile int depth = 0;
  Kernel deep = failing([&depth] { depth = recurse(depth); });
  EXPECT_TRAP(deep, TrapKind::KernelException, "stack overflowed");
}
#endif

TEST_P(CoreContainment, BudgetEndsAnEndlessKernel) {
  Kernel k(KernelType::AivOnly, 3);
  k.spec.budget = 1000;
  k.aiv = [] {
    for (;;) dav::Instruction(Pipe::V, "Add");
  };
  EXPECT_TRAP(k, TrapKind::BudgetExceeded, "1000 instructions", "ASCENDFA_EMULATOR_BUDGET");
  k.spec.budget = 0;
  setenv("ASCENDFA_EMULATOR_BUDGET", "77", 1);
  EXPECT_TRAP(k, TrapKind::BudgetExceeded, "77 instructions");
  setenv("ASCENDFA_EMULATOR_BUDGET", "many", 1);
  EXPECT_THROW(k.run(), std::invalid_argument);
  unsetenv("ASCENDFA_EMULATOR_BUDGET");
}

TEST_P(CoreContainment, WatchdogEndsAnEndlessScalarLoop) {
  setenv("ASCENDFA_EMULATOR_WATCHDOG", "1", 1);
  std::atomic<bool> never{false};
  Kernel k(KernelType::AivOnly, 1);
  k.aiv = [&never] {
    while (!never.load()) {
    }
  };
  EXPECT_TRAP(k, TrapKind::BudgetExceeded, "endless scalar loop");
  unsetenv("ASCENDFA_EMULATOR_WATCHDOG");
}

TEST_P(CoreContainment, ATrapReleasesCoresThatWait) {
  Kernel k(KernelType::MixAic12, 6);
  k.aic = [] {
    if (dav::block_idx() == 4) dav::raise_trap();
    dav::cross_core_wait(2, Pipe::S, 0);
  };
  k.aiv = [] { dav::cross_core_wait(2, Pipe::S, 0); };
  // The cores that wait on other threads may be the last to run, but never end in a deadlock
  // report.
  EXPECT_TRAP(k, TrapKind::KernelException, "AIC 4", "called Trap()");
}

TEST_P(CoreContainment, LaunchRefusals) {
  auto refusal = [](Kernel& k) -> std::string {
    try {
      k.run();
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  Kernel future(KernelType::AivOnly, 1, "Ascend950");
  EXPECT_NE(refusal(future).find("cannot be executed"), std::string::npos);
  Kernel kind(KernelType::Coupled);
  EXPECT_NE(refusal(kind).find("separate AIC and AIV"), std::string::npos);
  Kernel none(KernelType::AivOnly, 0);
  EXPECT_NE(refusal(none).find("block_dim is 0"), std::string::npos);
  Kernel image(KernelType::MixAic12);
  image.spec.aic = nullptr;
  EXPECT_NE(refusal(image).find("no entry for the AIC"), std::string::npos);
}

TEST_P(CoreContainment, ManyBlocksRunInTurn) {
  std::atomic<int> sum{0};
  Kernel k(KernelType::MixAic12, 500);
  k.aic = [&sum] {
    dav::cross_core_wait(2, Pipe::S, 0);
    ++sum;
  };
  k.aiv = [] { dav::cross_core_set(2, Pipe::MTE3, 0); };
  k.run();
  EXPECT_EQ(sum.load(), 500);
}

TEST_P(CoreContainment, ProfilingRecordsProgramOrder) {
  Kernel k(KernelType::AivOnly, 2);
  k.spec.profile = true;
  k.aiv = [] {
    { dav::Instruction i(Pipe::MTE2, "DataCopy"); }
    dav::set_flag(Pipe::MTE2, Pipe::V, 1);
    dav::wait_flag(Pipe::MTE2, Pipe::V, 1);
    { dav::Instruction i(Pipe::V, "Add"); }
    dav::pipe_barrier(Pipe::ALL);
  };
  const dav::LaunchResult r = k.run();
  ASSERT_EQ(r.traces.size(), 2u);
  EXPECT_EQ(r.traces[1].block, 1u);
  const auto& t = r.traces[1].records;
  ASSERT_EQ(t.size(), 5u);
  EXPECT_STREQ(t[0].name, "DataCopy");
  EXPECT_EQ(t[1].type, dav::TraceType::SetFlag);
  EXPECT_EQ(t[2].type, dav::TraceType::WaitFlag);
  EXPECT_EQ(t[2].pipe, Pipe::V);
  EXPECT_EQ(t[2].other, Pipe::MTE2);
  EXPECT_STREQ(t[3].name, "Add");
  EXPECT_EQ(t[4].type, dav::TraceType::Barrier);
}

}  // namespace
