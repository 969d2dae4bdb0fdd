#include "runtime/acl/launch_support.h"

#include <cstdlib>
#include <cstring>

namespace dav::rt {

Mode launch_mode() {
  const char* text = std::getenv("ASCENDFA_EMULATOR_MODE");
  if (!text || !*text || std::strcmp(text, "check") == 0) return Mode::Check;
  if (std::strcmp(text, "fast") == 0) return Mode::Fast;
  throw TaskError(ACL_ERROR_INVALID_PARAM,
                  std::string("ASCENDFA_EMULATOR_MODE is '") + text + "'; it may be check or fast");
}

aclError trap_code(TrapKind kind, KernelType type) {
  const bool vector = type == KernelType::AivOnly || type == KernelType::MixAiv10;
  if (kind == TrapKind::Deadlock || kind == TrapKind::BudgetExceeded) {
    return vector ? ACL_ERROR_RT_VECTOR_CORE_TIMEOUT : ACL_ERROR_RT_AICORE_TIMEOUT;
  }
  return vector ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : ACL_ERROR_RT_AICORE_EXCEPTION;
}

}  // namespace dav::rt
