// Definitions and plans of the anchor operators. Shapes have to fit the kernels' tiles.
#include "../op_kernel/anchor_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {

static uint32_t Extent(const gert::StorageShape& shape, size_t axis) {
  return static_cast<uint32_t>(shape.GetStorageShape().GetDim(axis));
}

// Whose matrix product: tiles of both are 128 x 256, 64 deep, in a grid of cores.
enum class MatmulSample : int64_t {
  kDealt = 0,  // nobody's: tiles are dealt to the cores one by one
  // PTO-ISA gemm_performance: 256 deep in L1, loaded at the point of use, one rectangle per core.
  kPto = 1,
  // Ascend C best-practice matmul, last case: A 512 and B 256 deep in L1, rectangles rounded up to
  // whole tiles, all of B passed twice so that it stays in the L2 with half of A, unit flag.
  kMatmul = 2,
};

static ge::graphStatus TilingMatmul(gert::TilingContext* context) {
  const gert::StorageShape* a = context->GetRequiredInputShape(0);
  const gert::StorageShape* b = context->GetRequiredInputShape(1);
  auto* plan = context->GetTilingData<AnchorMatmulTiling>();
  if (a == nullptr || b == nullptr || plan == nullptr) return ge::GRAPH_FAILED;
  plan->batch = Extent(*a, 0);
  plan->m = Extent(*a, 1);
  plan->k = Extent(*a, 2);
  plan->n = Extent(*b, 1);
  const auto sample = static_cast<MatmulSample>(*context->GetAttrs()->GetInt(0));
  const auto grid_m = static_cast<uint32_t>(*context->GetAttrs()->GetInt(1));
  const auto grid_n = static_cast<uint32_t>(*context->GetAttrs()->GetInt(2));
  plan->tile_n = plan->n % 256 == 0 ? 256 : 128;
  plan->step_a = plan->step_b = plan->k % 256 == 0 ? 4 : 2;
  plan->ahead = 1;
  if (plan->m % 128 != 0 || plan->n % 128 != 0 || plan->k % 128 != 0 || Extent(*b, 2) != plan->k) {
    return ge::GRAPH_FAILED;
  }
  const platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
  uint32_t cores = platform.GetCoreNumAic();
  if (sample != MatmulSample::kDealt) {
    if (grid_m == 0 || grid_n == 0 || plan->batch != 1) return ge::GRAPH_FAILED;
    cores = grid_m * grid_n;
    plan->grid_m = grid_m;
    plan->rounds = 1;
    plan->single_columns = (plan->n / plan->tile_n + grid_n - 1) / grid_n;
    if (sample == MatmulSample::kPto) {
      plan->ahead = 0;
    } else {
      plan->rounds = 2;
      plan->step_a = 8;
      plan->unit_flag = 1;
    }
    plan->single_rows = plan->m / 128 / grid_m / plan->rounds;
    if (plan->m != plan->single_rows * 128 * grid_m * plan->rounds) return ge::GRAPH_FAILED;
    if (plan->k % (plan->step_a * 64) != 0) return ge::GRAPH_FAILED;
  }
  context->SetBlockDim(cores);
  context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize();
  return ge::GRAPH_SUCCESS;
}

static ge::graphStatus TilingAdd(gert::TilingContext* context) {
  const gert::StorageShape* x = context->GetRequiredInputShape(0);
  auto* plan = context->GetTilingData<AnchorAddTiling>();
  if (x == nullptr || plan == nullptr) return ge::GRAPH_FAILED;
  const platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
  // The sample's steps: 1 a single core, 2 all cores, 3 larger tiles, 4 two slots, 6 operands in
  // different banks. (5 and 6 keep their inputs out of the L2, which this kernel does not.)
  const int64_t step = *context->GetAttrs()->GetInt(0);
  const uint32_t cores = step == 1 ? 1 : platform.GetCoreNumAiv();
  plan->rows = Extent(*x, 0);
  plan->columns = Extent(*x, 1);
  // A full slot puts the operands a multiple of 512 bytes apart, in the same bank groups; 256 bytes
  // less moves the second one out of the first one's way.
  plan->tile = step < 3 ? 4096 : step < 6 ? 16384 : 16256;
  plan->slots = step < 4 ? 1 : 2;
  plan->second_from = step < 6 ? 32768 : 32512;
  if (plan->rows < cores || plan->columns % 16 != 0) return ge::GRAPH_FAILED;
  context->SetBlockDim(cores);
  context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize();
  return ge::GRAPH_SUCCESS;
}

static ge::graphStatus TilingSoftmax(gert::TilingContext* context) {
  const gert::StorageShape* x = context->GetRequiredInputShape(0);
  auto* plan = context->GetTilingData<AnchorSoftmaxTiling>();
  if (x == nullptr || plan == nullptr) return ge::GRAPH_FAILED;
  plan->rows = static_cast<uint64_t>(Extent(*x, 0)) * Extent(*x, 1);
  plan->columns = Extent(*x, 2);
  plan->scale = *context->GetAttrs()->GetFloat(0);
  const bool power = (plan->columns & (plan->columns - 1)) == 0;
  if (!power || plan->columns < 512 || plan->columns > 4096 || plan->rows % 16 != 0) {
    return ge::GRAPH_FAILED;
  }
  const platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
  context->SetBlockDim(platform.GetCoreNumAiv());
  context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize();
  return ge::GRAPH_SUCCESS;
}

static ge::graphStatus TilingLockstep(gert::TilingContext* context) {
  const gert::StorageShape* q = context->GetRequiredInputShape(0);
  auto* plan = context->GetTilingData<AnchorLockstepTiling>();
  if (q == nullptr || plan == nullptr) return ge::GRAPH_FAILED;
  plan->heads = Extent(*q, 0) * Extent(*q, 1);
  plan->seq = Extent(*q, 2);
  plan->scale = *context->GetAttrs()->GetFloat(0);
  if (plan->seq % 128 != 0 || Extent(*q, 3) != 128) return ge::GRAPH_FAILED;
  const platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
  const uint32_t blocks = plan->heads * (plan->seq / 128), cores = platform.GetCoreNumAic();
  context->SetBlockDim(blocks < cores ? blocks : cores);
  // Per core: scores and partial output in float, weights in half, 128 x 128 each.
  context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize() + cores * 163840ull;
  return ge::GRAPH_SUCCESS;
}

}  // namespace optiling

namespace ops {

class AnchorMatmul : public OpDef {
 public:
  explicit AnchorMatmul(const char* name) : OpDef(name) {
    for (const char* input : {"a", "b"}) {
      this->Input(input)
          .ParamType(REQUIRED)
          .DataType({ge::DT_FLOAT16, ge::DT_FLOAT16})
          .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    }
    this->Output("c")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Attr("sample").AttrType(OPTIONAL).Int(0);
    this->Attr("grid_m").AttrType(OPTIONAL).Int(0);
    this->Attr("grid_n").AttrType(OPTIONAL).Int(0);
    this->AICore()
        .SetTiling(optiling::TilingMatmul)
        .AddConfig("ascend910b")
        .AddConfig("ascend910_93");
  }
};

class AnchorAdd : public OpDef {
 public:
  explicit AnchorAdd(const char* name) : OpDef(name) {
    for (const char* input : {"x", "y"}) {
      this->Input(input).ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
    }
    this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
    this->Attr("step").AttrType(OPTIONAL).Int(4);
    this->AICore().SetTiling(optiling::TilingAdd).AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};

class AnchorSoftmax : public OpDef {
 public:
  explicit AnchorSoftmax(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
    this->Attr("scale").AttrType(REQUIRED).Float();
    this->AICore()
        .SetTiling(optiling::TilingSoftmax)
        .AddConfig("ascend910b")
        .AddConfig("ascend910_93");
  }
};

class AnchorLockstep : public OpDef {
 public:
  explicit AnchorLockstep(const char* name) : OpDef(name) {
    for (const char* input : {"q", "k", "v"}) {
      this->Input(input).ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
    }
    this->Output("out").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
    this->Attr("scale").AttrType(REQUIRED).Float();
    this->AICore()
        .SetTiling(optiling::TilingLockstep)
        .AddConfig("ascend910b")
        .AddConfig("ascend910_93");
  }
};

OP_ADD(AnchorMatmul);
OP_ADD(AnchorAdd);
OP_ADD(AnchorSoftmax);
OP_ADD(AnchorLockstep);

}  // namespace ops
