// Device arrays and expectations for the conformance programs.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace check {

inline int failures = 0;

class Session {
 public:
  Session() {
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtCreateStream(&stream);
  }
  ~Session() {
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
  }
  // The code of everything queued so far.
  aclError Wait() const { return aclrtSynchronizeStream(stream); }
  // For launches that have to work.
  void Done(const char* what) const {
    const aclError code = Wait();
    if (code == ACL_SUCCESS) return;
    const char* text = aclGetRecentErrMsg();
    std::printf("%s: code %d, %s\n", what, code, text ? text : "no message");
    ++failures;
  }

  aclrtStream stream = nullptr;
};

template <typename T>
class Device {
 public:
  explicit Device(const std::vector<T>& values) : size_(values.size()) {
    aclrtMalloc(&data_, Bytes(), ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(data_, Bytes(), values.data(), Bytes(), ACL_MEMCPY_HOST_TO_DEVICE);
  }
  explicit Device(size_t count, T value = T{}) : Device(std::vector<T>(count, value)) {}
  ~Device() { aclrtFree(data_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  uint8_t* Addr() const { return static_cast<uint8_t*>(data_); }
  std::vector<T> Read() const {
    std::vector<T> values(size_);
    aclrtMemcpy(values.data(), Bytes(), data_, Bytes(), ACL_MEMCPY_DEVICE_TO_HOST);
    return values;
  }

 private:
  size_t Bytes() const { return size_ * sizeof(T); }
  size_t size_;
  void* data_ = nullptr;
};

inline void That(const char* what, bool holds) {
  if (holds) return;
  std::printf("%s: does not hold\n", what);
  ++failures;
}

// expected(i) for each index; exact unless a tolerance is given.
template <typename T, typename Expected>
void Equal(const char* what, const std::vector<T>& got, Expected expected, double tolerance = 0) {
  for (size_t i = 0; i < got.size(); ++i) {
    const double want = static_cast<double>(expected(i)), have = static_cast<double>(got[i]);
    if (std::fabs(want - have) <= tolerance) continue;
    std::printf("%s[%zu]: expected %g, got %g\n", what, i, want, have);
    ++failures;
    return;
  }
}

inline int Result() {
  std::printf(failures == 0 ? "conforms\n" : "%d expectations failed\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace check
