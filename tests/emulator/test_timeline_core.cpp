// One core's pipes: cycle counts worked out by hand from the published costs.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "timeline_traces.h"

namespace dav::timeline {
namespace {

using namespace testing;

const PipeUse& pipe(const Timeline& t, Pipe p, size_t core = 0) {
  return t.cores.at(core).pipes.at(static_cast<size_t>(p));
}

TEST(TimelineCube, EightProductsTakeThePublishedTime) {
  // 128x256x512 in eight steps of k = 64: measured 4209 to 4225 cycles.
  CoreTrace aic = core(CoreKind::AIC);
  for (int i = 0; i < 8; ++i) aic.records.push_back(mmad(128, 256, 64));
  const Timeline t = replay({aic}, costs_for("Ascend910B1"));
  EXPECT_GE(t.cycles, 4209);
  EXPECT_LE(t.cycles, 4225);
  EXPECT_DOUBLE_EQ(t.cores[0].cube_steps, 4096);
}

TEST(TimelineCube, StepsFollowTypeAndChip) {
  Costs b3 = costs_for("Ascend910B3");
  set_parameter(b3, "mmad_head", 14);
  EXPECT_DOUBLE_EQ(mmad_cycles(b3, mmad(16, 16, 16).work), 14 + 1);
  EXPECT_DOUBLE_EQ(mmad_cycles(b3, mmad(17, 16, 17).work), 14 + 2 * 2);
  EXPECT_DOUBLE_EQ(mmad_cycles(b3, mmad(128, 128, 128, DType::I8).work), 14 + 64 * 4);
  EXPECT_DOUBLE_EQ(mmad_cycles(b3, mmad(128, 128, 128, DType::F32).work), 14 + 64 * 32);
  Work hf32 = mmad(128, 128, 128, DType::F32).work;
  hf32.hf32 = true;
  EXPECT_DOUBLE_EQ(mmad_cycles(b3, hf32), 14 + 64 * 16);
  Costs c950 = costs_for("Ascend950");
  set_parameter(c950, "mmad_head", 14);
  EXPECT_DOUBLE_EQ(mmad_cycles(c950, mmad(128, 128, 128, DType::F32).work), 14 + 64 * 128);
}

TEST(TimelineVector, CostsFollowThePublishedLines) {
  // fp32, alone in the queue, after one issue cycle: fixed + slope * repeats.
  const struct {
    VectorClass what;
    bool conflict;
    double fixed, slope;
  } lines[] = {
      {VectorClass::Exp, false, 31, 2},       {VectorClass::Ln, false, 33, 2},
      {VectorClass::Div, false, 31, 4},       {VectorClass::ScalarOp, false, 26, 1},
      {VectorClass::ScalarMax, false, 23, 1}, {VectorClass::Binary, false, 24, 1},
      {VectorClass::Binary, true, 24, 2},
  };
  for (const auto& line : lines) {
    CoreTrace aiv = core(CoreKind::AIV);
    aiv.records = {vector(line.what, 64, DType::F32, line.conflict)};
    const Timeline t = replay({aiv}, costs_for("Ascend910B3"));
    EXPECT_DOUBLE_EQ(t.cycles, 1 + line.fixed + 64 * line.slope) << int(line.what);
  }
}

TEST(TimelineVector, FixedPartIsPaidOncePerFilledQueueAndAfterABarrier) {
  CoreTrace busy = core(CoreKind::AIV);
  for (int i = 0; i < 3; ++i) busy.records.push_back(vector(VectorClass::Binary, 64, DType::F32));
  EXPECT_DOUBLE_EQ(replay({busy}, costs_for("Ascend910B3")).cycles, 1 + 3 * 64 + 24);

  CoreTrace fenced = core(CoreKind::AIV);
  fenced.records = {vector(VectorClass::Binary, 64, DType::F32), barrier(Pipe::V),
                    vector(VectorClass::Binary, 64, DType::F32)};
  // Drain (1 + 64 + 24), barrier 20, then a full instruction again.
  EXPECT_DOUBLE_EQ(replay({fenced}, costs_for("Ascend910B3")).cycles, 89 + 20 + 88);
}

// 1000 adds of 64 repeats take 88 cycles each in a public sample (2390 ticks of 50 MHz at 1.85
// GHz).
TEST(TimelineVector, FixedPartsMayBeShownByEveryInstruction) {
  Costs costs = costs_for("Ascend910B1");
  set_parameter(costs, "vector_overlap", 0);
  CoreTrace aiv = core(CoreKind::AIV);
  for (int i = 0; i < 1000; ++i) {
    aiv.records.push_back(vector(VectorClass::Binary, 64, DType::F32));
  }
  EXPECT_NEAR(costs.microseconds(replay({aiv}, costs).cycles), 2390 / 50.0, 0.01 * 2390 / 50.0);
}

TEST(TimelineVector, CountThatEndsInsideARepeatCostsSixteenCyclesEach) {
  CoreTrace aiv = core(CoreKind::AIV);
  for (int i = 0; i < 2; ++i) {
    aiv.records.push_back(vector(VectorClass::Binary, 64, DType::F32));
    aiv.records.back().work.partial_count = true;
  }
  EXPECT_DOUBLE_EQ(replay({aiv}, costs_for("Ascend910B3")).cycles, 1 + 2 * (64 + 16) + 24);
}

// Public add sample: 8192 x 8192 fp16 on 48 AIVs; vector time 12.85 us with bank conflicts, 6.95
// without. Tiles of 32 KiB per operand are what fits twice into the UB with three operands.
double add_vector_us(bool conflict) {
  const Costs costs = costs_for("Ascend910B1");
  const uint32_t elements = 8192u * 8192u / 48, tile = 16384;
  CoreTrace aiv = core(CoreKind::AIV);
  for (uint32_t done = 0; done < elements; done += tile) {
    const uint32_t now = std::min(tile, elements - done);
    aiv.records.push_back(vector(VectorClass::Binary, (now + 127) / 128, DType::F16, conflict));
    aiv.records.push_back(set_flag(Pipe::V, Pipe::S));
    aiv.records.push_back(wait_flag(Pipe::V, Pipe::S));
  }
  return costs.microseconds(pipe(replay({aiv}, costs), Pipe::V).busy);
}

TEST(TimelineVector, AddSampleVectorTime) {
  EXPECT_NEAR(add_vector_us(true), 12.85, 0.10 * 12.85);
  EXPECT_NEAR(add_vector_us(false), 6.95, 0.10 * 6.95);
}

TEST(TimelineFlags, ReleaseAtCompletionAndOverlap) {
  // Two slots: the cube works on one while MTE1 fills the other.
  Costs costs = costs_for("Ascend910B3");
  set_parameter(costs, "mmad_head", 14);
  CoreTrace aic = core(CoreKind::AIC);
  const int tiles = 10;
  for (int i = 0; i < tiles; ++i) {
    const auto slot = static_cast<uint8_t>(i % 2);
    if (i >= 2) aic.records.push_back(wait_flag(Pipe::M, Pipe::MTE1, slot));
    aic.records.push_back(move(Pipe::MTE1, Path::L1ToL0b, 32768));  // 50 + 256
    aic.records.push_back(set_flag(Pipe::MTE1, Pipe::M, slot));
    aic.records.push_back(wait_flag(Pipe::MTE1, Pipe::M, slot));
    aic.records.push_back(mmad(128, 128, 128));  // 14 + 512
    if (i + 2 < tiles) aic.records.push_back(set_flag(Pipe::M, Pipe::MTE1, slot));
  }
  const Timeline t = replay({aic}, costs);
  // The first load is exposed, then the cube never waits.
  EXPECT_DOUBLE_EQ(t.cycles, 1 + 306 + tiles * 526);
  EXPECT_DOUBLE_EQ(pipe(t, Pipe::M).busy, tiles * 526);
  EXPECT_DOUBLE_EQ(pipe(t, Pipe::MTE1).busy, tiles * 306);
  // From the third load on MTE1 waits for the cube until a slot is free: first fills end at 307 and
  // 613, products at 833, 1359, ...; each later load starts when the product two before has ended.
  EXPECT_DOUBLE_EQ(pipe(t, Pipe::MTE1).wait, (833 - 613) + 7 * (526 - 306));

  // With one slot everything is in a row: load, product, load, product.
  CoreTrace serial = core(CoreKind::AIC);
  for (int i = 0; i < tiles; ++i) {
    if (i > 0) serial.records.push_back(wait_flag(Pipe::M, Pipe::MTE1));
    serial.records.push_back(move(Pipe::MTE1, Path::L1ToL0b, 32768));
    serial.records.push_back(set_flag(Pipe::MTE1, Pipe::M));
    serial.records.push_back(wait_flag(Pipe::MTE1, Pipe::M));
    serial.records.push_back(mmad(128, 128, 128));
    if (i + 1 < tiles) serial.records.push_back(set_flag(Pipe::M, Pipe::MTE1));
  }
  EXPECT_DOUBLE_EQ(replay({serial}, costs).cycles, 1 + tiles * (306 + 526));
}

TEST(TimelineFlags, ScalarWaitStopsIssue) {
  CoreTrace aiv = core(CoreKind::AIV);
  aiv.records = {vector(VectorClass::Binary, 100, DType::F32), set_flag(Pipe::V, Pipe::S),
                 wait_flag(Pipe::V, Pipe::S), vector(VectorClass::Binary, 10, DType::F32)};
  // 1 + 124, one cycle to issue what follows the wait, 34.
  EXPECT_DOUBLE_EQ(replay({aiv}, costs_for("Ascend910B3")).cycles, 125 + 1 + 34);
}

TEST(TimelineFlags, BarrierAllDrainsEveryPipe) {
  Costs costs = costs_for("Ascend910B3");
  set_parameter(costs, "mmad_head", 14);
  CoreTrace aic = core(CoreKind::AIC);
  aic.records = {mmad(128, 128, 128), barrier(Pipe::ALL), move(Pipe::MTE1, Path::L1ToL0a, 25600)};
  EXPECT_DOUBLE_EQ(replay({aic}, costs).cycles, 1 + 526 + 1 + 50 + 100);
}

TEST(TimelineIssue, FullQueueStopsTheScalarUnit) {
  // V holds its queue of one; the load behind it in the program cannot be issued earlier.
  Costs costs = costs_for("Ascend910B3");
  set_parameter(costs, "queue_depth", 1);
  CoreTrace aiv = core(CoreKind::AIV);
  for (int i = 0; i < 3; ++i) aiv.records.push_back(vector(VectorClass::Binary, 100, DType::F32));
  aiv.records.push_back(move(Pipe::MTE2, Path::GmToUb, 512));
  const Timeline shallow = replay({aiv}, costs);
  // First starts at 1, second leaves the queue at 101, third at 201: S is free to go on from 101.
  EXPECT_DOUBLE_EQ(shallow.cores[0].spans[3].start, 103);
  set_parameter(costs, "queue_depth", 16);
  EXPECT_DOUBLE_EQ(replay({aiv}, costs).cores[0].spans[3].start, 4);
}

TEST(TimelineReplay, WaitNobodyAnswersIsReported) {
  CoreTrace aiv = core(CoreKind::AIV, 3);
  aiv.records = {wait_flag(Pipe::MTE2, Pipe::V)};
  try {
    replay({aiv}, costs_for("Ascend910B3"));
    FAIL() << "no error";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("block 3 AIV"), std::string::npos) << e.what();
  }
}

TraceRecord with_unit_flag(TraceRecord r, uint8_t flag, uint32_t l0c) {
  r.work.unit_flag = flag;
  r.work.l0c_addr = l0c;
  return r;
}

TEST(TimelineUnitFlag, OrdersProductAndStoreWithoutFlags) {
  Costs costs = costs_for("Ascend910B3");
  set_parameter(costs, "mmad_head", 14);
  const TraceRecord product = mmad(128, 128, 128);                         // 526 cycles
  const TraceRecord store = move(Pipe::FIX, Path::L0cToGm, 66 * 1000, 0);  // 200 + 1000
  CoreTrace aic = core(CoreKind::AIC);
  aic.records = {with_unit_flag(product, 2, 0), with_unit_flag(product, 3, 0),
                 with_unit_flag(store, 3, 0), with_unit_flag(product, 3, 65536),
                 with_unit_flag(product, 3, 0)};
  const std::vector<Span> spans = replay({aic}, costs).cores[0].spans;
  const double complete = 1 + 2 * 526;
  EXPECT_DOUBLE_EQ(spans[1].end, complete);
  EXPECT_DOUBLE_EQ(spans[2].start, complete);
  // The other half of L0C is free at once, the first only when it has been stored.
  EXPECT_DOUBLE_EQ(spans[3].start, complete);
  EXPECT_NEAR(spans[2].end, complete + 1200, 1e-6);
  EXPECT_NEAR(spans[4].start, complete + 1200, 1e-6);
}

TEST(TimelineCosts, ParametersAreNamedAndBounded) {
  Costs costs = costs_for("Ascend910B3");
  set_parameter(costs, "cross_flag", 500);
  EXPECT_DOUBLE_EQ(costs.cross_flag, 500);
  EXPECT_THROW(set_parameter(costs, "cross_flag", 501), std::invalid_argument);
  EXPECT_THROW(set_parameter(costs, "warp_speed", 9), std::invalid_argument);
  for (const char* soc : {"Ascend910A", "Ascend910B3", "Ascend950"}) {
    Costs c = costs_for(soc);
    for (const Parameter& p : parameters()) {
      // The rate of a path the chip lacks.
      if (p.name == std::string("l0c_to_gm") && c.arch == Arch::Dav1001) continue;
      EXPECT_GE(p.field(c), p.low) << soc << " " << p.name;
      EXPECT_LE(p.field(c), p.high) << soc << " " << p.name;
    }
  }
}

}  // namespace
}  // namespace dav::timeline
