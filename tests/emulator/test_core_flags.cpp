// In-core flags, event ids, pipes a core lacks, local and global bounds.
#include <vector>

#include "core/instruction.h"
#include "core_launch.h"
#include "dav/abi_sync.h"

namespace {

using dav::Buffer;
using dav::KernelType;
using dav::Pipe;
using dav::TrapKind;
using dav_test::Kernel;

Kernel vector_kernel(dav_test::Body body) {
  Kernel k(KernelType::AivOnly);
  k.aiv = std::move(body);
  return k;
}

TEST(CoreFlags, SetAndWaitPairUp) {
  Kernel k = vector_kernel([] {
    for (int id = 0; id < 8; ++id) dav::set_flag(Pipe::MTE2, Pipe::V, id);
    for (int id = 7; id >= 0; --id) dav::wait_flag(Pipe::MTE2, Pipe::V, id);
  });
  EXPECT_EQ(k.run().instructions, 16u);
}

TEST(CoreFlags, MisuseTraps) {
  Kernel twice = vector_kernel([] {
    dav::set_flag(Pipe::MTE2, Pipe::V, 3);
    dav::set_flag(Pipe::MTE2, Pipe::V, 3);
  });
  EXPECT_TRAP(twice, TrapKind::FlagMisuse, "MTE2 to V id 3", "second time", "AIV 0.0");
  Kernel unset = vector_kernel([] { dav::wait_flag(Pipe::V, Pipe::MTE3, 1); });
  EXPECT_TRAP(unset, TrapKind::FlagMisuse, "V to MTE3 id 1", "nothing has set");
  Kernel left = vector_kernel([] { dav::set_flag(Pipe::V, Pipe::MTE3, 2); });
  EXPECT_TRAP(left, TrapKind::FlagMisuse, "V to MTE3 id 2", "still set");
  Kernel range = vector_kernel([] { dav::set_flag(Pipe::V, Pipe::MTE3, 8); });
  EXPECT_TRAP(range, TrapKind::FlagMisuse, "event id 8", "0 to 7");
  Kernel pipe = vector_kernel([] { dav::set_flag(Pipe::M, Pipe::FIX, 0); });
  EXPECT_TRAP(pipe, TrapKind::UnsupportedOp, "AIV has no pipe");
}

TEST(CoreFlags, CoupledChipHasFourIdsAndNoFixpipe) {
  Kernel k(KernelType::Coupled, 1, "Ascend910A");
  k.aic = [] {
    dav::set_flag(Pipe::M, Pipe::V, 3);
    dav::wait_flag(Pipe::M, Pipe::V, 3);
  };
  k.run();
  k.aic = [] { dav::set_flag(Pipe::M, Pipe::V, 4); };
  EXPECT_TRAP(k, TrapKind::FlagMisuse, "event id 4", "0 to 3", "Ascend910A");
  k.aic = [] { dav::Instruction i(Pipe::FIX, "Fixpipe"); };
  EXPECT_TRAP(k, TrapKind::UnsupportedOp, "no pipe FIX");
}

TEST(CoreFlags, EventIdsComeLowestFirstAndRunOut) {
  Kernel k = vector_kernel([] {
    for (int id = 0; id < 8; ++id) ASSERT_EQ(dav::alloc_event_id(Pipe::V, Pipe::MTE3), id);
    ASSERT_EQ(dav::alloc_event_id(Pipe::V, Pipe::MTE3), -1);
    ASSERT_EQ(dav::fetch_event_id(Pipe::MTE2, Pipe::V), 0);
    dav::release_event_id(Pipe::V, Pipe::MTE3, 5);
    ASSERT_EQ(dav::fetch_event_id(Pipe::V, Pipe::MTE3), 5);
  });
  k.run();
  Kernel twice = vector_kernel([] { dav::release_event_id(Pipe::V, Pipe::MTE3, 0); });
  EXPECT_TRAP(twice, TrapKind::Unbalanced, "was not allocated");
}

TEST(CoreMemory, LocalBoundsAreTheBuffersOwn) {
  Kernel k = vector_kernel([] {
    dav::Instruction i(Pipe::V, "Add");
    i.span(Buffer::UB, 192 * 1024 - 32, 32)[31] = std::byte{7};
    i.span(Buffer::UB, 192 * 1024 - 31, 32);
  });
  EXPECT_TRAP(k, TrapKind::OutOfBounds, "Ascend910B3", "AIV 0.0", "pipe V", "Add", "UB[0x2ffe1",
              "196608 bytes by 1");
  Kernel absent = vector_kernel([] { dav::Instruction(Pipe::V, "Add").span(Buffer::L1, 0, 32); });
  EXPECT_TRAP(absent, TrapKind::UnsupportedPath, "has no L1");
}

TEST(CoreMemory, GlobalBounds) {
  std::vector<char> memory(4096);
  const auto base = reinterpret_cast<uint64_t>(memory.data());
  auto touch = [](uint64_t addr, uint64_t bytes) {
    Kernel k = vector_kernel([=] {
      dav::Instruction i(Pipe::MTE2, "DataCopy");
      ASSERT_EQ(reinterpret_cast<uint64_t>(i.span(Buffer::GM, addr, bytes)), addr);
    });
    return k;
  };
  Kernel unknown = touch(base, 32);
  EXPECT_TRAP(unknown, TrapKind::OutOfBounds, "no device allocation");
  dav::gm_register(memory.data(), memory.size());
  touch(base, 4096).run();
  Kernel beyond = touch(base + 4065, 32);
  EXPECT_TRAP(beyond, TrapKind::OutOfBounds, "leaves the allocation");

  // A region is exact even inside a larger allocation; the rest of the allocation stays usable.
  dav::Region region;
  region.addr = base + 1024, region.bytes = 1000, region.name = "query";
  auto with_region = [&](uint64_t addr, uint64_t bytes) {
    Kernel k = touch(addr, bytes);
    k.spec.regions = {region};
    return k;
  };
  with_region(base + 1024, 1000).run();
  with_region(base, 1024).run();
  Kernel over = with_region(base + 2000, 32);
  EXPECT_TRAP(over, TrapKind::OutOfBounds, "leaves 'query'");
  Kernel under = with_region(base + 1000, 32);
  EXPECT_TRAP(under, TrapKind::OutOfBounds, "leaves 'query'");
  dav::gm_unregister(memory.data());
  Kernel gone = touch(base, 32);
  EXPECT_TRAP(gone, TrapKind::OutOfBounds, "no device allocation");
}

TEST(CoreMemory, DeviceFunctionsOutsideOfAKernelAreRefused) {
  try {
    dav::block_idx();
    FAIL();
  } catch (const dav::Trap& t) {
    EXPECT_EQ(t.kind(), TrapKind::NotInKernel);
  }
}

}  // namespace
