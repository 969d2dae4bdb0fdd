// Order between cores through global memory, and what each region allows.
#include <string>
#include <vector>

#include "tracker_rig.h"

namespace dav {
namespace {

TEST(TrackerGlobal, OutputIsUndefinedInputIsDefinedOtherMemoryIsDefined) {
  Rig r;
  consume(r, r.aiv(), kInput, kRegionBytes);
  consume(r, r.aiv(), kForeign, 512);
  EXPECT_EQ(r.end(), "");
  for (const uint64_t region : {kOutput, kWorkspace}) {
    Rig q;
    produce(q, q.aiv(), region, 300);
    q.barrier(q.aiv(), Pipe::ALL);
    consume(q, q.aiv(), region + 100, 200);
    EXPECT_EQ(q.end(), "");
    Rig u;
    produce(u, u.aiv(), region, 300);
    u.barrier(u.aiv(), Pipe::ALL);
    consume(u, u.aiv(), region + 100, 201);
    EXPECT_TRUE(has(u.end(), "' at byte 300"));
    EXPECT_EQ(u.kind, TrapKind::UninitialisedRead);
  }
}

TEST(TrackerGlobal, WritingAnInput) {
  Rig r;
  const std::string report =
      trapped(TrapKind::WriteToInput, [&] { produce(r, r.aiv(2, 1), kInput + 640, 64); });
  EXPECT_TRUE(has(report,
                  "WriteToInput on Ascend910B3, AIV 2.1, pipe MTE3, DataCopy: writes 64 bytes at "
                  "byte 640 of 'q'"));
}

TEST(TrackerGlobal, BeyondARegion) {
  for (const uint64_t from : {kRegionBytes - 32, kRegionBytes, kRegionBytes + 60}) {
    Rig r;
    EXPECT_TRUE(
        has(trapped(TrapKind::OutOfBounds, [&] { produce(r, r.aiv(), kWorkspace + from, 64); }),
            "of the workspace 'workspace', which has 200000"));
  }
  Rig r;
  trapped(TrapKind::OutOfBounds, [&] { consume(r, r.aiv(), kInput + kRegionBytes - 1, 2); });
}

TEST(TrackerGlobal, WithinOneCoreFlagsOrderGlobalMemoryToo) {
  Rig r;
  produce(r, r.aiv());
  consume(r, r.aiv());
  EXPECT_TRUE(has(r.end(), "SetFlag<HardEvent::MTE3_MTE2>(id)"));
  Rig ok;
  produce(ok, ok.aiv());
  ok.flag(ok.aiv(), Pipe::MTE3, Pipe::MTE2);
  consume(ok, ok.aiv());
  EXPECT_EQ(ok.end(), "");
}

TEST(TrackerGlobal, ModeTwoHandsOverBothWays) {
  Rig r;
  produce(r, r.aic());
  const uint64_t t = r.set(r.aic(), Pipe::MTE3, 2);
  for (const uint32_t sub : {0u, 1u}) {
    r.wait(r.aiv(0, sub), 2, {t});
    consume(r, r.aiv(0, sub));
  }
  const uint64_t a = r.set(r.aiv(0, 0), Pipe::MTE2, 2, 1);
  const uint64_t b = r.set(r.aiv(0, 1), Pipe::MTE2, 2, 1);
  r.wait(r.aic(), 2, {a, b});
  produce(r, r.aic());
  EXPECT_EQ(r.end(), "");
}

TEST(TrackerGlobal, TheSetHasToComeFromThePipeThatWrote) {
  Rig r;
  produce(r, r.aiv());
  const uint64_t a = r.set(r.aiv(0, 0), Pipe::V, 2);
  const uint64_t b = r.set(r.aiv(0, 1), Pipe::V, 2);
  r.wait(r.aic(), 2, {a, b});
  consume(r, r.aic());
  const std::string report = r.end();
  EXPECT_TRUE(has(report, "read after write (RAW)"));
  EXPECT_TRUE(has(report, "workspace 'workspace' at byte 0"));
  EXPECT_TRUE(has(report, "CrossCoreSetFlag<2, PIPE_MTE3>(id) on AIV 0.0 after its MTE3 DataCopy"));
  EXPECT_TRUE(has(report, "CrossCoreWaitFlag(id) on AIC 0 before its MTE2 DataCopy"));
}

TEST(TrackerGlobal, MissingOrdersNameTheModeThatFits) {
  const auto report = [](const CoreId& from, const CoreId& to) {
    Rig r;
    produce(r, from);
    consume(r, to);
    return r.end();
  };
  const Rig r;
  EXPECT_TRUE(has(report(r.aiv(0, 0), r.aiv(0, 1)), "CrossCoreSetFlag<1, PIPE_MTE3>"));
  EXPECT_TRUE(has(report(r.aic(0), r.aiv(0, 1)), "CrossCoreSetFlag<2, PIPE_MTE3>"));
  EXPECT_TRUE(has(report(r.aiv(0, 0), r.aiv(1, 0)), "CrossCoreSetFlag<0, PIPE_MTE3>"));
  EXPECT_TRUE(has(report(r.aic(0), r.aiv(1, 0)), "SyncAll<false>"));
}

TEST(TrackerGlobal, OrderIsTransitiveThroughOtherCores) {
  Rig r;
  produce(r, r.aiv(0, 0));
  const uint64_t a = r.set(r.aiv(0, 0), Pipe::MTE3, 2);
  const uint64_t b = r.set(r.aiv(0, 1), Pipe::MTE3, 2);
  r.wait(r.aic(0), 2, {a, b});
  std::vector<uint64_t> all;
  for (uint32_t n = 0; n < 3; ++n) all.push_back(r.set(r.aic(n), Pipe::FIX, 0, 3));
  for (uint32_t n = 0; n < 3; ++n) r.wait(r.aic(n), 0, all);
  const uint64_t t = r.set(r.aic(2), Pipe::MTE2, 2, 4);
  r.wait(r.aiv(2, 0), 2, {t});
  r.wait(r.aiv(2, 1), 2, {t});
  consume(r, r.aiv(2, 1));
  EXPECT_EQ(r.end(), "");
}

TEST(TrackerGlobal, AWaitHoldsBackAllPipesOn2201AndTheNamedOneOn3510) {
  for (const Arch arch : {Arch::Dav2201, Arch::Dav3510}) {
    Rig r({}, arch);
    produce(r, r.aic());
    const uint64_t t = r.set(r.aic(), Pipe::MTE3, 2);
    r.wait(r.aiv(0, 0), 2, {t}, Pipe::V);
    r.wait(r.aiv(0, 1), 2, {t}, Pipe::MTE2);
    consume(r, r.aiv(0, 1));
    EXPECT_EQ(r.end(), "");
    consume(r, r.aiv(0, 0));
    EXPECT_EQ(r.end() == "", arch == Arch::Dav2201);
  }
}

TEST(TrackerGlobal, AFlagPassesOnWhatEachPipeLearntFromOtherCores) {
  // On 3510 two pipes of one core may learn from two other cores.
  Rig r({}, Arch::Dav3510);
  produce(r, r.aiv(1), kWorkspace, 64);
  produce(r, r.aiv(2), kWorkspace + 64, 64);
  r.wait(r.aiv(0), 0, {r.set(r.aiv(1), Pipe::MTE3, 0)}, Pipe::V);
  r.wait(r.aiv(0), 0, {r.set(r.aiv(2), Pipe::MTE3, 0)}, Pipe::MTE2);
  r.flag(r.aiv(0), Pipe::V, Pipe::MTE2);
  consume(r, r.aiv(0), kWorkspace, 128);
  EXPECT_EQ(r.end(), "");
}

TEST(TrackerGlobal, AtomicsDoNotRaceWithEachOtherButWithAllElse) {
  const auto atomic = [](Rig& r, const CoreId& c) {
    r.begin(c, Pipe::MTE3);
    r.also(c, Pipe::MTE3, "DataCopy(atomic add)", Access::Atomic, GM, kForeign, 64);
  };
  Rig r;
  for (const CoreId& c : r.ids) {
    atomic(r, c);
    atomic(r, c);
  }
  EXPECT_EQ(r.end(), "");
  for (const bool reading : {true, false}) {
    for (const bool last : {true, false}) {
      Rig q;
      const auto plain = [&] {
        reading ? consume(q, q.aiv(0), kForeign, 64) : produce(q, q.aiv(0), kForeign, 64);
      };
      if (!last) plain();
      atomic(q, q.aiv(1));
      atomic(q, q.aiv(2));
      if (last) plain();
      const std::string report = q.end();
      EXPECT_TRUE(has(report, "GM address 0x900000000"));
      EXPECT_TRUE(has(report, reading ? "RAW" : "WAW"));
      EXPECT_TRUE(has(report, "AIV 1.0"));
    }
  }
}

TEST(TrackerGlobal, SignalsThroughMemoryOrderWhatCameBefore) {
  for (const bool same_word : {true, false}) {
    Rig r;
    const auto signal = [&](const CoreId& c, Access a, uint64_t word) {
      r.begin(c, Pipe::S);
      r.also(c, Pipe::S, "ByPassDCache", a, GM, kForeign + word, 4);
    };
    produce(r, r.aiv(0));
    r.flag(r.aiv(0), Pipe::MTE3, Pipe::S);
    signal(r.aiv(1), Access::SignalLoad, 0);  // polled in vain
    signal(r.aiv(0), Access::SignalStore, 0);
    signal(r.aiv(1), Access::SignalLoad, same_word ? 0 : 4);
    consume(r, r.aiv(1));
    EXPECT_EQ(r.end() == "", same_word);
  }
  Rig plain;  // an ordinary load of a signal word races with its store
  plain.begin(plain.aiv(0), Pipe::S);
  plain.also(plain.aiv(0), Pipe::S, "store", Access::SignalStore, GM, kForeign, 4);
  plain.read(plain.aiv(1), Pipe::S, "GetValue", GM, kForeign, 4);
  EXPECT_EQ(plain.end() == "", false);
}

TEST(TrackerGlobal, AtomicsOnMemoryNobodyCleared) {
  Rig r;
  r.begin(r.aiv(), Pipe::MTE3);
  r.also(r.aiv(), Pipe::MTE3, "DataCopy", Access::Atomic, GM, kOutput, 64);
  r.end();
  EXPECT_EQ(r.kind, TrapKind::UninitialisedRead);
}

}  // namespace
}  // namespace dav
