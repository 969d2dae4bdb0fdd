// Unusable environment variables are refused where a program begins, not where it waits.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "acl/acl.h"

namespace {

struct Unusable {
  const char* variable;
  const char* value;
  aclError code;
  const char* says;
};

class Settings : public ::testing::TestWithParam<Unusable> {
 protected:
  void SetUp() override {
    if (const char* text = std::getenv(GetParam().variable)) before_ = text;
    setenv(GetParam().variable, GetParam().value, 1);
  }
  void TearDown() override {
    if (before_.empty()) {
      unsetenv(GetParam().variable);
    } else {
      setenv(GetParam().variable, before_.c_str(), 1);
    }
  }
  static void expect_message() {
    const char* message = aclGetRecentErrMsg();
    ASSERT_NE(message, nullptr);
    for (const char* part : {GetParam().variable, GetParam().value, GetParam().says}) {
      EXPECT_NE(std::string(message).find(part), std::string::npos) << message;
    }
  }
  std::string before_;
};

TEST_P(Settings, AreRefusedByInitAndBySetDevice) {
  EXPECT_EQ(aclInit(nullptr), GetParam().code);
  expect_message();
  EXPECT_EQ(aclrtSetDevice(0), GetParam().code);
  expect_message();
}

INSTANTIATE_TEST_SUITE_P(
    Variables, Settings,
    ::testing::Values(
        Unusable{"ASCENDFA_EMULATOR_SOC", "Ascend1", ACL_ERROR_RT_SOC_VERSION, "Ascend910B3"},
        Unusable{"ASCENDFA_EMULATOR_MODE", "slow", ACL_ERROR_INVALID_PARAM, "check or fast"},
        Unusable{"ASCENDFA_EMULATOR_THREADS", "0", ACL_ERROR_INVALID_PARAM, "1 to 4096"},
        Unusable{"ASCENDFA_EMULATOR_BUDGET", "1e9", ACL_ERROR_INVALID_PARAM, "a number"},
        Unusable{"ASCENDFA_EMULATOR_WATCHDOG", "soon", ACL_ERROR_INVALID_PARAM, "a number"},
        Unusable{"ASCENDFA_EMULATOR_DEVICES", "two", ACL_ERROR_INVALID_PARAM, "a number"},
        Unusable{"ASCENDFA_EMULATOR_HBM_MIB", "-1", ACL_ERROR_INVALID_PARAM, "a number"},
        Unusable{"ASCENDFA_EMULATOR_QUEUE_DELAY_US", "5ms", ACL_ERROR_INVALID_PARAM, "a number"},
        Unusable{"ASCENDFA_EMULATOR_TASK_DELAY_US", "fast", ACL_ERROR_INVALID_PARAM, "a number"},
        Unusable{"ASCENDFA_EMULATOR_COPY_DELAY_US", " ", ACL_ERROR_INVALID_PARAM, "a number"}),
    [](const auto& info) { return std::string(info.param.variable).substr(18); });

}  // namespace
