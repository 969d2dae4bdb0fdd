// Flag discipline, and what was never given a value.
#include "tracker_rig.h"

namespace dav {
namespace {

constexpr auto UB = Buffer::UB;

TEST(TrackerFlags, SettingTwice) {
  Rig r;
  r.tracker->set_flag(r.aiv(), Pipe::V, Pipe::MTE3, 2, 0);
  r.tracker->set_flag(r.aiv(), Pipe::V, Pipe::MTE3, 3, 0);  // another id is another flag
  r.tracker->set_flag(r.aiv(0, 1), Pipe::V, Pipe::MTE3, 2, 0);
  const std::string report = trapped(
      TrapKind::FlagMisuse, [&] { r.tracker->set_flag(r.aiv(), Pipe::V, Pipe::MTE3, 2, 0); });
  EXPECT_TRUE(has(report, "SetFlag<HardEvent::V_MTE3>(2) while the flag is still set"));
  EXPECT_TRUE(has(report, "AIV 0.0"));
}

TEST(TrackerFlags, WaitingForWhatWasNeverSet) {
  Rig r;
  r.tracker->set_flag(r.aiv(), Pipe::MTE3, Pipe::V, 1, 0);
  EXPECT_TRUE(has(trapped(TrapKind::FlagMisuse,
                          [&] { r.tracker->wait_flag(r.aiv(), Pipe::V, Pipe::MTE3, 1, 0); }),
                  "WaitFlag<HardEvent::V_MTE3>(1) without a SetFlag before it"));
}

TEST(TrackerFlags, WaitingTwiceForOneSet) {
  Rig r;
  r.flag(r.aiv(), Pipe::V, Pipe::MTE3);
  trapped(TrapKind::FlagMisuse, [&] { r.tracker->wait_flag(r.aiv(), Pipe::V, Pipe::MTE3, 0, 0); });
}

TEST(TrackerFlags, IdOutOfRange) {
  Rig r;
  for (const int id : {-1, 8}) {
    EXPECT_TRUE(has(trapped(TrapKind::FlagMisuse,
                            [&] { r.tracker->set_flag(r.aiv(), Pipe::V, Pipe::MTE3, id, 0); }),
                    "0 to 7"));
    trapped(TrapKind::FlagMisuse,
            [&] { r.tracker->wait_flag(r.aiv(), Pipe::V, Pipe::MTE3, id, 0); });
  }
}

TEST(TrackerFlags, LeftSetAtTheEnd) {
  Rig r;
  r.tracker->set_flag(r.aiv(1), Pipe::MTE3, Pipe::V, 5, 0);
  r.tracker->core_end(r.aiv(0));
  EXPECT_TRUE(has(trapped(TrapKind::FlagMisuse, [&] { r.tracker->core_end(r.aiv(1)); }),
                  "ended with SetFlag<HardEvent::MTE3_V>(5) set and never waited for"));
}

TEST(TrackerFlags, CrossCoreSetNobodyWaitsFor) {
  Rig r;
  r.set(r.aic(1), Pipe::FIX, 2, 7);
  const std::string report = r.end();
  EXPECT_EQ(r.kind, TrapKind::FlagMisuse);
  EXPECT_TRUE(has(report, "CrossCoreSetFlag<2, PIPE_FIX>(7) of AIC 1 never waited for"));
}

TEST(TrackerFlags, OpenEndsMeanNothingWhenCoresWereStopped) {
  Rig r;
  r.set(r.aic(1), Pipe::FIX, 2, 7);
  r.tracker->core_end(r.aiv(0));
  EXPECT_NO_THROW(r.tracker->launch_end());
}

TEST(TrackerFlags, OneSetServesEachReceiverOnce) {
  Rig r;
  const uint64_t t = r.set(r.aic(), Pipe::FIX, 2);
  r.wait(r.aiv(0, 0), 2, {t});
  r.wait(r.aiv(0, 1), 2, {t});
  trapped(TrapKind::FlagMisuse, [&] { r.wait(r.aiv(0, 1), 2, {t}); });
}

TEST(TrackerDefined, LocalMemoryStartsUndefined) {
  for (const Buffer b : {Buffer::L1, Buffer::L0A, Buffer::L0B, Buffer::L0C, Buffer::BT}) {
    Rig r;
    r.read(r.aic(), Pipe::M, "Mmad", b, 64, 32);
    const std::string report = r.end();
    EXPECT_EQ(r.kind, TrapKind::UninitialisedRead);
    EXPECT_TRUE(has(report, "[0x40, 0x60), which nothing wrote before"));
  }
}

TEST(TrackerDefined, TheFirstUndefinedByteIsNamed) {
  Rig r;
  r.write(r.aiv(), Pipe::V, "Duplicate", UB, 0, 101);
  r.barrier(r.aiv(), Pipe::V);
  r.read(r.aiv(), Pipe::V, "Add", UB, 0, 101);
  r.read(r.aiv(), Pipe::V, "Add", UB, 32, 96);
  EXPECT_TRUE(has(r.end(), "UB[0x65, 0x80)"));
}

TEST(TrackerDefined, MovesCarryDefinednessAlong) {
  for (const uint64_t shift : {0u, 64u, 6u}) {
    for (const bool inside : {true, false}) {
      Rig r;
      const CoreId& c = r.aic();
      r.write(c, Pipe::MTE2, "DataCopy", Buffer::L1, 1024, 80);
      r.flag(c, Pipe::MTE2, Pipe::MTE1);
      r.begin(c, Pipe::MTE1);
      r.also(c, Pipe::MTE1, "LoadData", Access::Move, Buffer::L1, 1024, 512);
      r.also(c, Pipe::MTE1, "LoadData", Access::Write, Buffer::L0A, shift, 512);
      r.tracker->copy_defined(c, Buffer::L0A, shift, Buffer::L1, 1024, 512);
      r.flag(c, Pipe::MTE1, Pipe::M);
      r.read(c, Pipe::M, "Mmad", Buffer::L0A, shift, inside ? 80 : 81);
      const std::string report = r.end();
      if (inside) {
        EXPECT_EQ(report, "");
      } else {
        EXPECT_EQ(r.kind, TrapKind::UninitialisedRead);
      }
    }
  }
}

TEST(TrackerDefined, AMoveStillRaces) {
  Rig r;
  r.write(r.aic(), Pipe::MTE2, "DataCopy", Buffer::L1, 0, 512);
  r.begin(r.aic(), Pipe::MTE1);
  r.also(r.aic(), Pipe::MTE1, "LoadData", Access::Move, Buffer::L1, 0, 512);
  EXPECT_TRUE(has(r.end(), "HardEvent::MTE2_MTE1"));
}

TEST(TrackerDefined, BeyondALocalBuffer) {
  Rig r;
  EXPECT_TRUE(
      has(trapped(TrapKind::OutOfBounds,
                  [&] { r.write(r.aic(), Pipe::MTE1, "LoadData", Buffer::L0A, 65472, 65); }),
          "L0A[0xffc0, 0x10001), the buffer has 0x10000"));
}

}  // namespace
}  // namespace dav
