// ACL: initialisation and everything of the runtime.
#pragma once

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// configPath may be null or name a JSON file; {"defaultDevice": {"default_device": "N"}} selects
// the device of threads that never call aclrtSetDevice.
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);
ACL_FUNC_VISIBILITY aclError aclFinalize();
// The report of the last failure seen by this thread, then forgets it; null when there is none.
// The text stays valid until the next call on this thread.
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg();
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion,
                                             int32_t* patchVersion);

#ifdef __cplusplus
}
#endif
