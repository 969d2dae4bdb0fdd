// The chip table against the published sizes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "core/chip.h"

namespace {

using dav::Arch;
using dav::Buffer;
using dav::Feature;

struct Row {
  const char* soc;
  Arch arch;
  const char* unit;
  uint32_t aic, aiv, mhz, l1, l0a, l0b, l0c, ub, bt, l2_mib, ids;
};

// Runtime platform files, in KiB and MHz.
const Row kRows[] = {
    {"Ascend910A", Arch::Dav1001, "ascend910", 32, 32, 1000, 1024, 64, 64, 256, 256, 0, 32, 4},
    {"Ascend910ProB", Arch::Dav1001, "ascend910", 32, 32, 1000, 1024, 64, 64, 256, 256, 0, 32, 4},
    {"Ascend910B", Arch::Dav1001, "ascend910", 32, 32, 1000, 1024, 64, 64, 256, 256, 0, 32, 4},
    {"Ascend910B1", Arch::Dav2201, "ascend910b", 24, 48, 1850, 512, 64, 64, 128, 192, 1, 192, 8},
    {"Ascend910B2", Arch::Dav2201, "ascend910b", 24, 48, 1800, 512, 64, 64, 128, 192, 1, 192, 8},
    {"Ascend910B3", Arch::Dav2201, "ascend910b", 20, 40, 1800, 512, 64, 64, 128, 192, 1, 192, 8},
    {"Ascend910B4", Arch::Dav2201, "ascend910b", 20, 40, 1500, 512, 64, 64, 128, 192, 1, 96, 8},
    {"Ascend910_9391", Arch::Dav2201, "ascend910_93", 24, 48, 1850, 512, 64, 64, 128, 192, 1, 192,
     8},
    {"Ascend910_9362", Arch::Dav2201, "ascend910_93", 20, 40, 1800, 512, 64, 64, 128, 192, 1, 192,
     8},
    {"Ascend950PR_9589", Arch::Dav3510, "ascend950", 32, 64, 1650, 512, 64, 64, 256, 256, 4, 128,
     8},
    {"Ascend910_9599", Arch::Dav3510, "ascend950", 32, 64, 1650, 512, 64, 64, 256, 256, 4, 128, 8},
};

TEST(CoreChip, SizesAreThePublishedOnes) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.soc);
    const dav::Chip& c = dav::chip_by_name(row.soc);
    EXPECT_EQ(c.arch, row.arch);
    EXPECT_EQ(c.package_unit, row.unit);
    EXPECT_EQ(c.aic_count, row.aic);
    EXPECT_EQ(c.aiv_count(), row.aiv);
    EXPECT_EQ(c.clock_mhz, row.mhz);
    EXPECT_EQ(c.size_of(Buffer::L1), row.l1 * 1024);
    EXPECT_EQ(c.size_of(Buffer::L0A), row.l0a * 1024);
    EXPECT_EQ(c.size_of(Buffer::L0B), row.l0b * 1024);
    EXPECT_EQ(c.size_of(Buffer::L0C), row.l0c * 1024);
    EXPECT_EQ(c.size_of(Buffer::UB), row.ub * 1024);
    EXPECT_EQ(c.size_of(Buffer::BT), row.bt * 1024);
    EXPECT_EQ(c.l2_bytes, uint64_t{row.l2_mib} << 20);
    EXPECT_EQ(c.event_ids, row.ids);
  }
}

// Peak of the cube as published: 2 * 16 * 16 * K0 operations per cycle and core.
TEST(CoreChip, CubePeakMatchesThePublishedFigure) {
  const struct {
    const char* soc;
    double tflops;
  } peaks[] = {{"Ascend910A", 262},    {"Ascend910B1", 363.7}, {"Ascend910B2", 353.9},
               {"Ascend910B3", 294.9}, {"Ascend910B4", 245.8}, {"Ascend950", 432.5}};
  for (const auto& p : peaks) {
    const dav::Chip& c = dav::chip_by_name(p.soc);
    const double peak = 2.0 * 16 * 16 * c.rates.k0_f16 * c.aic_count * c.clock_mhz * 1e6 / 1e12;
    EXPECT_NEAR(peak, p.tflops, 0.2) << p.soc;
  }
}

TEST(CoreChip, FeaturesOfTheCoupledChip) {
  const dav::Chip& a = dav::chip_by_name("Ascend910A");
  const dav::Chip& b = dav::chip_by_name("Ascend910B3");
  for (const Feature f :
       {Feature::Bf16, Feature::Fixpipe, Feature::HardwareNd2Nz, Feature::DataCopyPad,
        Feature::Gather, Feature::AtomicMaxMin, Feature::CrossCoreFlags}) {
    EXPECT_FALSE(a.has(f));
    EXPECT_TRUE(b.has(f));
  }
  EXPECT_TRUE(a.has(Feature::L0cToUb));
  EXPECT_FALSE(b.has(Feature::L0cToUb));
}

std::string refusal(const char* soc) {
  try {
    dav::chip_by_name(soc);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(CoreChip, UnknownAndAmbiguousNamesAreRefused) {
  EXPECT_NE(refusal("Ascend310P3").find("unknown SoC 'Ascend310P3'"), std::string::npos);
  EXPECT_NE(refusal("Ascend310P3").find("Ascend910B3"), std::string::npos);
  EXPECT_NE(refusal("Ascend910").find("ambiguous"), std::string::npos);
  EXPECT_NE(refusal("").find("unknown"), std::string::npos);
  EXPECT_NE(refusal("Ascend910B5").find("unknown"), std::string::npos);
}

TEST(CoreChip, EnvironmentNamesTheDefault) {
  unsetenv("ASCENDFA_EMULATOR_SOC");
  EXPECT_EQ(dav::default_chip().name, "Ascend910B3");
  setenv("ASCENDFA_EMULATOR_SOC", "Ascend910A", 1);
  EXPECT_EQ(dav::default_chip().name, "Ascend910A");
  setenv("ASCENDFA_EMULATOR_SOC", "Ascend9000", 1);
  EXPECT_THROW(
      {
        try {
          dav::default_chip();
        } catch (const std::invalid_argument& e) {
          EXPECT_NE(std::string(e.what()).find("ASCENDFA_EMULATOR_SOC"), std::string::npos);
          throw;
        }
      },
      std::invalid_argument);
  unsetenv("ASCENDFA_EMULATOR_SOC");
}

}  // namespace
