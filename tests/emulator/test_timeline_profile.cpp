// Summaries, the trace file and the C ABI around the timeline.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/timeline/chrome_trace.h"
#include "core/timeline/profile_session.h"
#include "core/timeline/report.h"
#include "dav/profile.h"
#include "timeline_traces.h"

namespace dav::timeline {
namespace {

using namespace testing;

std::vector<CoreTrace> small_kernel() {
  std::vector<CoreTrace> traces = {core(CoreKind::AIC), core(CoreKind::AIV, 0, 0)};
  traces[0].records = {move(Pipe::MTE2, Path::GmToL1, 32768), barrier(Pipe::ALL),
                       mmad(128, 128, 128)};
  traces[1].records = {vector(VectorClass::Exp, 64, DType::F32)};
  return traces;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

using Reader = size_t (*)(char*, size_t);
std::string text_of(Reader read) {
  std::vector<char> buffer(read(nullptr, 0));
  EXPECT_EQ(read(buffer.data(), buffer.size()), buffer.size());
  return buffer.data();
}

std::string file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Session {
  explicit Session(const char* options = "") { EXPECT_EQ(davProfileBegin(options), 0); }
  ~Session() { davProfileEnd(); }
};

TEST(TimelineReport, SharesAndTotals) {
  Costs costs = costs_for("Ascend910B3");
  set_parameter(costs, "mmad_head", 14);
  const Timeline t = replay(small_kernel(), costs);
  const Summary s = summarise("k", "Ascend910B3", t, costs);
  // Read: one issue, 1400, 32 KiB at 32 bytes; then one issue and 14 + 512 on the cube.
  const double cycles = 1401 + 1024 + 1 + 526;
  EXPECT_NEAR(s.cycles, cycles, 1e-6);
  EXPECT_NEAR(s.kernel_us, cycles / 1800, 1e-9);
  EXPECT_NEAR(s.launch_us, 10.5, 1e-9);
  EXPECT_NEAR(s.predicted_us, s.kernel_us + s.launch_us, 1e-9);
  EXPECT_NEAR(s.pipes.at("AIC.M").busy, 526 / cycles, 1e-9);
  EXPECT_NEAR(s.pipes.at("AIC.MTE2").busy, 2424 / cycles, 1e-9);
  EXPECT_NEAR(s.pipes.at("AIV.V").busy, 159 / cycles, 1e-9);
  EXPECT_EQ(s.limit, "AIC.MTE2");
  EXPECT_NEAR(s.cube_utilisation, 512 / (s.predicted_us * 1800 * 20), 1e-12);
  EXPECT_EQ(s.bytes.at("GM->L1"), 32768u);
  EXPECT_EQ(s.l2.hbm(), 32768u);
}

TEST(TimelineReport, JsonEscapesNames) {
  EXPECT_EQ(json_string("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
}

TEST(TimelineReport, CoupledChipsStateTheirWiderBand) {
  const Costs a = costs_for("Ascend910A"), b = costs_for("Ascend910B3");
  Timeline t;
  t.cycles = 1e8;
  EXPECT_DOUBLE_EQ(summarise("k", "Ascend910A", t, a).error_band, 0.40);
  EXPECT_DOUBLE_EQ(summarise("k", "Ascend910B3", t, b).error_band, 0.15);
  t.cycles = 1e4;
  EXPECT_DOUBLE_EQ(summarise("k", "Ascend910B3", t, b).error_band, 0.30);
}

TEST(TimelineProfile, SessionRecordsLaunches) {
  const std::string path = ::testing::TempDir() + "timeline_trace.json";
  const Chip& chip = chip_by_name("Ascend910B3");
  EXPECT_FALSE(profile_active());
  {
    const Session session;
    EXPECT_TRUE(profile_active());
    EXPECT_EQ(davProfileBegin(""), -1);
    EXPECT_TRUE(contains(text_of(davProfileLastError), "already open"));
    profile_record("first", chip, small_kernel());
    profile_record("second", chip, small_kernel());
  }
  EXPECT_FALSE(profile_active());
  profile_record("late", chip, small_kernel());
  EXPECT_EQ(davProfileKernelCount(), 2u);
  const std::string json = text_of(davProfileSummaryJson);
  EXPECT_TRUE(contains(json, "\"name\": \"first\"")) << json;
  EXPECT_TRUE(contains(json, "\"source\": \"prediction\"")) << json;
  EXPECT_FALSE(contains(json, "late")) << json;

  ASSERT_EQ(davProfileWriteChromeTrace(path.c_str(), -1, 0), 0);
  const std::string all = file(path);
  EXPECT_TRUE(contains(all, "block 0 AIV0")) << all;
  EXPECT_TRUE(contains(all, "\"name\": \"Mmad\"")) << all;
  EXPECT_TRUE(contains(all, "\"name\": \"second\"")) << all;
  ASSERT_EQ(davProfileWriteChromeTrace(path.c_str(), 0, 0), 0);
  EXPECT_FALSE(contains(file(path), "\"name\": \"second\""));
  EXPECT_EQ(davProfileWriteChromeTrace(path.c_str(), 2, 0), -1);
  EXPECT_EQ(davProfileWriteChromeTrace("/nowhere/trace.json", -1, 0), -1);
  EXPECT_TRUE(contains(text_of(davProfileLastError), "/nowhere/trace.json"));
}

TEST(TimelineProfile, OptionsAreParametersAndChecked) {
  EXPECT_EQ(davProfileBegin("warp_speed=9"), -1);
  EXPECT_TRUE(contains(text_of(davProfileLastError), "warp_speed"));
  EXPECT_EQ(davProfileBegin("cross_flag"), -1);
  EXPECT_EQ(davProfileBegin("cross_flag=9999"), -1);
  {
    const Session session("warm_l2=1,launch_us=0,launch_ramp_us=0");
    profile_record("warm", chip_by_name("Ascend910B3"), small_kernel());
  }
  const std::string json = text_of(davProfileSummaryJson);
  EXPECT_TRUE(contains(json, "\"launch_us\": 0,")) << json;
  EXPECT_TRUE(contains(json, "\"read_miss\": 0,")) << json;
  EXPECT_TRUE(contains(text_of(davProfileParametersJson), "\"cross_flag\""));
}

TEST(TimelineProfile, UnpredictableLaunchIsKeptWithItsReason) {
  {
    const Session session;
    std::vector<CoreTrace> traces = {core(CoreKind::AIV)};
    traces[0].records = {wait_flag(Pipe::MTE2, Pipe::V)};
    profile_record("stuck", chip_by_name("Ascend910B3"), std::move(traces));
  }
  EXPECT_TRUE(contains(text_of(davProfileSummaryJson), "waits for a flag nobody sets"));
}

}  // namespace
}  // namespace dav::timeline
