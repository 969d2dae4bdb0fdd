// Initialisation, errors, devices and contexts.
#include <atomic>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "acl/acl.h"
#include "core/chip.h"
#include "core/settings.h"
#include "dav/float16.h"
#include "runtime/acl/contexts.h"
#include "runtime/acl/internal.h"
#include "runtime/support/json.h"

namespace {

// What the thread last failed with, and the copy handed to the caller.
thread_local std::string t_message;
thread_local std::string t_reported;
thread_local aclError t_code = ACL_SUCCESS;

std::atomic<int> g_initialised{0};
std::atomic<int64_t> g_sys_params[8];
std::atomic<int> g_saturation_mode{ACL_RT_OVERFLOW_MODE_INFNAN};

}  // namespace

namespace dav::rt {

aclError fail(aclError code, const char* format, ...) {
  va_list args;
  va_start(args, format);
  va_list again;
  va_copy(again, args);
  const int length = std::vsnprintf(nullptr, 0, format, args);
  va_end(args);
  std::string text(static_cast<size_t>(length < 0 ? 0 : length), '\0');
  if (length > 0) std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  t_message = std::move(text);
  t_code = code;
  return code;
}

aclError check_environment(const char* function) {
  try {
    default_chip();
  } catch (const std::exception& e) {
    return fail(ACL_ERROR_RT_SOC_VERSION, "%s: %s", function, e.what());
  }
  try {
    check_settings();
  } catch (const std::exception& e) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %s", function, e.what());
  }
  return ACL_SUCCESS;
}

}  // namespace dav::rt

using dav::rt::fail;

namespace {

aclError read_config(const char* path) {
  std::ifstream file(path);
  if (!file) return fail(ACL_ERROR_INVALID_FILE, "aclInit: cannot read %s", path);
  std::stringstream text;
  text << file.rdbuf();
  try {
    const auto config = dav::json::parse(text.str().empty() ? "{}" : text.str());
    if (const auto* section = config.find("defaultDevice")) {
      if (const auto* device = section->find("default_device")) {
        dav::rt::set_default_device(std::atoi(device->text().c_str()));
      }
    }
  } catch (const std::exception& e) {
    return fail(ACL_ERROR_PARSE_FILE, "aclInit: %s: %s", path, e.what());
  }
  return ACL_SUCCESS;
}

}  // namespace

extern "C" {

aclError aclInit(const char* configPath) {
  if (g_initialised.exchange(1)) {
    return fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit: already initialised");
  }
  aclError error = dav::rt::check_environment("aclInit");
  if (!error && configPath && *configPath) error = read_config(configPath);
  if (error) g_initialised = 0;
  return error;
}

aclError aclFinalize() {
  if (!g_initialised.exchange(0)) {
    return fail(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize: not initialised");
  }
  dav::rt::destroy_everything();
  return ACL_SUCCESS;
}

const char* aclGetRecentErrMsg() {
  if (t_message.empty()) return nullptr;
  t_reported.swap(t_message);
  t_message.clear();
  return t_reported.c_str();
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  if (!majorVersion || !minorVersion || !patchVersion) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetVersion: an argument is null");
  }
  *majorVersion = 1, *minorVersion = 14, *patchVersion = 0;
  return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t deviceId) { return dav::rt::set_device(deviceId); }
aclError aclrtResetDevice(int32_t deviceId) { return dav::rt::reset_device(deviceId, false); }
aclError aclrtResetDeviceForce(int32_t deviceId) { return dav::rt::reset_device(deviceId, true); }

aclError aclrtGetDevice(int32_t* deviceId) {
  if (!deviceId) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice: deviceId is null");
  const int device = dav::rt::current_device();
  if (device < 0) {
    return fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtGetDevice: this thread has no context");
  }
  *deviceId = device;
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  if (!count) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount: count is null");
  *count = static_cast<uint32_t>(dav::rt::device_count());
  return ACL_SUCCESS;
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  if (level != ACL_RT_THREAD_LEVEL) return ACL_ERROR_RT_PARAM_INVALID;
  return t_code;
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  const aclError code = aclrtPeekAtLastError(level);
  t_code = ACL_SUCCESS;
  return code;
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  if (!runMode) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetRunMode: runMode is null");
  *runMode = ACL_HOST;
  return ACL_SUCCESS;
}

const char* aclrtGetSocName() {
  try {
    return dav::default_chip().name.c_str();
  } catch (const std::exception& e) {
    fail(ACL_ERROR_RT_SOC_VERSION, "aclrtGetSocName: %s", e.what());
    return nullptr;
  }
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  if (!value) return fail(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability: value is null");
  if (deviceId >= static_cast<uint32_t>(dav::rt::device_count())) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID, "aclGetDeviceCapability: device %u does not exist",
                deviceId);
  }
  try {
    const dav::Chip& chip = dav::default_chip();
    switch (deviceInfo) {
      case ACL_DEVICE_INFO_AI_CORE_NUM:
        *value = chip.aic_count;
        return ACL_SUCCESS;
      case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
        *value = chip.aiv_count();
        return ACL_SUCCESS;
      case ACL_DEVICE_INFO_L2_SIZE:
        *value = static_cast<int64_t>(chip.l2_bytes);
        return ACL_SUCCESS;
      default:
        return fail(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability: %d is no known property",
                    static_cast<int>(deviceInfo));
    }
  } catch (const std::exception& e) {
    return fail(ACL_ERROR_RT_SOC_VERSION, "aclGetDeviceCapability: %s", e.what());
  }
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return dav::rt::create_context(context, deviceId);
}
aclError aclrtDestroyContext(aclrtContext context) { return dav::rt::destroy_context(context); }
aclError aclrtSetCurrentContext(aclrtContext context) {
  return dav::rt::set_current_context(context);
}
aclError aclrtGetCurrentContext(aclrtContext* context) {
  if (!context) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext: context is null");
  *context = dav::rt::current_context();
  if (*context) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtGetCurrentContext: this thread has no context");
}

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  if (!canAccessPeer) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceCanAccessPeer: canAccessPeer is null");
  }
  const int count = dav::rt::device_count();
  const bool exist = deviceId >= 0 && peerDeviceId >= 0 && deviceId < count && peerDeviceId < count;
  *canAccessPeer = exist && deviceId != peerDeviceId ? 1 : 0;
  return ACL_SUCCESS;
}
aclError aclrtDeviceEnablePeerAccess(int32_t, uint32_t) { return ACL_SUCCESS; }
aclError aclrtDeviceDisablePeerAccess(int32_t) { return ACL_SUCCESS; }

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  g_saturation_mode = mode;
  return ACL_SUCCESS;
}
aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  if (!mode) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceSatMode: mode is null");
  *mode = static_cast<aclrtFloatOverflowMode>(g_saturation_mode.load());
  return ACL_SUCCESS;
}
aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  if (opt < 0 || opt >= 8)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtSetSysParamOpt: unknown option");
  g_sys_params[opt] = value;
  return ACL_SUCCESS;
}
aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  if (!value || opt < 0 || opt >= 8) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetSysParamOpt: unknown option or null value");
  }
  *value = g_sys_params[opt];
  return ACL_SUCCESS;
}
// Per context in CANN; nothing here depends on these options.
aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return aclrtSetSysParamOpt(opt, value);
}
aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return aclrtGetSysParamOpt(opt, value);
}
aclError aclrtSetOpExecuteTimeOut(uint32_t) { return ACL_SUCCESS; }
aclError aclrtSetOpWaitTimeout(uint32_t) { return ACL_SUCCESS; }

size_t aclDataTypeSize(aclDataType dataType) {
  switch (dataType) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64:
      return 8;
    case ACL_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

aclFloat16 aclFloatToFloat16(float value) {
  const dav::Half half(value);
  aclFloat16 bits;
  std::memcpy(&bits, &half, sizeof(bits));
  return bits;
}

float aclFloat16ToFloat(aclFloat16 value) {
  dav::Half half(0.0f);
  std::memcpy(&half, &value, sizeof(value));
  return static_cast<float>(half);
}

// ASCENDFA_EMULATOR_LOG=0 prints everything, 3 errors only; silent when unset.
void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
               const char* fmt, ...) {
  static const char* threshold = std::getenv("ASCENDFA_EMULATOR_LOG");
  if (!threshold || logLevel < std::atoi(threshold)) return;
  va_list args;
  va_start(args, fmt);
  std::fprintf(stderr, "[acl] %s:%u %s: ", file ? file : "", line, func ? func : "");
  std::vfprintf(stderr, fmt, args);
  std::fputc('\n', stderr);
  va_end(args);
}

}  // extern "C"
