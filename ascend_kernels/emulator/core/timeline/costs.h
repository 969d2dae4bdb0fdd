// Cycle costs of one chip: what each instruction occupies its pipe for, and every assumption of the
// cycle model that is no published figure, as a named parameter with a range.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/chip.h"
#include "core/work.h"

namespace dav::timeline {

constexpr int kVectorClassCount = static_cast<int>(VectorClass::Other) + 1;
constexpr int kPathCount = static_cast<int>(Path::GmToL0) + 1;

// A vector instruction takes fixed + repeats * slope cycles on its own; back to back only the
// slope.
struct VectorCost {
  double fixed = 0;
  double slope_f32 = 1;  // cycles per 256-byte repeat of 32-bit elements
  double slope_f16 = 1;  // the same for 16-bit and 8-bit elements
  double conflict = 0;   // added per repeat whose two sources share a bank group
};

struct Costs {
  // Front end.
  double issue = 0;        // S cycles per instruction of any kind
  double queue_depth = 0;  // instructions a pipe holds before S stalls
  // Cube.
  double mmad_head = 0;
  double mmad_m0 = 16, mmad_n0 = 16;
  // Vector.
  std::array<VectorCost, kVectorClassCount> vector{};
  double vector_overlap = 0;  // share of the fixed part that hides behind the instruction before
  double vector_barrier = 0;
  double counter_mode = 0;  // added when the mask is a count that ends inside a repeat
  double gather_slope = 0, transpose_slope = 0, sort_slope = 0;  // per repeat
  double ub_copy = 0;                                            // UB to UB, bytes per cycle
  // Local loads.
  double load_data = 0;          // overhead of an L1 to L0 load
  double load_data_overlap = 0;  // share of that overhead hidden behind the previous load
  // DMA of global memory.
  double read_cold = 0, read_warm = 0;  // latency of a core's first L2 miss, of any other read
  double write_latency = 0, l0c_out_latency = 0;
  double dma_outstanding = 0;  // transfers of one pipe whose latencies overlap
  double dma_unaligned = 0;    // efficiency when bursts are not 512-byte aligned
  double atomic_rate = 0;      // of an atomic store, relative to a plain one
  double l2_line = 0;          // bytes
  double l2_read_group = 0, l2_write_group = 0, ddr_group = 0;  // bytes per cycle, per core group
  double l2_read_total = 0;   // bytes per cycle of all cores, 0 = no cap known
  double hbm_total = 0;       // bytes per cycle of all cores
  double hbm_efficiency = 0;  // achieved share of the peak
  // Between cores and launches.
  double cross_flag = 0;
  double launch_us = 0, launch_ramp_us = 0;  // base, and what is added at full core count

  std::array<double, kPathCount> path{};  // bytes per cycle and core; 0 = the chip lacks the path
  std::array<uint32_t, 4> k0{};           // multiply steps per cycle along k: f16, i8, f32, hf32

  Arch arch = Arch::Dav2201;
  double clock_mhz = 0;
  uint32_t groups = 0;          // core groups of the chip
  uint32_t aivs_per_group = 0;  // 0 on the coupled chip
  uint64_t l2_bytes = 0;
  double error_band = 0;

  double microseconds(double cycles) const { return cycles / clock_mhz; }
  // Bytes per cycle of a rate in TB/s.
  double per_cycle(double tb_per_s) const { return tb_per_s * 1e6 / clock_mhz; }
};

// The model of a chip with every parameter at its default.
DAV_API Costs costs_of(const Chip& chip);

// A parameter that may be swept. Source says where the default and the range come from.
struct Parameter {
  const char* name;
  double& (*field)(Costs&);
  double low, high;
  const char* source;
};
DAV_API const std::vector<Parameter>& parameters();
// Throws std::invalid_argument for an unknown name or a value outside the range.
DAV_API void set_parameter(Costs& costs, std::string_view name, double value);

// Cycles of an Mmad; also the multiply steps alone, without the head.
double mmad_steps(const Costs& costs, const Work& work);
DAV_API double mmad_cycles(const Costs& costs, const Work& work);
// Cycles a vector instruction keeps the unit from taking the next one, and its latency on top.
struct VectorCycles {
  double occupancy;
  double latency;
};
DAV_API VectorCycles vector_cycles(const Costs& costs, const Work& work);
// A move that stays inside the core.
double local_move_cycles(const Costs& costs, const Work& work);

// Whether a move goes through global memory; a fill, which has no bursts, does not.
bool moves_gm(const Work& work);
bool reads_gm(Path path);
bool writes_gm(Path path);
const char* path_name(Path path);
const char* pipe_name(Pipe pipe);

}  // namespace dav::timeline
