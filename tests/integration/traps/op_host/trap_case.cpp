#include <stdexcept>
#include <string>

#include "../op_kernel/trap_case_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {

thread_local std::string refusal;

static ge::graphStatus Tiling(gert::TilingContext* context) {
  const std::string name = context->GetAttrs()->GetStr(0);
  if (name == "tiling_refuses") {
    refusal = "UB does not hold the tile";
    return ge::GRAPH_FAILED;
  }
  if (name == "tiling_throws") throw std::runtime_error("no plan for this one");
  context->GetTilingData<TrapCaseTiling>()->which = CaseId(name.c_str());
  context->SetBlockDim(1);
  context->SetTilingKey(name == "flag_in_vector_kernel" ? 1 : 0);
  const platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
  context->GetWorkspaceSizes(1)[0] =
      platform.GetLibApiWorkSpaceSize() + kWorkspaceElements * sizeof(float);
  return ge::GRAPH_SUCCESS;
}

}  // namespace optiling

extern "C" __attribute__((visibility("default"))) const char* TilingErrorMessage() {
  return optiling::refusal.c_str();
}

namespace ops {

class TrapCase : public OpDef {
 public:
  explicit TrapCase(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Attr("which").AttrType(REQUIRED).String();
    this->AICore().SetTiling(optiling::Tiling).AddConfig("ascend910b");
  }
};

OP_ADD(TrapCase);

}  // namespace ops
