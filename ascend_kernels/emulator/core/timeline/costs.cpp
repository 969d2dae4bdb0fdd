#include "core/timeline/costs.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace dav::timeline {
namespace {

// Sources. VEC, REG, CUBE: Ascend C documentation, theoretical performance of vector, register and
// cube instructions. PTO: PTO-ISA cost model fits on 910B3. ADD: Ascend C add sample.
// [H] cross-checked, [M] one source or a fit, [L] inference.

constexpr size_t at(VectorClass c) { return static_cast<size_t>(c); }
constexpr size_t at(Path p) { return static_cast<size_t>(p); }

void set_vector(Costs& c) {
  auto set = [&c](VectorClass k, VectorCost cost) { c.vector[at(k)] = cost; };
  // Binary is the line every class without a figure of its own falls back to.
  c.vector.fill({24, 1, 1, 0});
  set(VectorClass::Exp, {31, 2, 4, 0});        // PTO [M]; 32 elements/cycle VEC [H]
  set(VectorClass::Ln, {33, 2, 4, 0});         // PTO [M]; 32 elements/cycle VEC [H]
  set(VectorClass::Sqrt, {31, 2, 4, 0});       // slope VEC [H]; fixed part as exp [L]
  set(VectorClass::Div, {31, 4, 4, 0});        // fp32 PTO [M]; fp16 32 elements/cycle VEC [H]
  set(VectorClass::ScalarOp, {26, 1, 1, 0});   // PTO [M]
  set(VectorClass::ScalarMax, {23, 1, 1, 0});  // PTO [M]
  set(VectorClass::Binary, {24, 1, 1, 1});     // PTO [M]: 1 or, with a bank conflict, 2 per repeat
  set(VectorClass::Cast, {24, 1, 1, 0});       // 64/cycle VEC [H]: one fp32 repeat; fixed [L]
  set(VectorClass::BlockReduce, {24, 1, 7, 0});   // 64 fp32, 128/7 fp16 per cycle VEC [H]
  set(VectorClass::RepeatReduce, {24, 7, 7, 0});  // 64/7 fp32, 128/7 fp16 per cycle VEC [H]
  set(VectorClass::PairReduce, {24, 1, 7, 0});    // as BlockReduce [L]
  set(VectorClass::Brcb, {24, 1, 1, 0});          // 8 inputs/cycle VEC [H], 8 inputs per repeat
  c.ub_copy = 256;                                // the unit's width, VEC [H]
  if (c.arch == Arch::Dav3510) {
    // REG, PTO [M]: 32 fp32 exp per cycle; a vector function starts in 23 and drains in 12 cycles,
    // and issues two instructions at once (the classic instructions are functions of one).
    for (VectorCost& v : c.vector) v.fixed = 23 + 12;
  }
}

void set_paths(Costs& c, const Rates& r) {
  auto set = [&c](Path p, double rate) { c.path[at(p)] = rate; };
  set(Path::GmToL1, r.gm_to_l1);
  set(Path::GmToUb, r.gm_to_ub);
  set(Path::UbToGm, r.ub_to_gm);
  set(Path::L1ToL0a, r.l1_to_l0a);
  set(Path::L1ToL0b, r.l1_to_l0b);
  set(Path::L0cToGm, r.l0c_to_gm);
  set(Path::L0cToUb, r.l0c_to_ub);
  set(Path::UbToL1, r.ub_to_l1);
  // No figure is published for the rest; each takes that of the path it shares wires with [L].
  set(Path::L0cToL1, r.l0c_to_gm);
  set(Path::L1ToBt, r.l1_to_l0b);
  set(Path::L1ToFb, r.l1_to_l0b);
  set(Path::L1ToGm, r.ub_to_gm);
  set(Path::L1ToUb, r.ub_to_l1 > 0 ? r.ub_to_l1 : r.gm_to_ub);
  set(Path::GmToL0, r.gm_to_l1);
  set(Path::UbToUb, c.ub_copy);
}

double element_slope(const Costs& c, const Work& w) {
  switch (w.vector) {
    case VectorClass::Gather:
      return c.gather_slope;
    case VectorClass::Transpose:
      return c.transpose_slope;
    case VectorClass::Sort:
      return c.sort_slope;
    default:
      break;
  }
  const VectorCost& v = c.vector[at(w.vector)];
  return size_of(w.dtype) >= 4 ? v.slope_f32 : v.slope_f16;
}

}  // namespace

Costs costs_of(const Chip& chip) {
  const Rates& r = chip.rates;
  Costs c;
  c.arch = chip.arch;
  c.clock_mhz = chip.clock_mhz;
  c.groups = chip.aic_count;
  c.aivs_per_group = chip.aiv_per_aic;
  c.l2_bytes = chip.l2_bytes;
  c.error_band = r.error_band;

  c.issue = 1;  // [L]: one cycle per flag, barrier or instruction
  // [L]: finite, not published. The published GEMM asks for a piece of 256 when it is due and keeps
  // its loads going all the same, so a queue holds such a piece: 20 entries. The next power of two.
  c.queue_depth = 32;
  // CUBE [H]: the head of one Mmad measures 14 to 15.5; the middle of it puts eight products of
  // 128x256x64 (4096 steps) into the measured 4209 to 4225.
  c.mmad_head = std::max(r.mmad_head, 14.75);
  c.k0 = {r.k0_f16, r.k0_i8, r.k0_f32, r.k0_hf32};

  set_vector(c);
  c.vector_overlap = 1;   // [L]: the fixed part of what follows runs beside what is before it
  c.vector_barrier = 20;  // PTO [M]
  c.counter_mode = 16;    // PTO [M], fitted where the count ends inside a repeat
  c.gather_slope = 8;     // [L] not published: one 32-byte block per cycle and repeat
  c.transpose_slope = 2;  // [L] not published: 512 bytes at 256 per cycle
  c.sort_slope = 8;       // [L] not published
  set_paths(c, r);

  c.load_data = r.load_data;
  c.load_data_overlap = 0;  // [L]: the pessimistic end
  // Cold is a core's first: one core of the ADD sample reads 268 MB that no cache holds in 6909 us;
  // at 200 cycles for each read the model says 7085, at 1400 for each 17713.
  c.read_cold = r.gm_read_cold;
  c.read_warm = r.gm_read_warm;
  c.write_latency = r.gm_write;
  c.l0c_out_latency = r.l0c_out;
  c.dma_outstanding = 2;  // [L]: published matmul DMA time leaves no room for exposed latency
  c.dma_unaligned = 0.7;  // [M]: 32-byte alignment costs up to 30 %
  c.atomic_rate = 1;      // [L] not published: the optimistic end
  c.l2_line = 512;        // [L]: the alignment that reaches the full rate
  c.l2_read_group = r.l2_read;
  c.l2_write_group = r.l2_write;
  c.ddr_group = r.ddr;
  c.l2_read_total = c.per_cycle(r.l2_read_total_tb);
  c.hbm_efficiency = 0.9125;  // ADD: 1.46 of 1.6 TB/s achieved reading [M]
  c.hbm_total = c.per_cycle(r.hbm_tb);

  c.cross_flag = r.cross_flag;
  c.launch_us = r.launch_us;
  // 910B: about 10 us, 20 us with all cores [M]; 950: about 1 us in all [L]; 910A as 910B [L].
  c.launch_ramp_us = chip.arch == Arch::Dav3510 ? 0 : 10;
  return c;
}

namespace {

template <double Costs::*kMember>
double& field(Costs& c) {
  return c.*kMember;
}
template <Path kPath>
double& rate(Costs& c) {
  return c.path[at(kPath)];
}

}  // namespace

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> table = {
      {"issue", field<&Costs::issue>, 1, 4, "[L] S issues one instruction per cycle"},
      {"queue_depth", field<&Costs::queue_depth>, 1, 64,
       "[L] finite, not published; PTO GEMM needs 20"},
      {"mmad_head", field<&Costs::mmad_head>, 14, 15.5, "CUBE [H] measured range"},
      {"vector_overlap", field<&Costs::vector_overlap>, 0, 1,
       "[L] 1 = back to back only slopes add up; a public loop of equal Adds shows 0"},
      {"vector_barrier", field<&Costs::vector_barrier>, 0, 40, "PTO [M] about 20"},
      {"counter_mode", field<&Costs::counter_mode>, 0, 32, "PTO [M] 16"},
      {"gather_slope", field<&Costs::gather_slope>, 1, 64, "[L] not published"},
      {"transpose_slope", field<&Costs::transpose_slope>, 1, 16, "[L] not published"},
      {"sort_slope", field<&Costs::sort_slope>, 1, 64, "[L] not published"},
      {"load_data", field<&Costs::load_data>, 0, 100, "[L] about 50 (2201), 40 (3510)"},
      {"load_data_overlap", field<&Costs::load_data_overlap>, 0, 1,
       "[L] 0 = each load pays in full"},
      {"gm_to_l1", rate<Path::GmToL1>, 78, 86,
       "PTO, MM [M] fit 78; the published 8192^3 product alone implies 84.4, 6144^3 86"},
      {"l0c_to_gm", rate<Path::L0cToGm>, 66, 86,
       "MM [M] 66, fixed part inside; PTO GEMM stores at 78 to 83 beside 200; L2 write port 86"},
      {"read_cold", field<&Costs::read_cold>, 200, 1400, "PTO [M] 1400 cold to 200"},
      {"read_warm", field<&Costs::read_warm>, 200, 1400, "PTO [M] 1400 cold to 200"},
      {"write_latency", field<&Costs::write_latency>, 0, 600, "PTO [M] 300"},
      {"l0c_out_latency", field<&Costs::l0c_out_latency>, 0, 400, "PTO [M] 200"},
      {"dma_outstanding", field<&Costs::dma_outstanding>, 1, 32,
       "[L] latency overlap of one DMA pipe"},
      {"dma_unaligned", field<&Costs::dma_unaligned>, 0.7, 1,
       "[M] 32-byte alignment costs up to 30 %"},
      {"atomic_rate", field<&Costs::atomic_rate>, 0.5, 1,
       "[L] not published; 0.5: the L2 reads and writes every byte"},
      {"l2_line", field<&Costs::l2_line>, 128, 4096, "[L] granularity of the L2 model"},
      {"hbm_efficiency", field<&Costs::hbm_efficiency>, 0.8, 1, "ADD [M] 1.46 of 1.6 TB/s"},
      {"cross_flag", field<&Costs::cross_flag>, 50, 500, "[L] 250 per hand-off, not published"},
      {"launch_us", field<&Costs::launch_us>, 0, 20, "[M] about 10 us on 910B, [L] 1 us on 950"},
      {"launch_ramp_us", field<&Costs::launch_ramp_us>, 0, 20, "[M] to 20 us with all cores"},
  };
  return table;
}

void set_parameter(Costs& costs, std::string_view name, double value) {
  for (const Parameter& p : parameters()) {
    if (name != p.name) continue;
    if (!(value >= p.low && value <= p.high)) {
      throw std::invalid_argument("cost parameter " + std::string(name) + " is " +
                                  std::to_string(value) + "; it may be " + std::to_string(p.low) +
                                  " to " + std::to_string(p.high));
    }
    p.field(costs) = value;
    return;
  }
  std::string known;
  for (const Parameter& p : parameters()) known += std::string(known.empty() ? "" : ", ") + p.name;
  throw std::invalid_argument("unknown cost parameter '" + std::string(name) + "'; known are " +
                              known);
}

double mmad_steps(const Costs& c, const Work& w) {
  // One 16 x 16 x K0 step per cycle; K0 shrinks with the width of the type (CUBE [H]).
  uint32_t k0 = c.k0[0];
  if (size_of(w.dtype) == 1) k0 = w.dtype == DType::I4 ? 2 * c.k0[1] : c.k0[1];
  if (w.dtype == DType::F32) k0 = w.hf32 ? c.k0[3] : c.k0[2];
  if (k0 == 0) k0 = 1;  // a type the chip lacks never gets here from isa/
  // An operand is padded to whole 32-byte fractal columns before it is stepped through.
  const uint32_t fractal = std::max<uint32_t>(k0, w.dtype == DType::F32 ? 8 : k0);
  const double columns = std::ceil(double(w.k) / fractal) * (double(fractal) / k0);
  return std::ceil(w.m / c.mmad_m0) * std::ceil(w.n / c.mmad_n0) * columns;
}

double mmad_cycles(const Costs& c, const Work& w) { return c.mmad_head + mmad_steps(c, w); }

VectorCycles vector_cycles(const Costs& c, const Work& w) {
  const VectorCost& v = c.vector[at(w.vector)];
  const double sweep = w.repeats * element_slope(c, w) + w.bank_conflicts * v.conflict;
  const double mode = w.partial_count ? c.counter_mode : 0;
  const double shown = v.fixed * (1 - c.vector_overlap);
  return {std::max(1.0, sweep) + mode + shown, v.fixed - shown};
}

double local_move_cycles(const Costs& c, const Work& w) {
  const double rate = c.path[at(w.path)];
  return double(w.bytes) / (rate > 0 ? rate : c.ub_copy);
}

bool moves_gm(const Work& w) {
  return w.kind == WorkKind::Move && w.bursts > 0 && (reads_gm(w.path) || writes_gm(w.path));
}

bool reads_gm(Path p) { return p == Path::GmToL1 || p == Path::GmToUb || p == Path::GmToL0; }

bool writes_gm(Path p) { return p == Path::UbToGm || p == Path::L0cToGm || p == Path::L1ToGm; }

const char* path_name(Path p) {
  static const char* const names[kPathCount] = {
      "GM->L1",  "GM->UB", "UB->GM", "L1->L0A", "L1->L0B", "L1->BT", "L0C->GM", "L0C->L1",
      "L0C->UB", "UB->L1", "L1->UB", "UB->UB",  "L1->GM",  "L1->FB", "GM->L0"};
  return names[at(p)];
}

const char* pipe_name(Pipe p) {
  static const char* const names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"};
  return names[static_cast<size_t>(p)];
}

}  // namespace dav::timeline
