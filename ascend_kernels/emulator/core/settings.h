// The emulator's environment variables. An unusable value is an error that names the variable.
#pragma once

#include <chrono>
#include <cstdint>

#include "dav/api.h"
#include "dav/launch.h"

namespace dav {

// ASCENDFA_EMULATOR_THREADS, else the hardware's.
uint32_t setting_threads();
// ASCENDFA_EMULATOR_BUDGET: instructions per core.
uint64_t setting_budget();
// ASCENDFA_EMULATOR_WATCHDOG: seconds of processor time without one instruction; 0 turns it off.
uint32_t setting_watchdog();
// ASCENDFA_EMULATOR_MODE.
DAV_API Mode setting_mode();
// ASCENDFA_EMULATOR_QUEUE_DELAY_US, _TASK_DELAY_US and _COPY_DELAY_US.
enum class Delay : uint8_t { Queue, Task, Copy };
DAV_API std::chrono::microseconds setting_delay(Delay delay);
// ASCENDFA_EMULATOR_DEVICES.
DAV_API int setting_devices();
// ASCENDFA_EMULATOR_HBM_MIB in bytes; 0 when it is not set.
DAV_API uint64_t setting_memory();
// Reads them all, so that an unusable one is known before work is queued.
DAV_API void check_settings();

}  // namespace dav
