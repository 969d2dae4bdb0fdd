// libhccl: there is no communication between devices, so that only its settings can be changed.
#include <cstdint>

#include "acl/acl_base.h"

extern "C" ACL_FUNC_VISIBILITY int32_t HcclSetConfig(int32_t, int64_t) { return 0; }
