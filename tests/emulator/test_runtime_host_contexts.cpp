// What tiling functions see: shapes, absent inputs, attributes, results, the platform.
#include <gtest/gtest.h>

#include "core/chip.h"
#include "exe_graph/runtime/tiling_context.h"
#include "tiling/platform/platform_ascendc.h"

namespace {

gert::NodeData::Port port(const std::initializer_list<int64_t>& dims, ge::DataType type) {
  gert::NodeData::Port result;
  result.tensor = gert::Tensor(gert::StorageShape(dims, dims),
                               gert::CompileTimeTensorDesc(type, ge::FORMAT_ND, ge::FORMAT_ND));
  return result;
}

TEST(HostContexts, AnAbsentOptionalInputShiftsPlainIndicesOnly) {
  gert::NodeData node;
  node.inputs = {port({2, 3}, ge::DT_FLOAT16), port({5}, ge::DT_INT32)};
  node.ir_input = {0, -1, 1};
  gert::TilingResult result(64);
  gert::TilingContext context(&node, &result, nullptr, 0);
  EXPECT_EQ(context.GetInputShape(1)->GetStorageShape().GetDim(0), 5);
  EXPECT_EQ(context.GetInputShape(2), nullptr);
  EXPECT_EQ(context.GetOptionalInputShape(1), nullptr);
  EXPECT_EQ(context.GetOptionalInputDesc(1), nullptr);
  EXPECT_EQ(context.GetRequiredInputShape(2)->GetStorageShape().GetDim(0), 5);
  EXPECT_EQ(context.GetOptionalInputDesc(2)->GetDataType(), ge::DT_INT32);
  EXPECT_EQ(context.GetComputeNodeInputNum(), 2u);
}

TEST(HostContexts, TilingDataIsAsLargeAsItsStructAndNoLarger) {
  struct Small {
    int64_t a, b;
  };
  struct Large {
    char bytes[65];
  };
  gert::NodeData node;
  gert::TilingResult result(64);
  gert::TilingContext context(&node, &result, nullptr, 0);
  EXPECT_EQ(context.GetTilingData<Large>(), nullptr);
  ASSERT_NE(context.GetTilingData<Small>(), nullptr);
  EXPECT_EQ(result.data.GetDataSize(), sizeof(Small));
  ASSERT_NE(context.GetWorkspaceSizes(2), nullptr);
  EXPECT_EQ(context.GetWorkspaceNum(), 2u);
  EXPECT_EQ(context.GetWorkspaceSizes(17), nullptr);
}

TEST(HostContexts, AttributesComeBackByIndexAndType) {
  gert::RuntimeAttrs attrs;
  attrs.Append<int64_t>(-7);
  attrs.Append<float>(0.5f);
  attrs.AppendString("BSND");
  attrs.Append(gert::TypedContinuousVector<int64_t>(std::vector<int64_t>{4, 5}));
  EXPECT_EQ(*attrs.GetInt(0), -7);
  EXPECT_EQ(*attrs.GetFloat(1), 0.5f);
  EXPECT_STREQ(attrs.GetStr(2), "BSND");
  EXPECT_EQ(attrs.GetListInt(3)->GetData()[1], 5);
  EXPECT_EQ(attrs.GetInt(4), nullptr);
}

TEST(HostContexts, ShapesMultiplyAndKnowTheUnknown) {
  gert::Shape shape{2, 3, 4};
  EXPECT_EQ(shape.GetShapeSize(), 24);
  shape.SetDim(1, -1);
  EXPECT_LT(shape.GetShapeSize(), 0);
  EXPECT_EQ(gert::Shape{}.GetShapeSize(), 1);
  EXPECT_EQ(shape.GetDim(9), gert::Shape::kInvalidDimValue);
  EXPECT_NE(shape, (gert::Shape{2, 3, 4}));
}

platform_ascendc::PlatformAscendC platform(const char* soc) {
  return platform_ascendc::PlatformAscendC(const_cast<fe::PlatFormInfos*>(
      reinterpret_cast<const fe::PlatFormInfos*>(&dav::chip_by_name(soc))));
}

TEST(HostPlatform, ReportsWhatIsPublishedForEachChip) {
  auto b3 = platform("Ascend910B3");
  EXPECT_EQ(b3.GetCoreNumAic(), 20u);
  EXPECT_EQ(b3.GetCoreNumAiv(), 40u);
  EXPECT_EQ(b3.GetLibApiWorkSpaceSize(), 16u << 20);
  uint64_t bytes = 0;
  b3.GetCoreMemSize(platform_ascendc::CoreMemType::UB, bytes);
  EXPECT_EQ(bytes, 196352u);
  b3.GetCoreMemSize(platform_ascendc::CoreMemType::L1, bytes);
  EXPECT_EQ(bytes, 524032u);
  b3.GetCoreMemSize(platform_ascendc::CoreMemType::L0_C, bytes);
  EXPECT_EQ(bytes, 128u << 10);
  EXPECT_EQ(b3.GetSocVersion(), platform_ascendc::SocVersion::ASCEND910B);

  auto a = platform("Ascend910A");
  EXPECT_EQ(a.GetCoreNum(), 32u);
  EXPECT_EQ(a.GetLibApiWorkSpaceSize(), 2u << 20);
  EXPECT_EQ(a.GetSocVersion(), platform_ascendc::SocVersion::ASCEND910);
  b3.ReserveLocalMemory(platform_ascendc::ReservedSize::RESERVED_SIZE_8K);
  b3.GetCoreMemSize(platform_ascendc::CoreMemType::UB, bytes);
  EXPECT_EQ(bytes, 196352u - 8192u);
}

TEST(HostPlatform, BlocksOfAMixedKernelAreCountedInAivPairs) {
  auto b3 = platform("Ascend910B3");
  EXPECT_EQ(b3.CalcTschBlockDim(40, 20, 40), 20u);
  EXPECT_EQ(b3.CalcTschBlockDim(7, 20, 40), 4u);
  EXPECT_EQ(b3.CalcTschBlockDim(41, 20, 40), 0u);
  EXPECT_EQ(b3.CalcTschBlockDim(13, 0, 40), 13u);
}

}  // namespace
