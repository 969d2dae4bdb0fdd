// The chips the emulator knows: sizes, rates and what each one lacks. Every number in chip.cpp
// carries its source.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dav/api.h"
#include "dav/types.h"

namespace dav {

enum class Arch : uint16_t { Dav1001 = 1001, Dav2201 = 2201, Dav3510 = 3510 };

// What only some of the chips can do.
enum class Feature : uint8_t {
  Bf16,
  Fixpipe,  // L0C to GM or L1 through the FIX pipe
  HardwareNd2Nz,
  DataCopyPad,
  LoadData3Dv2,
  LoadDataWithTranspose,
  MmadBias,
  MmadF32,
  MmadBf16,
  SparseMmad,
  Gather,
  GatherMask,
  Brcb,
  Copy,          // UB to UB with mask
  ScalarMaxMin,  // Maxs, Mins
  LeakyRelu,
  CompareScalar,
  Shift,
  Sort,
  AtomicMaxMin,
  CrossCoreFlags,
  L0cToUb,  // on-chip path from cube to vector
  UbToL1,   // on-chip path from vector to cube
  Count
};

// Bytes per cycle and core, fixed costs in cycles: the cycle model's constants. Zero means that the
// chip lacks the path.
struct Rates {
  double l1_to_l0a = 0, l1_to_l0b = 0;
  double l0c_to_ub = 0, ub_to_l1 = 0, l0c_to_gm = 0;
  double gm_to_l1 = 0, gm_to_ub = 0, ub_to_gm = 0;
  double l2_read = 0, l2_write = 0;  // cap per core group
  double ddr = 0;
  double l2_read_total_tb = 0;  // TB/s, achieved by all cores together; 0 = not published
  double hbm_tb = 0;            // TB/s
  double gm_read_cold = 0, gm_read_warm = 0, gm_write = 0, l0c_out = 0;
  double load_data = 0;  // fixed cost of an L1 to L0 load
  double mmad_head = 0;
  uint32_t k0_f16 = 0, k0_i8 = 0, k0_f32 = 0, k0_hf32 = 0;  // 0 = lacks it
  uint32_t vector_bytes = 0;                                // per cycle
  double cross_flag = 0, cross_flag_low = 0, cross_flag_high = 0;
  double launch_us = 0;
  double error_band = 0;  // relative error to state beside a prediction
};

struct Chip {
  std::string name;
  Arch arch = Arch::Dav2201;
  std::string package_unit;  // the SoC unit an op package is built for
  uint32_t aic_count = 0;    // AICores on the coupled chip
  uint32_t aiv_per_aic = 0;  // 0 on the coupled chip
  uint32_t clock_mhz = 0;
  std::array<uint32_t, kBufferCount> bytes{};  // per core, by Buffer; GM unused
  uint32_t ub_usable = 0;                      // as the platform query reports it
  uint32_t l1_usable = 0;
  uint64_t l2_bytes = 0;
  uint64_t hbm_bytes = 0;          // 0 = not published
  uint32_t event_ids = 0;          // in-core flags per pipe pair
  uint64_t library_workspace = 0;  // reserved in front of the user's
  Rates rates;

  bool split() const { return aiv_per_aic != 0; }
  uint32_t aiv_count() const { return split() ? aic_count * aiv_per_aic : aic_count; }
  uint32_t size_of(Buffer b) const { return bytes[static_cast<size_t>(b)]; }
  DAV_API bool has(Feature f) const;
};

// Throws std::invalid_argument, naming the known chips, when the name is unknown or ambiguous.
DAV_API const Chip& chip_by_name(std::string_view soc);
// ASCENDFA_EMULATOR_SOC, else Ascend910B3.
DAV_API const Chip& default_chip();
// Every name chip_by_name takes literally (families such as Ascend950 are prefixes).
DAV_API std::vector<std::string> chip_names();

}  // namespace dav
