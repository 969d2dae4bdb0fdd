#include "runtime/acl/launch_support.h"

#include <exception>

namespace dav::rt {

Mode launch_mode() {
  try {
    return setting_mode();
  } catch (const std::exception& e) {
    throw TaskError(ACL_ERROR_INVALID_PARAM, e.what());
  }
}

std::chrono::microseconds delay_of(Delay delay) {
  try {
    return setting_delay(delay);
  } catch (const std::exception&) {
    return {};
  }
}

aclError trap_code(TrapKind kind, KernelType type) {
  const bool vector = type == KernelType::AivOnly || type == KernelType::MixAiv10;
  if (kind == TrapKind::Deadlock || kind == TrapKind::BudgetExceeded) {
    return vector ? ACL_ERROR_RT_VECTOR_CORE_TIMEOUT : ACL_ERROR_RT_AICORE_TIMEOUT;
  }
  return vector ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : ACL_ERROR_RT_AICORE_EXCEPTION;
}

}  // namespace dav::rt
