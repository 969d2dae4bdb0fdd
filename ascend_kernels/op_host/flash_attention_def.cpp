// FlashAttention as CANN sees it: ports, attributes, shape inference, and the adapter between
// CANN's tiling context and the plan. Written for CANN 8.5 and later.
#include <cstdio>
#include <string>

#include "register/op_def_registry.h"
#include "tiling/plan_forward.h"
#include "tiling/platform/platform_ascendc.h"

namespace {

enum Input : size_t { kQ, kK, kV };
enum Output : size_t { kOut, kLse };
enum Attribute : size_t { kScale, kCausal, kBlockM, kBlockN };

constexpr size_t kRank = 4;  // [batch, heads, rows, columns]

thread_local std::string last_refusal;

ge::graphStatus Refuse(const std::string& reason) {
  last_refusal = reason;
  std::fprintf(stderr, "FlashAttention: %s\n", reason.c_str());
  return ge::GRAPH_FAILED;
}

bool ReadShape(const gert::Shape& shape, ascendfa::Shape4& out) {
  if (shape.GetDimNum() != kRank) {
    return false;
  }
  for (size_t axis = 0; axis < kRank; ++axis) {
    out[axis] = shape.GetDim(axis);
  }
  return true;
}

ascendfa::Capacities ReadCapacities(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
  ascendfa::Capacities capacities = ascendfa::Dav2201(platform.GetCoreNumAic());
  platform.GetCoreMemSize(platform_ascendc::CoreMemType::L1, capacities.l1_bytes);
  platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, capacities.ub_bytes);
  return capacities;
}

ge::graphStatus TilingForward(gert::TilingContext* context) {
  ascendfa::Shape4 shapes[3];
  const char* const names[] = {"q", "k", "v"};
  for (size_t input = kQ; input <= kV; ++input) {
    const gert::StorageShape* shape = context->GetInputShape(input);
    if (shape == nullptr || !ReadShape(shape->GetStorageShape(), shapes[input])) {
      return Refuse(std::string(names[input]) + " must have 4 axes: batch, heads, rows, columns");
    }
  }
  ascendfa::ForwardProblem problem;
  const std::string mismatch = ascendfa::ReadShapes(shapes[kQ], shapes[kK], shapes[kV], problem);
  if (!mismatch.empty()) {
    return Refuse(mismatch);
  }
  const gert::RuntimeAttrs* attributes = context->GetAttrs();
  if (attributes == nullptr) {
    return Refuse("attributes are missing");
  }
  const float* scale = attributes->GetAttrPointer<float>(kScale);
  const bool* causal = attributes->GetAttrPointer<bool>(kCausal);
  const int64_t* block_m = attributes->GetAttrPointer<int64_t>(kBlockM);
  const int64_t* block_n = attributes->GetAttrPointer<int64_t>(kBlockN);
  if (scale == nullptr || causal == nullptr || block_m == nullptr || block_n == nullptr) {
    return Refuse("attributes scale, causal, block_m, block_n must all be present");
  }
  problem.scale = *scale;
  problem.causal = *causal;
  problem.block_m = *block_m;
  problem.block_n = *block_n;

  const ascendfa::ForwardPlan plan = ascendfa::PlanForward(problem, ReadCapacities(context));
  if (!plan.ok()) {
    return Refuse(plan.error);
  }
  auto* tiling = context->GetTilingData<FlashAttentionTiling>();
  size_t* workspaces = context->GetWorkspaceSizes(1);
  if (tiling == nullptr || workspaces == nullptr) {
    return Refuse("the tiling context has no room for the plan");
  }
  *tiling = plan.tiling;
  context->SetBlockDim(plan.block_dim);
  const platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
  workspaces[0] = platform.GetLibApiWorkSpaceSize() + plan.workspace_bytes;
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus InferShape(gert::InferShapeContext* context) {
  const gert::Shape* q = context->GetInputShape(kQ);
  gert::Shape* out = context->GetOutputShape(kOut);
  gert::Shape* lse = context->GetOutputShape(kLse);
  if (q == nullptr || out == nullptr || lse == nullptr || q->GetDimNum() != kRank) {
    return ge::GRAPH_FAILED;
  }
  *out = *q;
  lse->SetDimNum(kRank - 1);
  for (size_t axis = 0; axis + 1 < kRank; ++axis) {
    lse->SetDim(axis, q->GetDim(axis));
  }
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus InferDataType(gert::InferDataTypeContext* context) {
  context->SetOutputDataType(kOut, context->GetInputDataType(kQ));
  context->SetOutputDataType(kLse, ge::DT_FLOAT);
  return ge::GRAPH_SUCCESS;
}

}  // namespace

// Why the last plan on this thread was refused, "" if none was. Status codes say too little.
extern "C" __attribute__((visibility("default"))) const char* AscendfaLastRefusal() {
  return last_refusal.c_str();
}

namespace ops {

class FlashAttention : public OpDef {
 public:
  explicit FlashAttention(const char* name) : OpDef(name) {
    for (const char* input : {"q", "k", "v"}) {
      this->Input(input)
          .ParamType(REQUIRED)
          .DataType({ge::DT_FLOAT16})
          .Format({ge::FORMAT_ND})
          .UnknownShapeFormat({ge::FORMAT_ND});
    }
    this->Output("out")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT16})
        .Format({ge::FORMAT_ND})
        .UnknownShapeFormat({ge::FORMAT_ND});
    this->Output("lse")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT})
        .Format({ge::FORMAT_ND})
        .UnknownShapeFormat({ge::FORMAT_ND});
    this->Attr("scale").AttrType(REQUIRED).Float();
    this->Attr("causal").AttrType(OPTIONAL).Bool(false);
    this->Attr("block_m").AttrType(OPTIONAL).Int(0);
    this->Attr("block_n").AttrType(OPTIONAL).Int(0);

    this->SetInferShape(InferShape).SetInferDataType(InferDataType);
    this->AICore().SetTiling(TilingForward).AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};

OP_ADD(FlashAttention);

}  // namespace ops
