// Order inside one core: pipes, flags, barriers, automatic synchronisation, cube interlock.
#include "tracker_rig.h"

namespace dav {
namespace {

constexpr auto UB = Buffer::UB;
constexpr auto L0C = Buffer::L0C;

TEST(TrackerLocal, ReadAfterWriteBetweenPipesNeedsAFlag) {
  Rig r;
  r.write(r.aiv(), Pipe::MTE2, "DataCopy", UB, 0x100, 256);
  r.read(r.aiv(), Pipe::V, "Add", UB, 0x180, 64);
  const std::string report = r.end();
  EXPECT_EQ(r.kind, TrapKind::DataRace);
  EXPECT_TRUE(has(report, "read after write (RAW)"));
  EXPECT_TRUE(has(report, "Ascend910B3"));
  EXPECT_TRUE(has(report, "AIV 0.0"));
  EXPECT_TRUE(has(report, "UB[0x180, 0x1c0)"));
  EXPECT_TRUE(has(report, "SetFlag<HardEvent::MTE2_V>(id) after MTE2 DataCopy"));
  EXPECT_TRUE(has(report, "WaitFlag<HardEvent::MTE2_V>(id) before V Add"));
}

TEST(TrackerLocal, AFlagOrdersWhatCameBeforeItsSetOnly) {
  Rig r;
  r.write(r.aiv(), Pipe::MTE2, "DataCopy", UB, 0, 256);
  r.flag(r.aiv(), Pipe::MTE2, Pipe::V);
  r.read(r.aiv(), Pipe::V, "Add", UB, 0, 256);
  EXPECT_EQ(r.end(), "");

  Rig late;
  late.tracker->set_flag(late.aiv(), Pipe::MTE2, Pipe::V, 0, 0);
  late.write(late.aiv(), Pipe::MTE2, "DataCopy", UB, 0, 256);
  late.tracker->wait_flag(late.aiv(), Pipe::MTE2, Pipe::V, 0, 0);
  late.read(late.aiv(), Pipe::V, "Add", UB, 0, 256);
  EXPECT_TRUE(has(late.end(), "HardEvent::MTE2_V"));
}

TEST(TrackerLocal, AWaitOnAnotherPipeDoesNotHelp) {
  Rig r;
  r.write(r.aiv(), Pipe::MTE2, "DataCopy", UB, 0, 256);
  r.flag(r.aiv(), Pipe::MTE2, Pipe::MTE3);
  r.read(r.aiv(), Pipe::V, "Add", UB, 0, 256);
  EXPECT_TRUE(has(r.end(), "RAW"));
}

TEST(TrackerLocal, FlagsChain) {
  Rig r;
  r.write(r.aiv(), Pipe::MTE2, "DataCopy", UB, 0, 256);
  r.flag(r.aiv(), Pipe::MTE2, Pipe::V);
  r.flag(r.aiv(), Pipe::V, Pipe::MTE3);
  r.read(r.aiv(), Pipe::MTE3, "DataCopy", UB, 0, 256);
  EXPECT_EQ(r.end(), "");
}

TEST(TrackerLocal, WriteAfterReadBetweenPipes) {
  Rig r;
  r.write(r.aiv(), Pipe::V, "Exp", UB, 0, 256);
  r.flag(r.aiv(), Pipe::V, Pipe::MTE3);
  r.read(r.aiv(), Pipe::MTE3, "DataCopy", UB, 0, 256);
  r.write(r.aiv(), Pipe::V, "Exp", UB, 0, 256);
  const std::string report = r.end();
  EXPECT_TRUE(has(report, "write after read (WAR)"));
  EXPECT_TRUE(has(report, "SetFlag<HardEvent::MTE3_V>(id) after MTE3 DataCopy"));
}

TEST(TrackerLocal, EveryReaderSinceTheLastWriteCounts) {
  Rig r;
  r.write(r.aiv(), Pipe::V, "Exp", UB, 0, 64);
  r.flag(r.aiv(), Pipe::V, Pipe::MTE3);
  r.flag(r.aiv(), Pipe::V, Pipe::S, 1);
  r.read(r.aiv(), Pipe::MTE3, "DataCopy", UB, 0, 64);
  r.read(r.aiv(), Pipe::S, "GetValue", UB, 0, 32);
  r.flag(r.aiv(), Pipe::S, Pipe::MTE2);  // S is waited for, MTE3 is not
  r.write(r.aiv(), Pipe::MTE2, "DataCopy", UB, 0, 64);
  EXPECT_TRUE(has(r.end(), "HardEvent::MTE3_MTE2"));
}

TEST(TrackerLocal, WriteAfterWriteBetweenPipes) {
  Rig r;
  r.write(r.aiv(), Pipe::V, "Duplicate", UB, 0, 256);
  r.write(r.aiv(), Pipe::MTE2, "DataCopy", UB, 0, 256);
  const std::string report = r.end();
  EXPECT_TRUE(has(report, "write after write (WAW)"));
  EXPECT_TRUE(has(report, "HardEvent::V_MTE2"));
}

TEST(TrackerLocal, OnePipeNeedsABarrierForReadAfterWriteAndWriteAfterWrite) {
  for (const bool read : {true, false}) {
    Rig r;
    r.write(r.aiv(), Pipe::V, "Adds", UB, 0, 256);
    if (read) {
      r.read(r.aiv(), Pipe::V, "Exp", UB, 0, 256);
    } else {
      r.write(r.aiv(), Pipe::V, "Exp", UB, 0, 256);
    }
    const std::string report = r.end();
    EXPECT_TRUE(has(report, read ? "RAW" : "WAW"));
    EXPECT_TRUE(has(report, "PipeBarrier<PIPE_V>() between Adds and Exp"));
  }
  Rig r;
  r.write(r.aiv(), Pipe::V, "Adds", UB, 0, 256);
  r.barrier(r.aiv(), Pipe::V);
  r.read(r.aiv(), Pipe::V, "Exp", UB, 0, 256);
  EXPECT_EQ(r.end(), "");
}

TEST(TrackerLocal, AnotherPipesBarrierDoesNotHelp) {
  Rig r;
  r.write(r.aiv(), Pipe::V, "Adds", UB, 0, 256);
  r.barrier(r.aiv(), Pipe::MTE2);
  r.read(r.aiv(), Pipe::V, "Exp", UB, 0, 256);
  EXPECT_TRUE(has(r.end(), "PipeBarrier<PIPE_V>"));
}

TEST(TrackerLocal, OnePipeMayOverwriteWhatItReadBefore) {
  Rig r;
  r.write(r.aiv(), Pipe::V, "Adds", UB, 0, 256);
  r.barrier(r.aiv(), Pipe::V);
  r.read(r.aiv(), Pipe::V, "Exp", UB, 0, 256);
  r.write(r.aiv(), Pipe::V, "Duplicate", UB, 0, 256);
  EXPECT_EQ(r.end(), "");
}

TEST(TrackerLocal, BarrierAllOrdersEveryPair) {
  Rig r;
  r.write(r.aiv(), Pipe::MTE2, "DataCopy", UB, 0, 256);
  r.write(r.aiv(), Pipe::V, "Duplicate", UB, 256, 256);
  r.barrier(r.aiv(), Pipe::ALL);
  r.read(r.aiv(), Pipe::V, "Add", UB, 0, 512);
  r.read(r.aiv(), Pipe::MTE3, "DataCopy", UB, 0, 512);
  r.read(r.aiv(), Pipe::S, "GetValue", UB, 0, 4);
  EXPECT_EQ(r.end(), "");
}

TEST(TrackerLocal, OneInstructionDoesNotRaceWithItself) {
  Rig r;
  r.write(r.aiv(), Pipe::V, "Duplicate", UB, 0, 256);
  r.barrier(r.aiv(), Pipe::V);
  r.begin(r.aiv(), Pipe::V);
  for (int repeat = 0; repeat < 3; ++repeat) {
    r.also(r.aiv(), Pipe::V, "Add", Access::Read, UB, 0, 256);
    r.also(r.aiv(), Pipe::V, "Add", Access::Write, UB, 0, 256);
  }
  EXPECT_EQ(r.end(), "");
}

TEST(TrackerLocal, ScalarRunsInProgramOrderButWaitsForNobody) {
  Rig r;
  r.write(r.aiv(), Pipe::S, "SetValue", UB, 0, 4);
  r.read(r.aiv(), Pipe::S, "GetValue", UB, 0, 4);
  r.write(r.aiv(), Pipe::S, "SetValue", UB, 0, 4);
  EXPECT_EQ(r.end(), "");

  Rig into;
  into.write(into.aiv(), Pipe::S, "SetValue", UB, 0, 32);
  into.read(into.aiv(), Pipe::V, "Add", UB, 0, 32);
  EXPECT_TRUE(has(into.end(), "HardEvent::S_V"));

  Rig from;
  from.write(from.aiv(), Pipe::V, "Add", UB, 0, 32);
  from.read(from.aiv(), Pipe::S, "GetValue", UB, 0, 4);
  EXPECT_TRUE(has(from.end(), "HardEvent::V_S"));
}

TEST(TrackerLocal, WhatTheScalarWaitedForPrecedesAllItIssues) {
  Rig r;
  r.write(r.aiv(), Pipe::MTE2, "DataCopy", UB, 0, 256);
  r.flag(r.aiv(), Pipe::MTE2, Pipe::S);
  r.read(r.aiv(), Pipe::V, "Add", UB, 0, 256);
  r.read(r.aiv(), Pipe::MTE3, "DataCopy", UB, 0, 256);
  EXPECT_EQ(r.end(), "");
}

TEST(TrackerLocal, BytesOfOneCellAreApart) {
  Rig r;
  r.write(r.aiv(), Pipe::V, "WholeReduceMax", UB, 0, 4);
  r.write(r.aiv(), Pipe::V, "WholeReduceMax", UB, 4, 4);
  r.write(r.aiv(), Pipe::S, "SetValue", UB, 8, 4);
  r.barrier(r.aiv(), Pipe::V);
  r.read(r.aiv(), Pipe::V, "Muls", UB, 0, 8);
  EXPECT_EQ(r.end(), "");
  Rig q;
  q.write(q.aiv(), Pipe::V, "WholeReduceMax", UB, 0, 4);
  q.write(q.aiv(), Pipe::S, "SetValue", UB, 8, 4);
  q.barrier(q.aiv(), Pipe::V);
  q.read(q.aiv(), Pipe::V, "Muls", UB, 0, 4);
  q.begin(q.aiv(), Pipe::V);
  q.also(q.aiv(), Pipe::V, "Muls", Access::Move, UB, 0, 32);
  const std::string report = q.end();
  EXPECT_TRUE(has(report, "UB[0x8, 0xc)"));
  EXPECT_TRUE(has(report, "S SetValue"));
}

TEST(TrackerLocal, RangesThatStartAndEndInsideCells) {
  Rig r;
  r.write(r.aiv(), Pipe::MTE2, "DataCopyPad", UB, 20, 100);
  r.read(r.aiv(), Pipe::V, "Add", UB, 119, 1);
  EXPECT_TRUE(has(r.end(), "UB[0x77, 0x78)"));
  Rig q;
  q.write(q.aiv(), Pipe::MTE2, "DataCopyPad", UB, 20, 100);
  q.write(q.aiv(), Pipe::V, "Duplicate", UB, 0, 20);
  q.write(q.aiv(), Pipe::V, "Duplicate", UB, 120, 40);
  EXPECT_EQ(q.end(), "");
}

TEST(TrackerLocal, CoresHaveTheirOwnBuffers) {
  Rig r;
  r.write(r.aiv(0, 0), Pipe::MTE2, "DataCopy", UB, 0, 256);
  r.write(r.aiv(0, 1), Pipe::V, "Duplicate", UB, 0, 256);
  EXPECT_EQ(r.end(), "");
}

TEST(TrackerLocal, AutomaticSynchronisationCoversVectorAndScalarOnly) {
  TrackerOptions options;
  options.auto_sync = true;
  Rig r(options);
  r.write(r.aiv(), Pipe::V, "Adds", UB, 0, 256);
  r.read(r.aiv(), Pipe::V, "Exp", UB, 0, 256);
  r.read(r.aiv(), Pipe::S, "GetValue", UB, 0, 4);
  r.write(r.aiv(), Pipe::S, "SetValue", UB, 0, 256);
  r.read(r.aiv(), Pipe::MTE3, "DataCopy", UB, 0, 256);
  EXPECT_EQ(r.end(), "");

  Rig mte(options);
  mte.write(mte.aiv(), Pipe::MTE2, "DataCopy", UB, 0, 256);
  mte.read(mte.aiv(), Pipe::V, "Exp", UB, 0, 256);
  EXPECT_TRUE(has(mte.end(), "HardEvent::MTE2_V"));

  Rig overlap(options);
  overlap.write(overlap.aiv(), Pipe::MTE2, "DataCopy", UB, 0, 256);
  overlap.write(overlap.aiv(), Pipe::MTE2, "DataCopy", UB, 128, 256);
  EXPECT_TRUE(has(overlap.end(), "PipeBarrier<PIPE_MTE2>"));

  Rig cube(options);
  cube.write(cube.aic(), Pipe::MTE1, "LoadData", Buffer::L0A, 0, 512);
  cube.read(cube.aic(), Pipe::M, "Mmad", Buffer::L0A, 0, 512);
  EXPECT_TRUE(has(cube.end(), "HardEvent::MTE1_M"));
}

TEST(TrackerLocal, WhatTheCompilerWaitsForOrdersLaterInstructionsToo) {
  TrackerOptions options;
  options.auto_sync = true;
  for (const bool look : {true, false}) {
    Rig r(options);
    r.write(r.aiv(), Pipe::V, "Adds", UB, 0, 256);
    if (look) r.read(r.aiv(), Pipe::S, "GetValue", UB, 0, 4);
    r.read(r.aiv(), Pipe::MTE3, "DataCopy", UB, 0, 256);
    EXPECT_EQ(r.end() == "", look);
  }
}

// Two Mmads that add to one L0C tile of `fractals` fractals, no barrier in between.
std::string accumulate(uint64_t fractals) {
  Rig r;
  r.write(r.aic(), Pipe::M, "Mmad", L0C, 0, fractals * 1024);
  r.begin(r.aic(), Pipe::M);
  r.also(r.aic(), Pipe::M, "Mmad", Access::Read, L0C, 0, fractals * 1024);
  r.also(r.aic(), Pipe::M, "Mmad", Access::Write, L0C, 0, fractals * 1024);
  return r.end();
}

TEST(TrackerLocal, SmallAccumulatingMmadsNeedABarrier) {
  EXPECT_TRUE(has(accumulate(9), "PipeBarrier<PIPE_M>() between Mmad and Mmad"));
  EXPECT_EQ(accumulate(10), "");
}

// Mmad, Fixpipe, Mmad on one tile with the given unit flags and no M_FIX, FIX_M flags.
std::string unit_flags(int first, int fix, int second, uint64_t bytes = 16 * 1024) {
  Rig r;
  const auto step = [&](Pipe p, const char* name, Access a, int unit) {
    r.begin(r.aic(), p);
    if (unit != 0) r.tracker->unit_flag(r.aic(), unit);
    r.also(r.aic(), p, name, a, L0C, 0, bytes);
  };
  step(Pipe::M, "Mmad", Access::Write, first);
  step(Pipe::FIX, "Fixpipe", Access::Read, fix);
  step(Pipe::M, "Mmad", Access::Write, second);
  return r.end();
}

TEST(TrackerLocal, UnitFlagsReplaceFlagsBetweenCubeAndFixpipe) {
  EXPECT_EQ(unit_flags(3, 3, 3), "");
  EXPECT_EQ(unit_flags(3, 3, 2), "");
  EXPECT_EQ(unit_flags(3, 3, 3, 1024), "");
  EXPECT_TRUE(has(unit_flags(0, 0, 0), "HardEvent::M_FIX"));
  EXPECT_TRUE(has(unit_flags(2, 3, 3), "HardEvent::M_FIX"));
  EXPECT_TRUE(has(unit_flags(3, 0, 3), "HardEvent::M_FIX"));
  EXPECT_TRUE(has(unit_flags(3, 2, 3), "HardEvent::FIX_M"));
}

TEST(TrackerLocal, TheFirstFaultOfTheLowestCoreIsReported) {
  Rig r;
  for (const CoreId& c : {r.aiv(2, 1), r.aiv(1, 0), r.aiv(1, 1)}) {
    r.write(c, Pipe::MTE2, "DataCopy", UB, 0x40 * (c.block + 1), 32);
    r.read(c, Pipe::V, "Add", UB, 0x40 * (c.block + 1), 32);
  }
  EXPECT_TRUE(has(r.end(), "AIV 1.0 MTE2 DataCopy writes UB[0x80"));
}

TEST(TrackerLocal, HintsNameBarriersThatOrderNothing) {
  Rig r;
  auto& t = *r.tracker;
  r.write(r.aiv(), Pipe::V, "Adds", UB, 0, 256);
  t.pipe_barrier(r.aiv(), Pipe::V, 0);
  r.read(r.aiv(), Pipe::V, "Exp", UB, 0, 256);
  EXPECT_TRUE(t.hints().empty());
  t.pipe_barrier(r.aiv(), Pipe::MTE2, 0);
  ASSERT_EQ(t.hints().size(), 1u);
  EXPECT_TRUE(has(t.hints()[0], "PipeBarrier<PIPE_MTE2> ordered nothing in 1 executions"));
}

TEST(TrackerLocal, HintsNameBarriersWithoutADependence) {
  Rig r;
  r.write(r.aiv(), Pipe::V, "Adds", UB, 0, 256);
  r.barrier(r.aiv(), Pipe::V);
  r.write(r.aiv(), Pipe::V, "Adds", UB, 256, 256);
  ASSERT_EQ(r.tracker->hints().size(), 1u);
  EXPECT_TRUE(has(r.tracker->hints()[0], "PIPE_V"));
}

}  // namespace
}  // namespace dav
