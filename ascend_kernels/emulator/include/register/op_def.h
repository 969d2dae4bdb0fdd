// The definition of an operator: ports, attributes, supported chips, host functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/types.h"
#include "register/op_impl_registry.h"

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class DependScope : uint32_t { ALL = 0, TILING = 1, INVALID_SCOPE };
enum class FollowType : uint32_t { ALL = 0, DTYPE = 1, FORMAT = 2, SHAPE = 3, INVALID_TYPE };
enum class FormatCheckOption : uint32_t { DEFAULT = 0, STRICT = 1, MAX };

// Read by the code generator.
struct OpParamData;
struct OpAttrData;
struct OpAICoreConfigData;
struct OpAICoreData;
struct OpDefData;

#define DAV_HOST_API __attribute__((visibility("default")))

class DAV_HOST_API OpParamDef {
 public:
  explicit OpParamDef(const char* name);
  OpParamDef& ParamType(Option param_type);
  // Entries of DataType and Format belong together by position, across all ports.
  OpParamDef& DataType(std::vector<ge::DataType> types);
  // Any of these, whatever the other ports have.
  OpParamDef& DataTypeList(std::vector<ge::DataType> types);
  OpParamDef& Format(std::vector<ge::Format> formats);
  OpParamDef& FormatList(std::vector<ge::Format> formats);
  OpParamDef& UnknownShapeFormat(std::vector<ge::Format> formats);
  // The value is needed on the host: an array in the generated interface, data in the context.
  OpParamDef& ValueDepend(Option value_depend);
  OpParamDef& ValueDepend(Option value_depend, DependScope scope);
  // Strided views reach the kernel as they are.
  OpParamDef& IgnoreContiguous();
  // Strided views are made contiguous before the kernel runs.
  OpParamDef& AutoContiguous();
  OpParamDef& Follow(const char* name);
  OpParamDef& Follow(const char* name, FollowType type);
  OpParamDef& InitValue(uint64_t value);

  const OpParamData& data() const { return *data_; }

 private:
  std::shared_ptr<OpParamData> data_;
};

class DAV_HOST_API OpAttrDef {
 public:
  explicit OpAttrDef(const char* name);
  OpAttrDef& AttrType(Option attr_type);
  OpAttrDef& Bool();
  OpAttrDef& Bool(bool value);
  OpAttrDef& Float();
  OpAttrDef& Float(float value);
  OpAttrDef& Int();
  OpAttrDef& Int(int64_t value);
  OpAttrDef& String();
  OpAttrDef& String(const char* value);
  OpAttrDef& ListBool();
  OpAttrDef& ListBool(std::vector<bool> value);
  OpAttrDef& ListFloat();
  OpAttrDef& ListFloat(std::vector<float> value);
  OpAttrDef& ListInt();
  OpAttrDef& ListInt(std::vector<int64_t> value);

  const OpAttrData& data() const { return *data_; }

 private:
  std::shared_ptr<OpAttrData> data_;
};

class DAV_HOST_API OpAICoreConfig {
 public:
  OpAICoreConfig();
  explicit OpAICoreConfig(const char* soc);
  OpParamDef& Input(const char* name);
  OpParamDef& Output(const char* name);
  OpAICoreConfig& DynamicCompileStaticFlag(bool flag);
  OpAICoreConfig& DynamicFormatFlag(bool flag);
  OpAICoreConfig& DynamicRankSupportFlag(bool flag);
  OpAICoreConfig& DynamicShapeSupportFlag(bool flag);
  OpAICoreConfig& NeedCheckSupportFlag(bool flag);
  OpAICoreConfig& PrecisionReduceFlag(bool flag);
  OpAICoreConfig& ExtendCfgInfo(const char* key, const char* value);

  const OpAICoreConfigData& data() const { return *data_; }

 private:
  std::shared_ptr<OpAICoreConfigData> data_;
};

class DAV_HOST_API OpAICoreDef {
 public:
  OpAICoreDef();
  OpAICoreDef& SetTiling(gert::OpImplRegisterV2::TilingKernelFunc function);
  OpAICoreDef& AddConfig(const char* soc);
  OpAICoreDef& AddConfig(const char* soc, OpAICoreConfig& config);
  gert::OpImplRegisterV2::TilingKernelFunc& GetTiling();

  const OpAICoreData& data() const { return *data_; }

 private:
  std::shared_ptr<OpAICoreData> data_;
};

class DAV_HOST_API OpDef {
 public:
  explicit OpDef(const char* type);
  OpParamDef& Input(const char* name);
  OpParamDef& Output(const char* name);
  OpAttrDef& Attr(const char* name);
  OpDef& SetInferShape(gert::OpImplRegisterV2::InferShapeKernelFunc function);
  OpDef& SetInferShapeRange(gert::OpImplRegisterV2::InferShapeRangeKernelFunc function);
  OpDef& SetInferDataType(gert::OpImplRegisterV2::InferDataTypeKernelFunc function);
  gert::OpImplRegisterV2::InferShapeKernelFunc& GetInferShape();
  gert::OpImplRegisterV2::InferShapeRangeKernelFunc& GetInferShapeRange();
  gert::OpImplRegisterV2::InferDataTypeKernelFunc& GetInferDataType();
  OpAICoreDef& AICore();
  OpDef& FormatMatchMode(FormatCheckOption option);
  OpDef& EnableFallBack();

  const OpDefData& data() const { return *data_; }

 private:
  std::shared_ptr<OpDefData> data_;
};

}  // namespace ops
