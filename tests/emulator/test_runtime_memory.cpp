// Device memory, copies, devices and contexts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace {

// Read once by the runtime, so it has to be set before any test runs.
const int kTwoDevices = setenv("ASCENDFA_EMULATOR_DEVICES", "2", 1);

std::string recent() {
  const char* text = aclGetRecentErrMsg();
  return text ? text : "";
}

class RuntimeMemory : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(kTwoDevices, 0);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    recent();
  }
  void TearDown() override { aclrtResetDevice(0); }

  static void* allocate(size_t bytes) {
    void* p = nullptr;
    EXPECT_EQ(aclrtMalloc(&p, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    return p;
  }
};

TEST_F(RuntimeMemory, RoundTripIsBitExactAndAllocationsAreAligned) {
  std::vector<uint8_t> in(1001);
  std::iota(in.begin(), in.end(), uint8_t{1});
  std::vector<uint8_t> out(in.size());
  void* device = allocate(in.size());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(device) % 512, 0u);
  ASSERT_EQ(aclrtMemcpy(device, in.size(), in.data(), in.size(), ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(out.data(), out.size(), device, in.size(), ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_SUCCESS);
  EXPECT_EQ(in, out);
  ASSERT_EQ(aclrtMemset(device, in.size(), 7, in.size()), ACL_SUCCESS);
  EXPECT_EQ(static_cast<uint8_t*>(device)[1000], 7);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST_F(RuntimeMemory, AsynchronousCopiesKeepStreamOrder) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  int host[2] = {11, 0};
  void* a = allocate(sizeof(int));
  void* b = allocate(sizeof(int));
  ASSERT_EQ(aclrtMemcpyAsync(a, 4, &host[0], 4, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(b, 4, a, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(&host[1], 4, b, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
  // Freed while queued: the memory has to outlive the copies.
  ASSERT_EQ(aclrtFree(a), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(host[1], 11);
  EXPECT_EQ(aclrtFree(b), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(RuntimeMemory, WrongCopiesAreRefusedAndSayWhy) {
  char host[16] = {};
  void* device = allocate(64);
  EXPECT_EQ(aclrtMemcpy(device, 8, host, 16, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(recent().find("exceeds destMax 8"), std::string::npos);
  EXPECT_EQ(aclrtMemcpy(host, 16, host, 16, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(recent().find("no live device allocation"), std::string::npos);
  EXPECT_EQ(aclrtMemcpy(nullptr, 16, host, 16, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(nullptr, 0, nullptr, 0, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(device), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(device), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(host, 16, device, 16, ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(RuntimeMemory, AccountingFollowsAllocationsAndRefusesTooMuch) {
  size_t free_before = 0;
  size_t total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total), ACL_SUCCESS);
  EXPECT_GE(total, size_t{30} << 30);
  void* p = allocate(1 << 20);
  size_t free_after = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total), ACL_SUCCESS);
  EXPECT_GE(free_before - free_after, size_t{1} << 20);
  EXPECT_LT(free_before - free_after, (size_t{1} << 20) + 4096);
  aclrtFree(p);
  aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total);
  EXPECT_EQ(free_before, free_after);

  void* huge = &huge;
  EXPECT_EQ(aclrtMalloc(&huge, total + 1, ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(huge, nullptr);
  EXPECT_EQ(aclrtMalloc(&huge, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
}

TEST_F(RuntimeMemory, FreshMemoryIsNotZero) {
  // Two bytes of 0xFF are a NaN in every 16-bit float format.
  auto* p = static_cast<uint8_t*>(allocate(64));
  EXPECT_EQ(p[0], 0xFF);
  EXPECT_EQ(p[63], 0xFF);
  aclrtFree(p);
}

TEST_F(RuntimeMemory, DevicesAndContextsBelongToThreads) {
  uint32_t count = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(aclrtSetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_NE(recent().find("device 2 does not exist"), std::string::npos);

  aclrtContext first = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), ACL_SUCCESS);
  int32_t other_device = -1;
  aclError before = ACL_SUCCESS;
  std::thread([&] {
    int32_t id = -1;
    before = aclrtGetDevice(&id);
    aclrtSetDevice(1);
    aclrtGetDevice(&other_device);
    aclrtResetDevice(1);
  }).join();
  EXPECT_EQ(before, ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(other_device, 1);
  int32_t mine = -1;
  ASSERT_EQ(aclrtGetDevice(&mine), ACL_SUCCESS);
  EXPECT_EQ(mine, 0);

  aclrtContext second = nullptr;
  ASSERT_EQ(aclrtCreateContext(&second, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetDevice(&mine), ACL_SUCCESS);
  EXPECT_EQ(mine, 1);
  ASSERT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetDevice(&mine), ACL_SUCCESS);
  EXPECT_EQ(mine, 0);
  EXPECT_EQ(aclrtDestroyContext(second), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(second), ACL_ERROR_INVALID_PARAM);
}

TEST_F(RuntimeMemory, SocNameIsTheDefaultChip) {
  if (std::getenv("ASCENDFA_EMULATOR_SOC")) GTEST_SKIP() << "the environment names a chip";
  EXPECT_STREQ(aclrtGetSocName(), "Ascend910B3");
}

TEST_F(RuntimeMemory, InitialisationIsCountedOnce) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(aclInit("/nonexistent/acl.json"), ACL_ERROR_INVALID_FILE);
  aclrtSetDevice(0);
}

TEST(RuntimeTypes, Float16ConversionMatchesKnownBits) {
  EXPECT_EQ(aclFloatToFloat16(1.0f), 0x3C00);
  EXPECT_EQ(aclFloatToFloat16(-2.5f), 0xC100);
  EXPECT_EQ(aclFloat16ToFloat(0x7BFF), 65504.0f);
  EXPECT_EQ(aclDataTypeSize(ACL_BF16), 2u);
  EXPECT_EQ(aclDataTypeSize(ACL_DT_UNDEFINED), 0u);
}

}  // namespace
