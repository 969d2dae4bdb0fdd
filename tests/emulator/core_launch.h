// A launch for tests: the kernel is a capture-free function that finds its test data through args.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/chip.h"
#include "core/trap.h"
#include "dav/launch.h"

namespace dav_test {

using Body = std::function<void()>;

inline dav::Mode& default_mode() {
  static dav::Mode mode = dav::Mode::Fast;
  return mode;
}

struct Kernel {
  dav::LaunchSpec spec;
  Body aic, aiv;

  explicit Kernel(dav::KernelType type, uint32_t blocks = 1, const char* soc = "Ascend910B3") {
    spec.chip = &dav::chip_by_name(soc);
    spec.name = "test";
    spec.type = type;
    spec.block_dim = blocks;
    spec.mode = default_mode();
    spec.aic = [](void** args) { (*static_cast<Body*>(args[0]))(); };
    spec.aiv = [](void** args) { (*static_cast<Body*>(args[1]))(); };
  }
  dav::LaunchResult run() {
    spec.args = {&aic, &aiv};
    return dav::launch(spec);
  }
  // The trap the launch ends with; fails the test when it ends well.
  dav::Trap trap() {
    try {
      run();
    } catch (const dav::Trap& t) {
      return t;
    }
    ADD_FAILURE() << "the launch did not trap";
    return dav::Trap(dav::TrapKind::NotInKernel, "");
  }
};

}  // namespace dav_test

#define EXPECT_TRAP(kernel, expected_kind, ...)                                              \
  do {                                                                                       \
    const dav::Trap trap = (kernel).trap();                                                  \
    EXPECT_STREQ(dav::to_string(trap.kind()), dav::to_string(expected_kind)) << trap.what(); \
    for (const char* part : {__VA_ARGS__})                                                   \
      EXPECT_NE(std::string(trap.what()).find(part), std::string::npos)                      \
          << "missing '" << part << "' in:\n"                                                \
          << trap.what();                                                                    \
  } while (false)
