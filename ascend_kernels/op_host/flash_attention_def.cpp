// FlashAttention as CANN sees it: ports, attributes, shape inference, and the adapter between
// CANN's tiling context and the plan. Written for CANN 8.5 and later.
#include <cstdio>
#include <cstring>
#include <string>

#include "register/op_def_registry.h"
#include "tiling/plan_forward.h"
#include "tiling/platform/platform_ascendc.h"

namespace {

enum Input : size_t { kQ, kK, kV, kBias, kMask, kAlibiSlopes };
enum Output : size_t { kOut, kLse };
enum Attribute : size_t {
  kScale,
  kCausal,
  kWindowLeft,
  kWindowRight,
  kSoftcap,
  kBlockM,
  kBlockN,
  kFp32Scores,
  kLayout,
  kStridedInputs,
};

constexpr const char* kInputNames[] = {"q", "k", "v", "bias", "mask", "alibi_slopes"};
constexpr size_t kRank = 4;

thread_local std::string last_refusal;

ge::graphStatus Refuse(const std::string& reason) {
  last_refusal = reason;
  std::fprintf(stderr, "FlashAttention: %s\n", reason.c_str());
  return ge::GRAPH_FAILED;
}

// Axis order of q, k, v and out in memory.
bool ReadLayout(const char* layout, bool& rows_first) {
  rows_first = layout != nullptr && std::strcmp(layout, "BSND") == 0;
  return rows_first || (layout != nullptr && std::strcmp(layout, "BNSD") == 0);
}

// An input's shape and strides as [batch, heads, rows, columns]. Returns what is wrong.
std::string ReadView(const gert::TilingContext* context, size_t input, bool rows_first,
                     int64_t strided_inputs, ascendfa::TensorView& view) {
  const bool optional = input >= kBias;
  const gert::StorageShape* shape =
      optional ? context->GetOptionalInputShape(input) : context->GetRequiredInputShape(input);
  const std::string name = kInputNames[input];
  if (shape == nullptr || shape->GetOriginShape().GetDimNum() != kRank) {
    return name + " must have 4 axes";
  }
  const gert::Stride* stride =
      optional ? context->GetOptionalInputStride(input) : context->GetRequiredInputStride(input);
  // Reading a strided tensor as if it were contiguous would give wrong numbers.
  if (stride == nullptr && (strided_inputs >> input & 1) != 0) {
    return name + " is a strided view, and this CANN does not pass its strides on";
  }
  ascendfa::Axes4 dims;
  for (size_t axis = 0; axis < kRank; ++axis) {
    dims[axis] = shape->GetOriginShape().GetDim(axis);
  }
  ascendfa::Axes4 steps = ascendfa::RowMajor(dims);
  if (stride != nullptr && stride->GetDimNum() == kRank) {
    for (size_t axis = 0; axis < kRank; ++axis) {
      steps[axis] = stride->GetStride(axis);
    }
  }
  for (size_t axis = 0; axis < kRank; ++axis) {
    const size_t from = (rows_first && (axis == 1 || axis == 2)) ? 3 - axis : axis;
    view.shape[axis] = dims[from];
    view.strides[axis] = steps[from];
  }
  return "";
}

std::string ReadOptions(const gert::RuntimeAttrs& attributes, ascendfa::ForwardProblem& problem) {
  const float* scale = attributes.GetAttrPointer<float>(kScale);
  const bool* causal = attributes.GetAttrPointer<bool>(kCausal);
  const int64_t* window_left = attributes.GetAttrPointer<int64_t>(kWindowLeft);
  const int64_t* window_right = attributes.GetAttrPointer<int64_t>(kWindowRight);
  const float* softcap = attributes.GetAttrPointer<float>(kSoftcap);
  const int64_t* block_m = attributes.GetAttrPointer<int64_t>(kBlockM);
  const int64_t* block_n = attributes.GetAttrPointer<int64_t>(kBlockN);
  const bool* fp32_scores = attributes.GetAttrPointer<bool>(kFp32Scores);
  if (scale == nullptr || causal == nullptr || window_left == nullptr || window_right == nullptr ||
      softcap == nullptr || block_m == nullptr || block_n == nullptr || fp32_scores == nullptr) {
    return "attributes scale, causal, window_left, window_right, softcap, block_m, block_n, "
           "fp32_scores must all be present";
  }
  problem.scale = *scale;
  problem.causal = *causal;
  problem.window_left = *window_left;
  problem.window_right = *window_right;
  problem.softcap = *softcap;
  problem.block_m = *block_m;
  problem.block_n = *block_n;
  problem.fp32_scores = *fp32_scores;
  return "";
}

std::string ReadTerms(const gert::TilingContext* context, int64_t strided,
                      ascendfa::ForwardProblem& problem) {
  for (const size_t input : {kBias, kMask}) {
    if (context->GetOptionalInputShape(input) == nullptr) {
      continue;
    }
    ascendfa::TensorView view;
    std::string wrong = ReadView(context, input, false, strided, view);
    if (wrong.empty()) {
      wrong = input == kBias ? ReadBias(view, problem) : ReadMask(view, problem);
    }
    if (!wrong.empty()) {
      return wrong;
    }
  }
  const gert::StorageShape* slopes = context->GetOptionalInputShape(kAlibiSlopes);
  if (slopes == nullptr) {
    return "";
  }
  const gert::Shape& shape = slopes->GetOriginShape();
  switch (shape.GetDimNum()) {
    case 1:
      return ReadAlibi(0, shape.GetDim(0), problem);
    case 2:
      return ReadAlibi(shape.GetDim(0), shape.GetDim(1), problem);
    default:
      return "alibi_slopes must have 1 or 2 axes";
  }
}

std::string ReadProblem(const gert::TilingContext* context, ascendfa::ForwardProblem& problem) {
  const gert::RuntimeAttrs* attributes = context->GetAttrs();
  if (attributes == nullptr) {
    return "attributes are missing";
  }
  bool rows_first = false;
  if (!ReadLayout(attributes->GetAttrPointer<char>(kLayout), rows_first)) {
    return "layout must be BNSD or BSND";
  }
  const int64_t* strided = attributes->GetAttrPointer<int64_t>(kStridedInputs);
  if (strided == nullptr) {
    return "attribute strided_inputs is missing";
  }
  ascendfa::TensorView views[3];
  for (size_t input = kQ; input <= kV; ++input) {
    const std::string wrong = ReadView(context, input, rows_first, *strided, views[input]);
    if (!wrong.empty()) {
      return wrong;
    }
  }
  problem.element_bytes =
      static_cast<uint32_t>(ge::GetSizeByDataType(context->GetInputDesc(kQ)->GetDataType()));
  std::string wrong = ReadTensors(views[kQ], views[kK], views[kV], rows_first, problem);
  if (wrong.empty()) {
    wrong = ReadOptions(*attributes, problem);
  }
  return wrong.empty() ? ReadTerms(context, *strided, problem) : wrong;
}

ascendfa::Capacities ReadCapacities(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
  const bool coupled = platform.GetSocVersion() == platform_ascendc::SocVersion::ASCEND910;
  if (coupled) {
    return ascendfa::Dav1001(platform.GetCoreNum());
  }
  ascendfa::Capacities capacities = ascendfa::Dav2201(platform.GetCoreNumAic());
  platform.GetCoreMemSize(platform_ascendc::CoreMemType::L1, capacities.l1_bytes);
  platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, capacities.ub_bytes);
  return capacities;
}

ge::graphStatus TilingForward(gert::TilingContext* context) {
  ascendfa::ForwardProblem problem;
  const std::string wrong = ReadProblem(context, problem);
  if (!wrong.empty()) {
    return Refuse(wrong);
  }
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
  const gert::Shape* v = context->GetInputShape(kV);
  gert::Shape* out = context->GetOutputShape(kOut);
  gert::Shape* lse = context->GetOutputShape(kLse);
  const gert::RuntimeAttrs* attributes = context->GetAttrs();
  bool rows_first = false;
  if (q == nullptr || v == nullptr || out == nullptr || lse == nullptr || attributes == nullptr ||
      q->GetDimNum() != kRank || v->GetDimNum() != kRank ||
      !ReadLayout(attributes->GetAttrPointer<char>(kLayout), rows_first)) {
    return ge::GRAPH_FAILED;
  }
  *out = *q;
  out->SetDim(kRank - 1, v->GetDim(kRank - 1));
  lse->SetDimNum(kRank - 1);
  lse->SetDim(0, q->GetDim(0));
  lse->SetDim(1, q->GetDim(rows_first ? 2 : 1));
  lse->SetDim(2, q->GetDim(rows_first ? 1 : 2));
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus InferDataType(gert::InferDataTypeContext* context) {
  context->SetOutputDataType(kOut, context->GetInputDataType(kQ));
  context->SetOutputDataType(kLse, ge::DT_FLOAT);
  return ge::GRAPH_SUCCESS;
}

}  // namespace

// Why the last plan on this thread was refused, "" if none was. Status codes say too little.
extern "C" __attribute__((visibility("default"))) const char* TilingErrorMessage() {
  return last_refusal.c_str();
}

namespace ops {

class FlashAttention : public OpDef {
 public:
  explicit FlashAttention(const char* name) : OpDef(name) {
    const std::vector<ge::DataType> elements = {ge::DT_FLOAT16, ge::DT_BF16, ge::DT_FLOAT};
    const std::vector<ge::DataType> floats(elements.size(), ge::DT_FLOAT);
    const std::vector<ge::DataType> truths(elements.size(), ge::DT_BOOL);
    // The kernel follows strides itself: views are not copied.
    for (const char* input : {"q", "k", "v"}) {
      Plain(this->Input(input), REQUIRED, elements).IgnoreContiguous();
    }
    Plain(this->Input("bias"), OPTIONAL, elements).IgnoreContiguous();
    Plain(this->Input("mask"), OPTIONAL, truths).IgnoreContiguous();
    Plain(this->Input("alibi_slopes"), OPTIONAL, floats).AutoContiguous();
    Plain(this->Output("out"), REQUIRED, elements);
    Plain(this->Output("lse"), REQUIRED, floats);
    this->Attr("scale").AttrType(REQUIRED).Float();
    this->Attr("causal").AttrType(OPTIONAL).Bool(false);
    this->Attr("window_left").AttrType(OPTIONAL).Int(-1);
    this->Attr("window_right").AttrType(OPTIONAL).Int(-1);
    this->Attr("softcap").AttrType(OPTIONAL).Float(0.0f);
    this->Attr("block_m").AttrType(OPTIONAL).Int(0);
    this->Attr("block_n").AttrType(OPTIONAL).Int(0);
    // Never hand scores over as fp16, which is faster where it suits.
    this->Attr("fp32_scores").AttrType(OPTIONAL).Bool(false);
    this->Attr("layout").AttrType(OPTIONAL).String("BNSD");
    // Bit i: the caller passes input i as a strided view.
    this->Attr("strided_inputs").AttrType(OPTIONAL).Int(0);

    this->SetInferShape(InferShape).SetInferDataType(InferDataType);
    OpAICoreConfig first_generation;
    DescribeFirstGeneration(first_generation);
    this->AICore()
        .SetTiling(TilingForward)
        .AddConfig("ascend910b")
        .AddConfig("ascend910_93")
        .AddConfig("ascend910", first_generation);
  }

 private:
  // Its cube multiplies no bf16.
  static void DescribeFirstGeneration(OpAICoreConfig& config) {
    const std::vector<ge::DataType> elements = {ge::DT_FLOAT16};
    const std::vector<ge::DataType> floats = {ge::DT_FLOAT};
    for (const char* input : {"q", "k", "v"}) {
      Plain(config.Input(input), REQUIRED, elements).IgnoreContiguous();
    }
    Plain(config.Input("bias"), OPTIONAL, elements).IgnoreContiguous();
    Plain(config.Input("mask"), OPTIONAL, {ge::DT_BOOL}).IgnoreContiguous();
    Plain(config.Input("alibi_slopes"), OPTIONAL, floats).AutoContiguous();
    Plain(config.Output("out"), REQUIRED, elements);
    Plain(config.Output("lse"), REQUIRED, floats);
    config.DynamicCompileStaticFlag(true)
        .DynamicFormatFlag(true)
        .DynamicRankSupportFlag(true)
        .DynamicShapeSupportFlag(true)
        .NeedCheckSupportFlag(false)
        .PrecisionReduceFlag(true);
  }

  static OpParamDef& Plain(OpParamDef& port, Option option,
                           const std::vector<ge::DataType>& types) {
    const std::vector<ge::Format> formats(types.size(), ge::FORMAT_ND);
    return port.ParamType(option).DataType(types).Format(formats).UnknownShapeFormat(formats);
  }
};

OP_ADD(FlashAttention);

}  // namespace ops
