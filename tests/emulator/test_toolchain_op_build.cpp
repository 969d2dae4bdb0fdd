// What the op toolchain derives from definitions: names and dtype combinations.
#include <gtest/gtest.h>

#include <set>

#include "register/op_def_registry.h"
#include "toolchain/op_build/combinations.h"
#include "toolchain/op_build/names.h"

namespace {

using op_build::expand;

TEST(OpBuildNames, FollowTheReferenceTable) {
  // The table of the naming rules in the custom operator guide.
  const std::pair<const char*, const char*> table[] = {
      {"AddCustom", "add_custom"},
      {"Conv2DCustom", "conv2_d_custom"},
      {"GatherV2Custom", "gather_v2_custom"},
      {"SplitVCustom", "split_v_custom"},
      {"AbcAAc", "abc_a_ac"},
      {"GRUCell", "gru_cell"},
      {"HTTPServerCustom", "http_server_custom"},
      {"FlashAttentionGrad", "flash_attention_grad"}};
  for (const auto& row : table) EXPECT_EQ(op_build::snake_case(row.first), row.second);
}

TEST(OpBuildNames, ArgumentsAreCamelCase) {
  EXPECT_EQ(op_build::camel_case("block_m"), "blockM");
  EXPECT_EQ(op_build::camel_case("Scale"), "scale");
  EXPECT_EQ(op_build::camel_case("a_long_name"), "aLongName");
}

class Definition : public ops::OpDef {
 public:
  Definition() : OpDef("Probe") { this->AICore().AddConfig("ascend910b"); }
  const ops::OpAICoreConfigData& chip() { return AICore().data().configs[0].data(); }
};

TEST(OpBuildCombinations, PositionalListsStayTogether) {
  Definition op;
  op.Input("a").DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
  op.Output("b").DataType({ge::DT_FLOAT, ge::DT_INT32}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
  const auto rows = expand(op.data(), op.chip());
  EXPECT_EQ(rows.inputs[0].types, (std::vector<ge::DataType>{ge::DT_FLOAT16, ge::DT_FLOAT}));
  EXPECT_EQ(rows.outputs[0].types, (std::vector<ge::DataType>{ge::DT_FLOAT, ge::DT_INT32}));
}

TEST(OpBuildCombinations, FreeListsMultiply) {
  Definition op;
  op.Input("a").DataTypeList({ge::DT_FLOAT16, ge::DT_BF16});
  op.Input("b").DataType({ge::DT_INT8, ge::DT_INT32, ge::DT_INT64});
  const auto rows = expand(op.data(), op.chip());
  std::set<std::pair<int, int>> seen;
  for (size_t i = 0; i < rows.inputs[0].types.size(); ++i) {
    seen.insert({rows.inputs[0].types[i], rows.inputs[1].types[i]});
  }
  EXPECT_EQ(rows.inputs[0].types.size(), 6u);
  EXPECT_EQ(seen.size(), 6u);
}

TEST(OpBuildCombinations, AFollowerTakesTypesAndFormats) {
  Definition op;
  op.Input("a").DataType({ge::DT_FLOAT16, ge::DT_FLOAT});
  op.Output("b").Follow("a");
  EXPECT_EQ(expand(op.data(), op.chip()).outputs[0].types,
            (std::vector<ge::DataType>{ge::DT_FLOAT16, ge::DT_FLOAT}));
  op.Output("c").Follow("nobody");
  EXPECT_THROW(expand(op.data(), op.chip()), std::runtime_error);
}

TEST(OpBuildCombinations, AChipMayReplaceAPort) {
  ops::OpDef op("Probe");
  op.Input("a").DataType({ge::DT_FLOAT16, ge::DT_BF16});
  ops::OpAICoreConfig config;
  config.Input("a").DataType({ge::DT_FLOAT16});
  op.AICore().AddConfig("ascend910", config).AddConfig("ascend910b");
  const auto& configs = op.AICore().data().configs;
  EXPECT_EQ(configs[0].data().soc, "ascend910");
  EXPECT_EQ(expand(op.data(), configs[0].data()).inputs[0].types.size(), 1u);
  EXPECT_EQ(expand(op.data(), configs[1].data()).inputs[0].types.size(), 2u);
}

TEST(OpBuildCombinations, ListsOfDifferentLengthAreRefusedByName) {
  Definition op;
  op.Input("a").DataType({ge::DT_FLOAT16, ge::DT_FLOAT});
  op.Input("b").DataType({ge::DT_INT8, ge::DT_INT32, ge::DT_INT64});
  try {
    expand(op.data(), op.chip());
    FAIL() << "no refusal";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("Probe, port a"), std::string::npos) << e.what();
  }
  Definition untyped;
  untyped.Input("a");
  EXPECT_THROW(expand(untyped.data(), untyped.chip()), std::runtime_error);
}

}  // namespace
