// From a launch to a prediction: what the instructions record is what the cycle model charges for.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "core/timeline/profile_session.h"
#include "core/timeline/report.h"
#include "core_launch.h"
#include "dav/abi_cube.h"
#include "dav/abi_scalar.h"
#include "dav/abi_sync.h"
#include "dav/abi_vector.h"
#include "dav/profile.h"

namespace dav::timeline {
namespace {

using dav_test::Kernel;

constexpr uint32_t kBytes = 16384;  // 64 repeats of fp32

// Two operands in, added, one out, with the flags a kernel needs.
struct AddKernel {
  alignas(512) uint8_t in[2 * kBytes] = {};
  alignas(512) uint8_t out[kBytes] = {};
  Kernel kernel{KernelType::AivOnly};

  explicit AddKernel(bool conflict = true) {
    kernel.spec.name = "add";
    kernel.spec.mode = Mode::Check;
    kernel.spec.regions = {
        {reinterpret_cast<uint64_t>(in), sizeof in, RegionRole::Input, "in"},
        {reinterpret_cast<uint64_t>(out), sizeof out, RegionRole::Output, "out"}};
    // Bank groups repeat every 512 bytes: half of that moves the second operand out of the way.
    const uint32_t second = kBytes + (conflict ? 0 : 256);
    kernel.aiv = [this, second] {
      const Local a{Buffer::UB, 0}, b{Buffer::UB, second}, c{Buffer::UB, 3 * kBytes};
      BurstDesc burst;
      burst.blockLen = kBytes / 32;
      data_copy_in(a, reinterpret_cast<uint64_t>(in), DType::F32, burst);
      data_copy_in(b, reinterpret_cast<uint64_t>(in) + kBytes, DType::F32, burst);
      set_flag(Pipe::MTE2, Pipe::V, 0);
      wait_flag(Pipe::MTE2, Pipe::V, 0);
      VecBinary add{};
      add.name = "Add";
      add.op = BinaryOp::Add;
      add.dst_type = add.src_type = DType::F32;
      add.dst = {c, 1, 8};
      add.src0 = {a, 1, 8};
      add.src1 = {b, 1, 8};
      add.mask = VecMask::lanes(64);
      add.repeats = kBytes / 256;
      vector_binary(add);
      set_flag(Pipe::V, Pipe::MTE3, 0);
      wait_flag(Pipe::V, Pipe::MTE3, 0);
      data_copy_out(reinterpret_cast<uint64_t>(out), c, DType::F32, burst);
    };
  }
};

TEST(TimelineLaunched, InstructionsRecordTheirWork) {
  AddKernel add;
  add.kernel.spec.profile = true;
  const LaunchResult result = add.kernel.run();
  ASSERT_EQ(result.traces.size(), 1u);
  const Costs costs = costs_of(*add.kernel.spec.chip);
  const Timeline t = replay(result.traces, costs);
  ASSERT_EQ(t.cores.size(), 1u);
  EXPECT_EQ(t.l2.read_miss, 2 * kBytes);
  EXPECT_EQ(t.l2.written, kBytes);
  EXPECT_EQ(t.cores[0].bytes[static_cast<size_t>(Path::GmToUb)], 2 * kBytes);
  EXPECT_EQ(t.cores[0].bytes[static_cast<size_t>(Path::UbToGm)], kBytes);
  EXPECT_DOUBLE_EQ(t.cores[0].pipes[static_cast<size_t>(Pipe::V)].busy, 24 + 2 * 64);
  // Reads from HBM at 32 bytes per cycle, the add, the write at the group's 86.
  const double expected = (1401 + 2 * kBytes / 32.0) + (24 + 128) + (300 + kBytes / 86.0);
  EXPECT_NEAR(t.cycles, expected, 1e-6);
}

TEST(TimelineLaunched, OperandsInDifferentBanksAreFaster) {
  AddKernel add(false);
  add.kernel.spec.profile = true;
  const Timeline t = replay(add.kernel.run().traces, costs_of(*add.kernel.spec.chip));
  EXPECT_DOUBLE_EQ(t.cores[0].pipes[static_cast<size_t>(Pipe::V)].busy, 24 + 64);
}

// The old values are nowhere near: the L2 fetches them.
TEST(TimelineLaunched, AtomicStoresSaySo) {
  AddKernel add;
  const auto plain = add.kernel.aiv;
  add.kernel.aiv = [plain] {
    set_atomic(Atomic::Add, DType::F32);
    plain();
    set_atomic(Atomic::None, DType::F32);
  };
  add.kernel.spec.mode = Mode::Fast;  // nobody wrote what it adds to
  add.kernel.spec.profile = true;
  const Timeline t = replay(add.kernel.run().traces, costs_of(*add.kernel.spec.chip));
  EXPECT_EQ(t.l2.written, kBytes);
  EXPECT_EQ(t.l2.read_miss, 3 * kBytes);
}

TEST(TimelineLaunched, OpenSessionWatchesEveryLaunch) {
  AddKernel add;
  add.kernel.run();
  ASSERT_EQ(davProfileBegin(""), 0);
  const LaunchResult watched = add.kernel.run();
  EXPECT_TRUE(watched.traces.empty());  // nobody asked the launch itself for them
  add.kernel.spec.mode = Mode::Fast;
  add.kernel.run();
  ASSERT_EQ(davProfileEnd(), 0);
  add.kernel.run();
  ASSERT_EQ(davProfileKernelCount(), 2u);
  std::vector<char> text(davProfileSummaryJson(nullptr, 0));
  davProfileSummaryJson(text.data(), text.size());
  // Both modes execute the same instructions, so they have the same figure.
  const std::string json = text.data();
  const size_t first = json.find("\"cycles\": "), second = json.find("\"cycles\": ", first + 1);
  ASSERT_NE(second, std::string::npos) << json;
  EXPECT_EQ(json.substr(first, 20), json.substr(second, 20));
}

TEST(TimelineLaunched, TimingAloneMovesNothingAndTakesTheSameTime) {
  AddKernel add;
  std::fill(std::begin(add.in), std::end(add.in), uint8_t{0x3f});
  add.kernel.spec.profile = true;
  add.kernel.spec.mode = Mode::Fast;
  add.kernel.spec.timing_only = true;
  const Costs costs = costs_of(*add.kernel.spec.chip);
  const double timed = replay(add.kernel.run().traces, costs).cycles;
  EXPECT_EQ(add.out[0], 0);
  add.kernel.spec.timing_only = false;
  EXPECT_EQ(replay(add.kernel.run().traces, costs).cycles, timed);
  EXPECT_NE(add.out[0], 0);
}

TEST(TimelineLaunched, SessionForTimingTouchesNoOutput) {
  AddKernel add;  // in check mode, which such a session replaces
  std::fill(std::begin(add.in), std::end(add.in), uint8_t{0x3f});
  ASSERT_EQ(davProfileBegin("timing_only=1"), 0);
  add.kernel.run();
  ASSERT_EQ(davProfileEnd(), 0);
  EXPECT_EQ(davProfileKernelCount(), 1u);
  EXPECT_EQ(add.out[0], 0);
  add.kernel.run();
  EXPECT_NE(add.out[0], 0);
}

TrapKind trap_when_timed(AddKernel& add, std::function<void()> kernel) {
  add.kernel.spec.timing_only = true;
  add.kernel.spec.mode = Mode::Fast;
  add.kernel.aiv = std::move(kernel);
  try {
    add.kernel.run();
  } catch (const Trap& trap) {
    return trap.kind();
  }
  ADD_FAILURE() << "no trap";
  return TrapKind::Deadlock;
}

TEST(TimelineLaunched, TimingAloneRefusesWhatDependsOnData) {
  AddKernel add;
  const auto given = reinterpret_cast<uint64_t>(add.in);
  const auto computed = reinterpret_cast<uint64_t>(add.out);
  EXPECT_EQ(trap_when_timed(add, [] { scalar_load(Buffer::UB, 0, 4); }), TrapKind::NoData);
  EXPECT_EQ(trap_when_timed(add, [&] { scalar_load(Buffer::GM, computed, 4); }), TrapKind::NoData);
  EXPECT_EQ(trap_when_timed(add, [] { vector_sum_register(); }), TrapKind::NoData);
  // What the host put there may be looked at: shapes and lengths decide how long a kernel takes.
  add.in[8] = 42;
  uint64_t seen = 0;
  add.kernel.aiv = [&] { seen = scalar_load(Buffer::GM, given + 8, 1); };
  add.kernel.run();
  EXPECT_EQ(seen, 42u);
}

TEST(TimelineLaunched, TimingAloneKeepsTheBounds) {
  AddKernel add;
  const auto beyond = reinterpret_cast<uint64_t>(add.in) + sizeof add.in - 32;
  const auto copy = [beyond](uint32_t ub, uint16_t blocks) {
    return [=] {
      BurstDesc burst;
      burst.blockLen = blocks;
      data_copy_in(Local{Buffer::UB, ub}, beyond, DType::F32, burst);
    };
  };
  EXPECT_EQ(trap_when_timed(add, copy(0, 2)), TrapKind::OutOfBounds);
  EXPECT_EQ(trap_when_timed(add, copy(192 * 1024, 1)), TrapKind::OutOfBounds);
}

TEST(TimelineLaunched, FailedLaunchIsNotRecorded) {
  Kernel kernel(KernelType::AivOnly);
  kernel.aiv = [] { wait_flag(Pipe::MTE2, Pipe::V, 0); };
  ASSERT_EQ(davProfileBegin(""), 0);
  EXPECT_THROW(kernel.run(), Trap);
  ASSERT_EQ(davProfileEnd(), 0);
  EXPECT_EQ(davProfileKernelCount(), 0u);
}

}  // namespace
}  // namespace dav::timeline
