#include "affine_tiling.h"

#include "register/op_def_registry.h"

namespace optiling {

static ge::graphStatus Tiling(gert::TilingContext* context) {
  const auto* offsets = context->GetAttrs()->GetListInt(0);
  AffineTiling plan;
  plan.set_marker(7);
  plan.set_elements(
      static_cast<uint32_t>(context->GetInputShape(0)->GetStorageShape().GetShapeSize()));
  plan.factors.set_scale(3.0f);
  const float values[2] = {static_cast<float>(offsets->GetData()[0]),
                           static_cast<float>(offsets->GetData()[1])};
  plan.factors.set_offsets(values);
  auto* raw = context->GetRawTilingData();
  plan.SaveToBuffer(raw->GetData(), raw->GetCapacity());
  raw->SetDataSize(plan.GetDataSize());
  context->SetBlockDim(1);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}

}  // namespace optiling

namespace ops {

class Affine : public OpDef {
 public:
  explicit Affine(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT});
    this->Output("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT});
    this->Attr("offsets").AttrType(OPTIONAL).ListInt({5, 6});
    this->AICore().SetTiling(optiling::Tiling).AddConfig("ascend910b").AddConfig("ascend910");
  }
};

OP_ADD(Affine);

}  // namespace ops
