// Functions that frameworks link but that have no counterpart here: the single-operator interface
// from before aclnn, model dumps, virtual memory, kernel binaries, the profiler. A library whose
// references are bound when it is loaded needs them all to exist; calling one fails loudly.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "acl/acl_base.h"
#include "runtime/acl/internal.h"

namespace {

// Some of these return nothing, so the message also goes where it is seen.
aclError refuse(const char* function) {
  static std::mutex mutex;
  static auto* said = new std::set<std::string>;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (said->insert(function).second) {
      std::fprintf(stderr, "[acl] %s is not implemented by the emulated runtime\n", function);
    }
  }
  return dav::rt::fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "%s is not implemented by the emulated runtime", function);
}

}  // namespace

// Arguments are left out: the C calling convention lets a function ignore them.
#define REFUSED(name) \
  ACL_FUNC_VISIBILITY aclError name() { return refuse(#name); }
#define REFUSED_AS(type, name, result) \
  ACL_FUNC_VISIBILITY type name() {    \
    refuse(#name);                     \
    return result;                     \
  }
#define REFUSED_VOID(name) \
  ACL_FUNC_VISIBILITY void name() { refuse(#name); }

extern "C" {

REFUSED_AS(void*, aclCreateDataBuffer, nullptr)
REFUSED(aclDestroyDataBuffer)
REFUSED_AS(void*, aclCreateTensorDesc, nullptr)
REFUSED_VOID(aclDestroyTensorDesc)
REFUSED_AS(aclDataType, aclGetTensorDescType, ACL_DT_UNDEFINED)
REFUSED_AS(aclFormat, aclGetTensorDescFormat, ACL_FORMAT_UNDEFINED)
REFUSED_AS(size_t, aclGetTensorDescNumDims, 0)
REFUSED(aclGetTensorDescDimV2)
REFUSED_VOID(aclSetTensorDescName)
REFUSED(aclSetTensorFormat)
REFUSED(aclSetTensorShape)
REFUSED(aclSetTensorPlaceMent)

REFUSED_AS(void*, aclopCreateAttr, nullptr)
REFUSED_VOID(aclopDestroyAttr)
REFUSED(aclopSetAttrBool)
REFUSED(aclopSetAttrInt)
REFUSED(aclopSetAttrFloat)
REFUSED(aclopSetAttrString)
REFUSED(aclopSetAttrDataType)
REFUSED(aclopSetAttrListBool)
REFUSED(aclopSetAttrListInt)
REFUSED(aclopSetAttrListFloat)
REFUSED(aclopSetAttrListListInt)

REFUSED(aclmdlInitDump)
REFUSED(aclmdlSetDump)
REFUSED(aclmdlFinalizeDump)

REFUSED(aclrtReserveMemAddress)
REFUSED(aclrtReleaseMemAddress)
REFUSED(aclrtMallocPhysical)
REFUSED(aclrtFreePhysical)
REFUSED(aclrtMapMem)
REFUSED(aclrtUnmapMem)
REFUSED(aclrtMemExportToShareableHandle)
REFUSED(aclrtMemImportFromShareableHandle)
REFUSED(aclrtMemSetPidToShareableHandle)
REFUSED(aclrtDeviceGetBareTgid)
REFUSED(aclrtProcessReport)

REFUSED(aclrtBinaryLoadFromData)
REFUSED(aclrtBinaryGetFunction)
REFUSED(aclrtGetFunctionAddr)
REFUSED(rtDevBinaryRegister)
REFUSED(rtFunctionRegister)
REFUSED(rtKernelLaunch)
REFUSED(rtGetC2cCtrlAddr)

// Registering succeeds: it promises a call once somebody starts profiling, which nobody can here.
ACL_FUNC_VISIBILITY int32_t MsprofRegisterCallback() { return 0; }
REFUSED(MsprofReportApi)
REFUSED(MsprofReportCompactInfo)
REFUSED(MsprofReportAdditionalInfo)
REFUSED_AS(uint64_t, MsprofGetHashId, 0)
REFUSED_AS(uint64_t, MsprofSysCycleTime, 0)

}  // extern "C"
