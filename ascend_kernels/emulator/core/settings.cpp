#include "core/settings.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
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
  if (errno != 0 || *end != '\0' || *text < '0' || *text > '9' || value < low || value > high) {
    throw std::invalid_argument(std::string(variable) + " is '" + text +
                                "'; it must be a number from " + std::to_string(low) + " to " +
                                std::to_string(high));
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

Mode setting_mode() {
  const char* text = std::getenv("ASCENDFA_EMULATOR_MODE");
  if (text == nullptr || *text == '\0' || std::strcmp(text, "check") == 0) return Mode::Check;
  if (std::strcmp(text, "fast") == 0) return Mode::Fast;
  throw std::invalid_argument(std::string("ASCENDFA_EMULATOR_MODE is '") + text +
                              "'; it may be check or fast");
}

std::chrono::microseconds setting_delay(Delay delay) {
  const char* const variable = delay == Delay::Queue  ? "ASCENDFA_EMULATOR_QUEUE_DELAY_US"
                               : delay == Delay::Task ? "ASCENDFA_EMULATOR_TASK_DELAY_US"
                                                      : "ASCENDFA_EMULATOR_COPY_DELAY_US";
  constexpr uint64_t kHour = 3600ull * 1000 * 1000;
  return std::chrono::microseconds(number(variable, 0, kHour, 0));
}

void check_settings() {
  setting_mode();
  setting_threads();
  setting_budget();
  setting_watchdog();
  setting_devices();
  setting_memory();
  for (const Delay d : {Delay::Queue, Delay::Task, Delay::Copy}) setting_delay(d);
}

}  // namespace dav
