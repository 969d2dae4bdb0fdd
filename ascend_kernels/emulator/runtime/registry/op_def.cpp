#include <sstream>

#include "register/op_def_factory.h"
#include "runtime/registry/op_def_data.h"

namespace ops {
namespace {

// The port of that name, created at the end when there is none.
template <typename Def>
Def& find_or_add(std::vector<Def>& list, const char* name) {
  for (Def& def : list) {
    if (def.data().name == name) return def;
  }
  list.emplace_back(name);
  return list.back();
}

template <typename T>
std::string joined(const std::vector<T>& values) {
  std::ostringstream out;
  for (size_t i = 0; i < values.size(); ++i) out << (i ? ", " : "") << values[i];
  return out.str();
}

const char* flag_text(bool flag) { return flag ? "true" : "false"; }

struct Factory {
  std::vector<ge::AscendString> names;
  std::vector<OpDefCreator> creators;
};

Factory& factory() {
  static Factory instance;
  return instance;
}

}  // namespace

OpParamDef::OpParamDef(const char* name) : data_(std::make_shared<OpParamData>()) {
  data_->name = name;
}
OpParamDef& OpParamDef::ParamType(Option param_type) {
  data_->param_type = param_type;
  return *this;
}
OpParamDef& OpParamDef::DataType(std::vector<ge::DataType> types) {
  data_->types = std::move(types);
  data_->any_type = false;
  return *this;
}
OpParamDef& OpParamDef::DataTypeList(std::vector<ge::DataType> types) {
  data_->types = std::move(types);
  data_->any_type = true;
  return *this;
}
OpParamDef& OpParamDef::Format(std::vector<ge::Format> formats) {
  data_->formats = std::move(formats);
  data_->any_format = false;
  return *this;
}
OpParamDef& OpParamDef::FormatList(std::vector<ge::Format> formats) {
  data_->formats = std::move(formats);
  data_->any_format = true;
  return *this;
}
OpParamDef& OpParamDef::UnknownShapeFormat(std::vector<ge::Format>) { return *this; }
OpParamDef& OpParamDef::ValueDepend(Option value_depend) {
  data_->value_depend = value_depend;
  return *this;
}
OpParamDef& OpParamDef::ValueDepend(Option value_depend, DependScope) {
  return ValueDepend(value_depend);
}
OpParamDef& OpParamDef::IgnoreContiguous() {
  data_->ignore_contiguous = true;
  return *this;
}
OpParamDef& OpParamDef::AutoContiguous() {
  data_->auto_contiguous = true;
  return *this;
}
OpParamDef& OpParamDef::Follow(const char* name) { return Follow(name, FollowType::ALL); }
OpParamDef& OpParamDef::Follow(const char* name, FollowType type) {
  data_->follow = name;
  data_->follow_type = type;
  return *this;
}
OpParamDef& OpParamDef::InitValue(uint64_t) { return *this; }

OpAttrDef::OpAttrDef(const char* name) : data_(std::make_shared<OpAttrData>()) {
  data_->name = name;
}
OpAttrDef& OpAttrDef::AttrType(Option attr_type) {
  data_->attr_type = attr_type;
  return *this;
}

namespace {

void set_default(OpAttrData& data, AttrKind kind, std::string value) {
  data.kind = kind;
  data.has_default = true;
  data.default_value = std::move(value);
}

}  // namespace

OpAttrDef& OpAttrDef::Bool() {
  data_->kind = AttrKind::Bool;
  return *this;
}
OpAttrDef& OpAttrDef::Bool(bool value) {
  set_default(*data_, AttrKind::Bool, flag_text(value));
  return *this;
}
OpAttrDef& OpAttrDef::Float() {
  data_->kind = AttrKind::Float;
  return *this;
}
OpAttrDef& OpAttrDef::Float(float value) {
  set_default(*data_, AttrKind::Float, std::to_string(value));
  return *this;
}
OpAttrDef& OpAttrDef::Int() {
  data_->kind = AttrKind::Int;
  return *this;
}
OpAttrDef& OpAttrDef::Int(int64_t value) {
  set_default(*data_, AttrKind::Int, std::to_string(value));
  return *this;
}
OpAttrDef& OpAttrDef::String() {
  data_->kind = AttrKind::String;
  return *this;
}
OpAttrDef& OpAttrDef::String(const char* value) {
  set_default(*data_, AttrKind::String, value ? value : "");
  return *this;
}
OpAttrDef& OpAttrDef::ListBool() {
  data_->kind = AttrKind::ListBool;
  return *this;
}
OpAttrDef& OpAttrDef::ListBool(std::vector<bool> value) {
  std::vector<std::string> texts;
  for (bool b : value) texts.emplace_back(flag_text(b));
  set_default(*data_, AttrKind::ListBool, joined(texts));
  return *this;
}
OpAttrDef& OpAttrDef::ListFloat() {
  data_->kind = AttrKind::ListFloat;
  return *this;
}
OpAttrDef& OpAttrDef::ListFloat(std::vector<float> value) {
  set_default(*data_, AttrKind::ListFloat, joined(value));
  return *this;
}
OpAttrDef& OpAttrDef::ListInt() {
  data_->kind = AttrKind::ListInt;
  return *this;
}
OpAttrDef& OpAttrDef::ListInt(std::vector<int64_t> value) {
  set_default(*data_, AttrKind::ListInt, joined(value));
  return *this;
}

OpAICoreConfig::OpAICoreConfig() : data_(std::make_shared<OpAICoreConfigData>()) {}
OpAICoreConfig::OpAICoreConfig(const char* soc) : OpAICoreConfig() { data_->soc = soc; }
OpParamDef& OpAICoreConfig::Input(const char* name) { return find_or_add(data_->inputs, name); }
OpParamDef& OpAICoreConfig::Output(const char* name) { return find_or_add(data_->outputs, name); }
OpAICoreConfig& OpAICoreConfig::ExtendCfgInfo(const char* key, const char* value) {
  data_->entries.emplace_back(key, value);
  return *this;
}
OpAICoreConfig& OpAICoreConfig::DynamicCompileStaticFlag(bool flag) {
  return ExtendCfgInfo("dynamicCompileStatic.flag", flag_text(flag));
}
OpAICoreConfig& OpAICoreConfig::DynamicFormatFlag(bool flag) {
  return ExtendCfgInfo("dynamicFormat.flag", flag_text(flag));
}
OpAICoreConfig& OpAICoreConfig::DynamicRankSupportFlag(bool flag) {
  return ExtendCfgInfo("dynamicRankSupport.flag", flag_text(flag));
}
OpAICoreConfig& OpAICoreConfig::DynamicShapeSupportFlag(bool flag) {
  return ExtendCfgInfo("dynamicShapeSupport.flag", flag_text(flag));
}
OpAICoreConfig& OpAICoreConfig::NeedCheckSupportFlag(bool flag) {
  return ExtendCfgInfo("needCheckSupport.flag", flag_text(flag));
}
OpAICoreConfig& OpAICoreConfig::PrecisionReduceFlag(bool flag) {
  return ExtendCfgInfo("precision_reduce.flag", flag_text(flag));
}

OpAICoreDef::OpAICoreDef() : data_(std::make_shared<OpAICoreData>()) {}
OpAICoreDef& OpAICoreDef::SetTiling(gert::OpImplRegisterV2::TilingKernelFunc function) {
  data_->tiling = function;
  return *this;
}
OpAICoreDef& OpAICoreDef::AddConfig(const char* soc) {
  data_->configs.emplace_back(soc);
  return *this;
}
OpAICoreDef& OpAICoreDef::AddConfig(const char* soc, OpAICoreConfig& config) {
  // A copy: one config object is commonly added under several chips' names.
  OpAICoreConfig named(soc);
  const_cast<OpAICoreConfigData&>(named.data()) = config.data();
  const_cast<OpAICoreConfigData&>(named.data()).soc = soc;
  data_->configs.push_back(named);
  return *this;
}
gert::OpImplRegisterV2::TilingKernelFunc& OpAICoreDef::GetTiling() { return data_->tiling; }

OpDef::OpDef(const char* type) : data_(std::make_shared<OpDefData>()) { data_->type = type; }
OpParamDef& OpDef::Input(const char* name) { return find_or_add(data_->inputs, name); }
OpParamDef& OpDef::Output(const char* name) { return find_or_add(data_->outputs, name); }
OpAttrDef& OpDef::Attr(const char* name) { return find_or_add(data_->attrs, name); }
OpDef& OpDef::SetInferShape(gert::OpImplRegisterV2::InferShapeKernelFunc function) {
  data_->infer_shape = function;
  return *this;
}
OpDef& OpDef::SetInferShapeRange(gert::OpImplRegisterV2::InferShapeRangeKernelFunc function) {
  data_->infer_shape_range = function;
  return *this;
}
OpDef& OpDef::SetInferDataType(gert::OpImplRegisterV2::InferDataTypeKernelFunc function) {
  data_->infer_data_type = function;
  return *this;
}
gert::OpImplRegisterV2::InferShapeKernelFunc& OpDef::GetInferShape() { return data_->infer_shape; }
gert::OpImplRegisterV2::InferShapeRangeKernelFunc& OpDef::GetInferShapeRange() {
  return data_->infer_shape_range;
}
gert::OpImplRegisterV2::InferDataTypeKernelFunc& OpDef::GetInferDataType() {
  return data_->infer_data_type;
}
OpAICoreDef& OpDef::AICore() { return data_->aicore; }
OpDef& OpDef::FormatMatchMode(FormatCheckOption) { return *this; }
OpDef& OpDef::EnableFallBack() { return *this; }

int OpDefFactory::OpDefRegister(const char* type, OpDefCreator creator) {
  factory().names.emplace_back(type);
  factory().creators.push_back(creator);
  return 0;
}
std::vector<ge::AscendString>& OpDefFactory::GetAllOp() { return factory().names; }
OpDef OpDefFactory::OpDefCreate(const char* type) {
  for (size_t i = 0; i < factory().names.size(); ++i) {
    if (factory().names[i] == type) return factory().creators[i](type);
  }
  return OpDef(type);
}

}  // namespace ops
