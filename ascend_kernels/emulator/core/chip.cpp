#include "core/chip.h"

#include <cstdlib>
#include <map>
#include <stdexcept>

namespace dav {
namespace {

// Sources. R: the CANN runtime's platform_config ini files. ARCH, CUBE, VEC, REG: Ascend C
// documentation (architecture, theoretical performance of cube, vector and register instructions).
// MM, ADD: Ascend C best-practice samples. PTO: PTO-ISA cost model fits on 910B3.
// [H] cross-checked, [M] one source or a fit, [L] inference.

constexpr uint32_t KiB = 1024;
constexpr uint64_t MiB = 1024 * KiB;

constexpr size_t at(Buffer b) { return static_cast<size_t>(b); }

// Hand-over of a cross-core flag: nothing is published, 250 cycles [L], sweep 50 to 500.
void set_common_rates(Rates& r) {
  r.cross_flag = 250, r.cross_flag_low = 50, r.cross_flag_high = 500;
  r.gm_read_cold = 1400, r.gm_read_warm = 200, r.gm_write = 300, r.l0c_out = 200;  // PTO [M]
  r.mmad_head = 14;                                    // CUBE [H]: 14 to 15.5 measured
  r.vector_bytes = 256;                                // VEC, REG [H]
  r.gm_to_l1 = 78, r.gm_to_ub = 59, r.ub_to_gm = 109;  // PTO [M]
}

Chip coupled(std::string name) {
  Chip c;
  c.name = std::move(name);
  c.arch = Arch::Dav1001;
  c.package_unit = "ascend910";
  c.aic_count = 32;                      // R [H]
  c.clock_mhz = 1000;                    // R [H]
  c.bytes[at(Buffer::L1)] = 1024 * KiB;  // R [H], with the next four lines
  c.bytes[at(Buffer::L0A)] = 64 * KiB;
  c.bytes[at(Buffer::L0B)] = 64 * KiB;
  c.bytes[at(Buffer::L0C)] = 256 * KiB;
  c.bytes[at(Buffer::UB)] = 256 * KiB;
  c.ub_usable = c.bytes[at(Buffer::UB)];
  c.l1_usable = c.bytes[at(Buffer::L1)];
  c.l2_bytes = 32 * MiB;          // R [H]
  c.hbm_bytes = 32 * 1024 * MiB;  // product data [M]
  c.event_ids = 4;                // API reference: event ids 0 to 3
  c.library_workspace = 2 * MiB;  // API reference
  Rates& r = c.rates;
  set_common_rates(r);
  r.l1_to_l0a = 256, r.l1_to_l0b = 128;  // [L]; R says 512/256
  r.l0c_to_ub = 256, r.ub_to_l1 = 128;   // R
  r.ub_to_gm = 64;                       // R, UB to L2
  r.l2_read = 110, r.l2_write = 86;      // R [H]
  r.ddr = 32, r.hbm_tb = 1.2;            // R; [L]
  r.load_data = 50;                      // [L], as 2201
  r.k0_f16 = 16, r.k0_i8 = 32;           // CUBE [H]; no fp32 product on this chip
  r.launch_us = 10;                      // [L], as 2201
  r.error_band = 0.40;                   // no measured anchor exists
  return c;
}

Chip dav2201(std::string name, std::string unit, uint32_t cores, uint32_t mhz) {
  Chip c;
  c.name = std::move(name);
  c.arch = Arch::Dav2201;
  c.package_unit = std::move(unit);
  c.aic_count = cores;
  c.aiv_per_aic = 2;  // R [H]
  c.clock_mhz = mhz;
  c.bytes[at(Buffer::L1)] = 512 * KiB;  // R, ARCH [H], with the next six lines
  c.bytes[at(Buffer::L0A)] = 64 * KiB;
  c.bytes[at(Buffer::L0B)] = 64 * KiB;
  c.bytes[at(Buffer::L0C)] = 128 * KiB;
  c.bytes[at(Buffer::UB)] = 192 * KiB;
  c.bytes[at(Buffer::BT)] = 1 * KiB;
  c.bytes[at(Buffer::FB)] = 7 * KiB;  // public CATLASS headers [M]
  c.ub_usable = 196352;               // as the platform query reports
  c.l1_usable = 524032;
  c.l2_bytes = 192 * MiB;          // R [H]
  c.hbm_bytes = 64 * 1024 * MiB;   // product data [M]
  c.event_ids = 8;                 // API reference: event ids 0 to 7
  c.library_workspace = 16 * MiB;  // API reference
  Rates& r = c.rates;
  set_common_rates(r);
  r.l1_to_l0a = 256, r.l1_to_l0b = 128;                      // ARCH [H]
  r.l0c_to_gm = 66;                                          // MM, fp16 [M]
  r.l2_read = 110, r.l2_write = 86;                          // R [H]
  r.ddr = 32, r.hbm_tb = 1.6;                                // R
  r.l2_read_total_tb = cores == 24 ? 3.75 : 3.41;            // achieved, by core count
  r.load_data = 50;                                          // [L]
  r.k0_f16 = 16, r.k0_i8 = 32, r.k0_f32 = 4, r.k0_hf32 = 8;  // CUBE [H]
  r.launch_us = 10;                                          // [M]
  r.error_band = 0.15;
  return c;
}

Chip dav3510(std::string name, uint32_t cores) {
  Chip c;
  c.name = std::move(name);
  c.arch = Arch::Dav3510;
  c.package_unit = "ascend950";
  c.aic_count = cores;
  c.aiv_per_aic = 2;                    // R [H]
  c.clock_mhz = 1650;                   // R [H]: 1650 or 1800
  c.bytes[at(Buffer::L1)] = 512 * KiB;  // R, ARCH [H], with the next six lines
  c.bytes[at(Buffer::L0A)] = 64 * KiB;
  c.bytes[at(Buffer::L0B)] = 64 * KiB;
  c.bytes[at(Buffer::L0C)] = 256 * KiB;
  c.bytes[at(Buffer::UB)] = 256 * KiB;
  c.bytes[at(Buffer::BT)] = 4 * KiB;
  c.bytes[at(Buffer::FB)] = 16 * KiB;  // public CATLASS headers [M]
  c.ub_usable = 248 * KiB;             // the rest is the register functions' stack
  c.l1_usable = c.bytes[at(Buffer::L1)];
  c.l2_bytes = 128 * MiB;  // R [H]
  c.event_ids = 8;
  c.library_workspace = 16 * MiB;
  Rates& r = c.rates;
  set_common_rates(r);
  r.l1_to_l0a = 256, r.l1_to_l0b = 256;  // ARCH
  r.l0c_to_ub = 128, r.ub_to_l1 = 128, r.l0c_to_gm = 75;
  r.l2_read = 100, r.l2_write = 100;
  r.ddr = 31, r.hbm_tb = 1.6, r.l2_read_total_tb = 5.2;
  r.load_data = 40;                                          // [L]
  r.k0_f16 = 16, r.k0_i8 = 32, r.k0_f32 = 1, r.k0_hf32 = 8;  // CUBE [H]; int8 [L], as 2201
  r.launch_us = 1;                                           // [L]
  r.error_band = 0.20;
  return c;
}

using Table = std::map<std::string, Chip, std::less<>>;

Table make_table() {
  Table t;
  auto add = [&t](Chip c) { t.emplace(c.name, std::move(c)); };
  // A bare Ascend910B, without a digit, is a first-generation name.
  for (const char* n :
       {"Ascend910A", "Ascend910ProA", "Ascend910ProB", "Ascend910PremiumA", "Ascend910B"})
    add(coupled(n));

  // R [H]
  add(dav2201("Ascend910B1", "ascend910b", 24, 1850));
  add(dav2201("Ascend910B2", "ascend910b", 24, 1800));
  add(dav2201("Ascend910B2C", "ascend910b", 24, 1800));
  add(dav2201("Ascend910B3", "ascend910b", 20, 1800));
  for (const char* n : {"Ascend910B4", "Ascend910B4-1"}) {
    Chip b4 = dav2201(n, "ascend910b", 20, 1500);
    b4.l2_bytes = 96 * MiB;          // R [H]
    b4.rates.hbm_tb = 0.8;           // [L]
    b4.hbm_bytes = 32 * 1024 * MiB;  // product data [M]
    add(b4);
  }

  // One die each. R [H]: 24 cores, 20 in 9362 and 9372; the clock is 1800 to 1850 MHz, which of
  // the two per name is [L].
  for (const char* digits : {"9361", "9362", "9371", "9372", "9381", "9382", "9391", "9392"}) {
    const std::string d(digits);
    const uint32_t cores = d == "9362" || d == "9372" ? 20 : 24;
    add(dav2201("Ascend910_" + d, "ascend910_93", cores, d[2] == '9' ? 1850 : 1800));
  }

  // R [H]: 28, 32 or 36 cores; 32 is the one whose peak is published. Names are a family.
  add(dav3510("Ascend950", 32));
  return t;
}

const Table& table() {
  static const Table t = make_table();
  return t;
}

bool starts_with(std::string_view s, std::string_view prefix) {
  return s.substr(0, prefix.size()) == prefix;
}

std::string known_names() {
  std::string all;
  for (const auto& [name, chip] : table()) all += (all.empty() ? "" : ", ") + name;
  return all;
}

// On the coupled chip, per the API reference. Whatever is left out is missing there.
bool coupled_has(Feature f) { return f == Feature::L0cToUb || f == Feature::UbToL1; }

}  // namespace

bool Chip::has(Feature f) const {
  switch (arch) {
    case Arch::Dav1001:
      return coupled_has(f);
    case Arch::Dav2201:
      return f != Feature::L0cToUb && f != Feature::UbToL1;
    case Arch::Dav3510:
      return f != Feature::SparseMmad;
  }
  return false;
}

const Chip& chip_by_name(std::string_view soc) {
  if (const auto it = table().find(soc); it != table().end()) return it->second;
  if (starts_with(soc, "Ascend950") || starts_with(soc, "Ascend910_95"))
    return table().find("Ascend950")->second;
  if (soc == "Ascend910" || soc == "Ascend910_93") {
    throw std::invalid_argument("SoC name '" + std::string(soc) +
                                "' is ambiguous: it stands for several chips; give the full name, "
                                "one of " +
                                known_names());
  }
  throw std::invalid_argument("unknown SoC '" + std::string(soc) + "'; known are " + known_names());
}

const Chip& default_chip() {
  const char* soc = std::getenv("ASCENDFA_EMULATOR_SOC");
  if (soc == nullptr || *soc == '\0') return chip_by_name("Ascend910B3");
  try {
    return chip_by_name(soc);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(std::string("ASCENDFA_EMULATOR_SOC: ") + e.what());
  }
}

std::vector<std::string> chip_names() {
  std::vector<std::string> names;
  for (const auto& [name, chip] : table()) names.push_back(name);
  return names;
}

}  // namespace dav
