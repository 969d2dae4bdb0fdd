// What an OpDef says, in the clear: written by op_def.cpp, read by the code generator.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "register/op_def.h"

namespace ops {

struct OpParamData {
  std::string name;
  Option param_type = REQUIRED;
  std::vector<ge::DataType> types;
  bool any_type = false;  // DataTypeList
  std::vector<ge::Format> formats;
  bool any_format = false;  // FormatList
  Option value_depend = IGNORE;
  bool ignore_contiguous = false;
  bool auto_contiguous = false;
  std::string follow;
  FollowType follow_type = FollowType::ALL;
};

enum class AttrKind { Bool, Float, Int, String, ListBool, ListFloat, ListInt };

struct OpAttrData {
  std::string name;
  Option attr_type = REQUIRED;
  AttrKind kind = AttrKind::Int;
  bool has_default = false;
  std::string default_value;  // as a C++ expression, lists without braces
};

struct OpAICoreConfigData {
  std::string soc;
  std::vector<OpParamDef> inputs;  // replace the op's port of the same name on this chip
  std::vector<OpParamDef> outputs;
  std::vector<std::pair<std::string, std::string>> entries;
};

struct OpAICoreData {
  gert::OpImplRegisterV2::TilingKernelFunc tiling = nullptr;
  std::vector<OpAICoreConfig> configs;
};

struct OpDefData {
  std::string type;
  std::vector<OpParamDef> inputs;
  std::vector<OpParamDef> outputs;
  std::vector<OpAttrDef> attrs;
  gert::OpImplRegisterV2::InferShapeKernelFunc infer_shape = nullptr;
  gert::OpImplRegisterV2::InferShapeRangeKernelFunc infer_shape_range = nullptr;
  gert::OpImplRegisterV2::InferDataTypeKernelFunc infer_data_type = nullptr;
  OpAICoreDef aicore;
};

}  // namespace ops
