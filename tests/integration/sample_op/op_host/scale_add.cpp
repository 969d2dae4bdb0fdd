#include "../op_kernel/scale_add_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {

constexpr uint32_t kTile = 1024;

static ge::graphStatus Tiling(gert::TilingContext* context) {
  const gert::StorageShape* x = context->GetInputShape(0);
  const gert::StorageShape* y = context->GetRequiredInputShape(1);
  if (x == nullptr || y == nullptr || *x != *y) return ge::GRAPH_FAILED;
  const int64_t elements = x->GetStorageShape().GetShapeSize();
  if (elements % kTile != 0) return ge::GRAPH_FAILED;

  auto* plan = context->GetTilingData<ScaleAddTiling>();
  if (plan == nullptr) return ge::GRAPH_FAILED;
  plan->elements = static_cast<uint32_t>(elements);
  plan->tile = kTile;
  plan->alpha = *context->GetAttrs()->GetFloat(0);
  plan->misbehave = static_cast<uint32_t>(*context->GetAttrs()->GetInt(1));

  const platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
  const uint32_t tiles = plan->elements / kTile;
  const uint32_t cores = platform.GetCoreNumAiv();
  context->SetBlockDim(tiles < cores ? tiles : cores);
  context->SetTilingKey(1);
  context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize();
  return ge::GRAPH_SUCCESS;
}

}  // namespace optiling

namespace ops {

class ScaleAdd : public OpDef {
 public:
  explicit ScaleAdd(const char* name) : OpDef(name) {
    for (const char* input : {"x", "y", "bias"}) {
      this->Input(input)
          .ParamType(input[0] == 'b' ? OPTIONAL : REQUIRED)
          .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
          .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    }
    this->Input("x").AutoContiguous();
    this->Output("z")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Attr("alpha").AttrType(OPTIONAL).Float(1.0f);
    this->Attr("mis_behave").AttrType(OPTIONAL).Int(0);
    this->AICore().SetTiling(optiling::Tiling).AddConfig("ascend910b").AddConfig("ascend910");
  }
};

OP_ADD(ScaleAdd);

}  // namespace ops
