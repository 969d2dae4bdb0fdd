// Global memory and what cores share: latency, bandwidth, L2, cross-core flags, determinism.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "core/timeline/bandwidth.h"
#include "core/timeline/report.h"
#include "timeline_gemm.h"
#include "timeline_traces.h"

namespace dav::timeline {
namespace {

using namespace testing;

constexpr uint64_t kMiB = 1 << 20;

// 1.46 TB/s at 1.85 GHz, the sample's achieved read rate.
constexpr double kHbmPerCycle = 1.46e12 / 1.85e9;

TEST(TimelineDma, ColdAndWarmReads) {
  const Costs costs = costs_for("Ascend910B3");
  CoreTrace aiv = core(CoreKind::AIV);
  aiv.records = {move(Pipe::MTE2, Path::GmToUb, 32768), barrier(Pipe::MTE2),
                 move(Pipe::MTE2, Path::GmToUb, 32768), barrier(Pipe::MTE2),
                 move(Pipe::MTE2, Path::GmToUb, 32768, 32768)};
  const Timeline t = replay({aiv}, costs);
  // Cold: HBM gives one core 32 bytes per cycle. Warm: the pipe's 59. Later misses: at HBM's rate.
  const Span cold = t.cores[0].spans[0], warm = t.cores[0].spans[2], later = t.cores[0].spans[4];
  EXPECT_NEAR(cold.end - cold.start, 1400 + 32768 / 32.0, 1e-6);
  EXPECT_NEAR(warm.end - warm.start, 200 + 32768 / 59.0, 1e-6);
  EXPECT_NEAR(later.end - later.start, 200 + 32768 / 32.0, 1e-6);
  EXPECT_EQ(t.l2.read_miss, 65536u);
  EXPECT_EQ(t.l2.read_hit, 32768u);
  EXPECT_EQ(t.cores[0].bytes[static_cast<size_t>(Path::GmToUb)], 98304u);
}

TEST(TimelineDma, WritesAndFixpipe) {
  const Costs costs = costs_for("Ascend910B3");
  CoreTrace aiv = core(CoreKind::AIV), aic = core(CoreKind::AIC, 1);
  aiv.records = {move(Pipe::MTE3, Path::UbToGm, 21800, 0)};
  aic.records = {move(Pipe::FIX, Path::L0cToGm, 66000, 64 * kMiB)};
  const Timeline t = replay({aiv, aic}, costs);
  // A group's writes into the L2 go at 86 bytes per cycle at most, below the pipe's 109.
  EXPECT_NEAR(t.cores[0].cycles, 1 + 300 + 21800 / 86.0, 1e-6);
  EXPECT_NEAR(t.cores[1].cycles, 1 + 200 + 1000, 1e-6);
  EXPECT_EQ(t.l2.written, 87800u);
}

// What an atomic store costs is not published, so its end of the range can be asked for.
TEST(TimelineDma, AtomicStoresMayBeSlower) {
  Costs costs = costs_for("Ascend910B3");
  CoreTrace aic = core(CoreKind::AIC);
  aic.records = {move(Pipe::FIX, Path::L0cToGm, 66000)};
  aic.records[0].work.atomic = true;
  EXPECT_NEAR(replay({aic}, costs).cycles, 1 + 200 + 1000, 1e-6);
  set_parameter(costs, "atomic_rate", 0.5);
  EXPECT_NEAR(replay({aic}, costs).cycles, 1 + 200 + 2000, 1e-6);
}

// A pipe that has stored to global memory moves within the core as fast as one that has not.
TEST(TimelineDma, LocalMovesWaitForTransfersAndNotForEachOthersLatency) {
  const Costs costs = costs_for("Ascend910A");
  CoreTrace one = core(CoreKind::Coupled);
  one.records = {move(Pipe::MTE3, Path::UbToGm, 6400), move(Pipe::MTE3, Path::UbToL1, 12800),
                 move(Pipe::MTE3, Path::UbToL1, 12800)};
  const CoreTimeline t = replay({one}, costs).cores[0];
  EXPECT_NEAR(t.spans[1].start, t.spans[0].end, 1e-6);
  EXPECT_NEAR(t.spans[2].start, t.spans[1].start + 12800 / 128.0, 1e-6);
}

TEST(TimelineDma, StreamHidesLatencyAndReachesThePipesRate) {
  const Costs costs = costs_for("Ascend910B3");
  CoreTrace aic = core(CoreKind::AIC);
  for (int i = 0; i < 100; ++i) aic.records.push_back(move(Pipe::MTE2, Path::GmToL1, 78 * 512));
  ReplayOptions warm;
  warm.warm_l2 = true;
  EXPECT_NEAR(replay({aic}, costs, warm).cycles, 1 + 200 + 100 * 512, 1.0);
}

TEST(TimelineDma, UnalignedBurstsCostThirtyPercent) {
  const Costs costs = costs_for("Ascend910B3");
  auto last = [&](uint64_t addr, uint32_t bursts, uint64_t stride) {
    CoreTrace aiv = core(CoreKind::AIV);
    aiv.records = {move(Pipe::MTE2, Path::GmToUb, 59 * 1024, addr, bursts, stride)};
    ReplayOptions warm;
    warm.warm_l2 = true;
    return replay({aiv}, costs, warm).cycles - 201;
  };
  EXPECT_NEAR(last(512, 1, 0), 1024, 1e-6);
  EXPECT_NEAR(last(32, 1, 0), 1024 / 0.7, 1e-6);
  EXPECT_NEAR(last(0, 59, 4096), 1024, 1e-6);         // 1 KiB rows, aligned
  EXPECT_NEAR(last(0, 236, 4096), 1024 / 0.7, 1e-6);  // 256-byte pieces
}

TEST(TimelineDma, FillLeavesGlobalMemoryAlone) {
  CoreTrace aic = core(CoreKind::AIC);
  aic.records = {move(Pipe::MTE2, Path::GmToL1, 7800, 0, 0)};
  const Timeline t = replay({aic}, costs_for("Ascend910B3"));
  EXPECT_DOUBLE_EQ(t.cycles, 1 + 50 + 100);
  EXPECT_EQ(t.l2.read_miss, 0u);
  EXPECT_EQ(t.cores[0].bytes[static_cast<size_t>(Path::GmToL1)], 0u);
}

TEST(TimelineShared, GroupSharesItsPort) {
  // Two AIVs of a group want 59 each, the group reads 110 from the L2: 55 each.
  const Costs costs = costs_for("Ascend910B3");
  CoreTrace a = core(CoreKind::AIV, 0, 0), b = core(CoreKind::AIV, 0, 1);
  a.records = {move(Pipe::MTE2, Path::GmToUb, 55 * 1024, 0)};
  b.records = {move(Pipe::MTE2, Path::GmToUb, 55 * 1024, kMiB)};
  ReplayOptions warm;
  warm.warm_l2 = true;
  EXPECT_NEAR(replay({a, b}, costs, warm).cycles, 201 + 1024, 1e-6);
  // In different groups each has its own.
  b.block = 1;
  EXPECT_NEAR(replay({a, b}, costs, warm).cycles, 201 + 55 * 1024 / 59.0, 1e-6);
}

TEST(TimelineShared, LateStarterTakesItsShareFromThenOn) {
  const Costs costs = costs_for("Ascend910B3");
  SharedBandwidth shared(costs, 1);
  shared.start(0, {0, 0, false, 110 * 100, 0, 0, 110});
  EXPECT_DOUBLE_EQ(shared.next_end(), 100);
  shared.start(50, {1, 0, false, 110 * 100, 0, 0, 110});
  // The first has 5500 bytes left at half the rate.
  EXPECT_DOUBLE_EQ(shared.next_end(), 150);
  EXPECT_EQ(shared.finish(), 0u);
  // The second has had 100 cycles at 55 bytes; now the port is its own.
  EXPECT_DOUBLE_EQ(shared.next_end(), 150 + (11000 - 100 * 55) / 110.0);
  EXPECT_EQ(shared.finish(), 1u);
  EXPECT_TRUE(shared.idle());
}

TEST(TimelineShared, ColdReadOfAllCoresRunsAtTheHbmRate) {
  const Costs costs = costs_for("Ascend910B1");
  std::vector<CoreTrace> traces;
  const uint64_t per_core = 2 * kMiB;
  for (uint32_t i = 0; i < 24; ++i) {
    traces.push_back(core(CoreKind::AIC, i));
    for (uint64_t at = 0; at < per_core; at += 65536) {
      traces.back().records.push_back(move(Pipe::MTE2, Path::GmToL1, 65536, i * per_core + at));
    }
  }
  const Timeline t = replay(traces, costs);
  // 24 cores at 32 bytes per cycle stay just below the 789 that HBM achieves.
  EXPECT_LE(24 * 32.0, kHbmPerCycle);
  EXPECT_NEAR(t.cycles, 1401 + per_core / 32.0, 20);
  EXPECT_EQ(t.l2.read_miss, 24 * per_core);
  // Warm, the pipes' 24 x 78 bytes stay below the L2's 3.75 TB/s.
  ReplayOptions warm;
  warm.warm_l2 = true;
  EXPECT_NEAR(replay(traces, costs, warm).cycles, 201 + per_core / 78.0, 20);
}

TEST(TimelineL2, LeastRecentlyUsedGoesFirst) {
  L2Cache l2(4 * 512, 512);
  auto read = [&](uint64_t line) {
    return l2.access(move(Pipe::MTE2, Path::GmToUb, 512, line * 512).work, false);
  };
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(read(i).read_miss, 512u);
  EXPECT_EQ(read(0).read_hit, 512u);   // 1 is now the oldest
  EXPECT_EQ(read(9).read_miss, 512u);  // and goes
  EXPECT_EQ(read(0).read_hit, 512u);
  EXPECT_EQ(read(1).read_miss, 512u);
}

TEST(TimelineL2, DirtyLinesAreWrittenBackWhenEvicted) {
  L2Cache l2(2 * 512, 512);
  const Work write = move(Pipe::MTE3, Path::UbToGm, 1024, 0).work;
  EXPECT_EQ(l2.access(write, true).written, 1024u);
  const Work read = move(Pipe::MTE2, Path::GmToUb, 1024, 4096).work;
  const L2Traffic t = l2.access(read, false);
  EXPECT_EQ(t.write_back, 1024u);
  EXPECT_EQ(t.hbm(), 2048u);
  EXPECT_EQ(l2.access(read, false).read_hit, 1024u);
}

TEST(TimelineL2, StridedBurstsTouchTheirOwnLines) {
  L2Cache l2(kMiB, 512);
  const L2Traffic t = l2.access(move(Pipe::MTE2, Path::GmToUb, 4 * 256, 0, 4, 1024).work, false);
  EXPECT_EQ(t.read_miss, 1024u);
  // The other half of each line is there now, the lines between are not.
  EXPECT_EQ(l2.access(move(Pipe::MTE2, Path::GmToUb, 256, 256).work, false).read_hit, 256u);
  EXPECT_EQ(l2.access(move(Pipe::MTE2, Path::GmToUb, 256, 512).work, false).read_miss, 256u);
}

TEST(TimelineL2, AtomicStoreFetchesWhatItAddsTo) {
  L2Cache l2(4 * 512, 512);
  Work add = move(Pipe::FIX, Path::L0cToGm, 1024, 0).work;
  add.atomic = true;
  const L2Traffic first = l2.access(add, true);
  EXPECT_EQ(first.written, 1024u);
  EXPECT_EQ(first.hbm(), 1024u);
  EXPECT_EQ(l2.access(add, true).hbm(), 0u);
}

// Stores fill the L2 and push older data out. That is the L2's traffic: it does not pass the 32
// bytes per cycle that a core group has to HBM, and a store goes on at its own rate.
TEST(TimelineL2, EvictionsDoNotPassTheCoresPathToHbm) {
  Costs costs = costs_for("Ascend910B3");
  costs.l2_bytes = 64 * 1024;
  CoreTrace aic = core(CoreKind::AIC);
  for (uint64_t i = 0; i < 4; ++i) {
    aic.records.push_back(move(Pipe::FIX, Path::L0cToGm, 66 * 1024, i * kMiB));
  }
  const Timeline t = replay({aic}, costs);
  EXPECT_GT(t.l2.write_back, 66u * 2048);
  EXPECT_NEAR(t.cycles, 1 + 200 + 4 * 1024, 1e-6);
  // All cores together still share what HBM takes: 1.6 TB/s x 0.9125 at 1.8 GHz.
  std::vector<CoreTrace> traces;
  for (uint32_t block = 0; block < 20; ++block) {
    traces.push_back(core(CoreKind::AIC, block));
    for (uint64_t i = 0; i < 64; ++i) {
      traces[block].records.push_back(
          move(Pipe::FIX, Path::L0cToGm, 66 * 1024, (block * 64 + i) * kMiB));
    }
  }
  EXPECT_NEAR(replay(traces, costs).cycles, 20 * 64 * 66 * 1024 / (1.46e12 / 1.8e9), 2000);
}

TEST(TimelineCross, HandOverBetweenCubeAndBothVectors) {
  Costs costs = costs_for("Ascend910B3");
  set_parameter(costs, "mmad_head", 14);
  CoreTrace aic = core(CoreKind::AIC);
  aic.records = {mmad(128, 128, 128), cross(TraceType::CrossSet, Pipe::M, 2, 1),
                 cross(TraceType::CrossWait, Pipe::M, 2, 2), mmad(16, 16, 16)};
  std::vector<CoreTrace> traces = {aic};
  for (uint32_t sub = 0; sub < 2; ++sub) {
    CoreTrace aiv = core(CoreKind::AIV, 0, sub);
    aiv.records = {cross(TraceType::CrossWait, Pipe::V, 2, 1),
                   vector(VectorClass::Binary, 100 + 50 * sub, DType::F32),
                   cross(TraceType::CrossSet, Pipe::V, 2, 2)};
    traces.push_back(aiv);
  }
  const double seen = 527 + 250;                  // by both AIVs
  const double answered = seen + 24 + 150 + 250;  // the slower one decides
  const Timeline t = replay(traces, costs);
  EXPECT_DOUBLE_EQ(t.cores[1].spans[0].end, seen);
  EXPECT_DOUBLE_EQ(t.cycles, answered + 15);
  set_parameter(costs, "cross_flag", 500);
  EXPECT_DOUBLE_EQ(replay(traces, costs).cycles, answered + 15 + 500);
}

TEST(TimelineCross, AllCoresOfAKindMeet) {
  const Costs costs = costs_for("Ascend910B3");
  std::vector<CoreTrace> traces;
  for (uint32_t i = 0; i < 4; ++i) {
    traces.push_back(core(CoreKind::AIV, i / 2, i % 2));
    traces.back().records = {vector(VectorClass::Binary, 100 * (i + 1), DType::F32),
                             cross(TraceType::CrossSet, Pipe::V, 0, 14),
                             cross(TraceType::CrossWait, Pipe::S, 0, 14)};
  }
  const Timeline t = replay(traces, costs);
  for (const CoreTimeline& c : t.cores) EXPECT_DOUBLE_EQ(c.cycles, 1 + 424 + 250);
}

TEST(TimelineCross, PairMeetsWithinItsGroupOnly) {
  const Costs costs = costs_for("Ascend910B3");
  std::vector<CoreTrace> traces;
  for (uint32_t i = 0; i < 4; ++i) {
    traces.push_back(core(CoreKind::AIV, i / 2, i % 2));
    traces.back().records = {vector(VectorClass::Binary, 100 * (i + 1), DType::F32),
                             cross(TraceType::CrossSet, Pipe::V, 1, 3),
                             cross(TraceType::CrossWait, Pipe::S, 1, 3)};
  }
  const Timeline t = replay(traces, costs);
  EXPECT_DOUBLE_EQ(t.cores[0].cycles, 1 + 224 + 250);
  EXPECT_DOUBLE_EQ(t.cores[3].cycles, 1 + 424 + 250);
}

// 8192^3 fp16 on 24 cores of 910B, 128x256 output tiles: published cube time 3076 us. One core
// does a 24th of the tiles.
TEST(TimelineAnchors, MatmulCubeTime) {
  const Costs costs = costs_for("Ascend910B1");
  CoreTrace aic = core(CoreKind::AIC);
  const uint32_t tiles = (8192 / 128) * (8192 / 256) / 24 + 1;
  for (uint32_t i = 0; i < tiles; ++i) {
    for (uint32_t k = 0; k < 8192; k += 64) aic.records.push_back(mmad(128, 256, 64));
  }
  const Timeline t = replay({aic}, costs);
  EXPECT_NEAR(costs.microseconds(t.cycles), 3076, 0.02 * 3076);
}

std::vector<CoreTrace> blocks(uint32_t count, CoreKind kind, const TraceRecord& record) {
  std::vector<CoreTrace> traces;
  for (uint32_t i = 0; i < count; ++i) {
    traces.push_back(core(kind, i));
    traces.back().records = {record};
  }
  return traces;
}

// Matrix products on 24 cores, as measured: the cores' own time of PTO GEMM on A3, and the DMA time
// of the public 8192^3 sample.
Summary gemm(const char* soc, uint32_t size) {
  const Costs costs = costs_for(soc);
  ReplayOptions repeated;
  repeated.keep_spans = false;
  repeated.warm_l2 = true;
  const Timeline t = replay(Gemm{size, size, size}.traces(24), costs, repeated);
  return summarise("gemm", soc, t, costs);
}

TEST(TimelineAnchors, GemmTimes) {
  EXPECT_NEAR(gemm("Ascend910_9391", 3072).kernel_us, 206.7, 0.15 * 206.7);
  EXPECT_NEAR(gemm("Ascend910_9391", 6144).kernel_us, 1506, 0.15 * 1506);
}

TEST(TimelineAnchors, MatmulDmaTime) {
  const Summary s = gemm("Ascend910B1", 8192);
  EXPECT_NEAR(s.pipes.at("AIC.MTE2").busy * s.kernel_us, 3436, 0.15 * 3436);
  EXPECT_EQ(s.limit, "AIC.MTE2");
}

TEST(TimelineLaunch, CostGrowsWithTheCoresInUse) {
  const Costs costs = costs_for("Ascend910B3");
  EXPECT_DOUBLE_EQ(replay(blocks(1, CoreKind::AIC, mmad(16, 16, 16)), costs).launch_us, 10.5);
  EXPECT_DOUBLE_EQ(replay(blocks(20, CoreKind::AIC, mmad(16, 16, 16)), costs).launch_us, 20);
  // More blocks than cores do not occupy more of the chip.
  EXPECT_DOUBLE_EQ(replay(blocks(90, CoreKind::AIC, mmad(16, 16, 16)), costs).launch_us, 20);
}

TEST(TimelineLaunch, BlocksBeyondTheCoresRunAfterwards) {
  const Costs costs = costs_for("Ascend910B3");  // 20 AIC, 40 AIV
  const TraceRecord exp = vector(VectorClass::Exp, 100, DType::F32);
  const double one = 1 + 31 + 200;
  EXPECT_DOUBLE_EQ(replay(blocks(40, CoreKind::AIV, exp), costs).cycles, one);
  EXPECT_DOUBLE_EQ(replay(blocks(41, CoreKind::AIV, exp), costs).cycles, 2 * one);
  EXPECT_DOUBLE_EQ(replay(blocks(81, CoreKind::AIV, exp), costs).cycles, 3 * one);
  Costs exact = costs;
  set_parameter(exact, "mmad_head", 14);
  EXPECT_DOUBLE_EQ(replay(blocks(21, CoreKind::AIC, mmad(16, 16, 16)), exact).cycles, 2 * 16);
}

TEST(TimelineLaunch, VectorBlocksShareAGroupsPort) {
  // Blocks 0 and 1 of a kernel without a cube are the two AIVs of one group.
  const Costs costs = costs_for("Ascend910B3");
  ReplayOptions warm;
  warm.warm_l2 = true;
  const TraceRecord read = move(Pipe::MTE2, Path::GmToUb, 55 * 1024);
  EXPECT_NEAR(replay(blocks(2, CoreKind::AIV, read), costs, warm).cycles, 201 + 1024, 1e-6);
}

std::vector<CoreTrace> busy_chip(int tiles) {
  std::vector<CoreTrace> traces;
  for (uint32_t block = 0; block < 20; ++block) {
    CoreTrace aic = core(CoreKind::AIC, block);
    for (int i = 0; i < tiles; ++i) {
      const auto slot = static_cast<uint8_t>(i % 2);
      if (i >= 2) aic.records.push_back(wait_flag(Pipe::M, Pipe::MTE2, slot));
      aic.records.push_back(move(Pipe::MTE2, Path::GmToL1, 16384 + 512 * block,
                                 (block * 7919 + i * 131) % 4096 * 65536));
      aic.records.push_back(set_flag(Pipe::MTE2, Pipe::M, slot));
      aic.records.push_back(wait_flag(Pipe::MTE2, Pipe::M, slot));
      aic.records.push_back(mmad(64, 64, 64));
      if (i + 2 < tiles) aic.records.push_back(set_flag(Pipe::M, Pipe::MTE2, slot));
      aic.records.push_back(move(Pipe::FIX, Path::L0cToGm, 8192, (block + i * 20) * 65536));
    }
    traces.push_back(aic);
  }
  return traces;
}

TEST(TimelineReplay, SameTraceSameFigure) {
  const Costs costs = costs_for("Ascend910B3");
  const std::vector<CoreTrace> traces = busy_chip(200);
  const Timeline a = replay(traces, costs), b = replay(traces, costs);
  EXPECT_EQ(a.cycles, b.cycles);
  for (size_t c = 0; c < a.cores.size(); ++c) {
    for (size_t i = 0; i < a.cores[c].spans.size(); ++i) {
      ASSERT_EQ(a.cores[c].spans[i].start, b.cores[c].spans[i].start);
      ASSERT_EQ(a.cores[c].spans[i].end, b.cores[c].spans[i].end);
    }
  }
  // Where the allocator put the buffers does not matter.
  std::vector<CoreTrace> moved = traces;
  for (CoreTrace& t : moved) {
    for (TraceRecord& r : t.records) r.work.gm_addr += uint64_t(12345) * 4096;
  }
  EXPECT_EQ(replay(moved, costs).cycles, a.cycles);
}

TEST(TimelineReplay, AMillionRecordsTakeSeconds) {
  const std::vector<CoreTrace> traces = busy_chip(7200);  // one million records
  const auto from = std::chrono::steady_clock::now();
  ReplayOptions lean;
  lean.keep_spans = false;
  EXPECT_GT(replay(traces, costs_for("Ascend910B3"), lean).cycles, 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
  std::printf("%zu records in %.2f s\n", traces.size() * traces[0].records.size(), took.count());
  EXPECT_LT(took.count(), 30);
}

}  // namespace
}  // namespace dav::timeline
