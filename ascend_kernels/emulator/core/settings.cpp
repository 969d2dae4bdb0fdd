#include "core/settings.h"

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace dav {
namespace {

uint64_t number(const char* variable, uint64_t low, uint64_t high, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (errno != 0 || *end != '\0' || *text == '-' || value < low || value > high) {
    throw std::invalid_argument(std::string(variable) + " is '" + text +
                                "'; it must be a number "
                                "from " +
                                std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

}  // namespace

uint32_t setting_threads() {
  const unsigned hardware = std::thread::hardware_concurrency();
  return static_cast<uint32_t>(
      number("ASCENDFA_EMULATOR_THREADS", 1, 4096, hardware == 0 ? 1 : hardware));
}

uint64_t setting_budget() {
  // A core that runs for an hour in fast mode executes fewer.
  return number("ASCENDFA_EMULATOR_BUDGET", 1, ~uint64_t{0}, 1000000000ull);
}

uint32_t setting_watchdog() {
  return static_cast<uint32_t>(number("ASCENDFA_EMULATOR_WATCHDOG", 0, 86400, 60));
}

int setting_devices() { return static_cast<int>(number("ASCENDFA_EMULATOR_DEVICES", 0, 64, 1)); }

uint64_t setting_memory() {
  return number("ASCENDFA_EMULATOR_HBM_MIB", 1, uint64_t{1} << 40, 0) << 20;
}

}  // namespace dav
