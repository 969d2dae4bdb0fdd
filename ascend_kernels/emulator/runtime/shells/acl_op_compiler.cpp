// libacl_op_compiler: options of a compiler for single operators. Kernels are compiled when the
// operator package is built, so that options have nothing to act on and nothing can be compiled.
#include "acl/acl_base.h"
#include "runtime/acl/internal.h"

extern "C" {

ACL_FUNC_VISIBILITY aclError aclSetCompileopt(int, const char*) { return ACL_SUCCESS; }

ACL_FUNC_VISIBILITY aclError aclopCompileAndExecute() {
  return dav::rt::fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "aclopCompileAndExecute: operators are called through aclnn here");
}

}  // extern "C"
