// The ops-info files: per chip, what each op takes.
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "toolchain/op_build/combinations.h"
#include "toolchain/op_build/names.h"
#include "toolchain/op_build/writers.h"

namespace op_build {
namespace {

const char* presence(ops::Option option) {
  switch (option) {
    case ops::OPTIONAL:
    case ops::VIRTUAL:
      return "optional";
    case ops::DYNAMIC:
      return "dynamic";
    default:
      return "required";
  }
}

const char* attr_type(ops::AttrKind kind) {
  switch (kind) {
    case ops::AttrKind::Bool:
      return "bool";
    case ops::AttrKind::Float:
      return "float";
    case ops::AttrKind::Int:
      return "int";
    case ops::AttrKind::String:
      return "str";
    case ops::AttrKind::ListBool:
      return "listBool";
    case ops::AttrKind::ListFloat:
      return "listFloat";
    case ops::AttrKind::ListInt:
      return "listInt";
  }
  return "int";
}

void write_port(std::ostream& out, const std::string& op, const std::string& key,
                const Port& port) {
  std::string types;
  std::string formats;
  for (size_t i = 0; i < port.types.size(); ++i) {
    const std::string type = dtype_name(port.types[i]);
    const std::string format = format_name(port.formats[i]);
    if (type.empty() || format.empty()) {
      throw std::runtime_error(op + ", port " + port.name + ": a " +
                               (type.empty() ? "data type" : "format") +
                               " of its list is not supported");
    }
    types += (i ? "," : "") + type;
    formats += (i ? "," : "") + format;
  }
  out << key << ".name=" << port.name << "\n"
      << key << ".dtype=" << types << "\n"
      << key << ".format=" << formats << "\n"
      << key << ".unknownshape_format=" << formats << "\n"
      << key << ".shape=all\n"
      << key << ".paramType=" << presence(port.param_type) << "\n";
  if (port.value_depend != ops::IGNORE) {
    out << key << ".valueDepend=" << (port.value_depend == ops::REQUIRED ? "required" : "optional")
        << "\n";
  }
}

std::string section(const ops::OpDefData& op, const ops::OpAICoreConfigData& chip) {
  std::ostringstream out;
  const Expanded ports = expand(op, chip);
  out << "[" << op.type << "]\n";
  for (size_t i = 0; i < ports.inputs.size(); ++i) {
    write_port(out, op.type, "input" + std::to_string(i), ports.inputs[i]);
  }
  for (size_t i = 0; i < ports.outputs.size(); ++i) {
    write_port(out, op.type, "output" + std::to_string(i), ports.outputs[i]);
  }
  std::string list;
  for (const auto& attr : op.attrs) list += (list.empty() ? "" : ",") + attr.data().name;
  if (!list.empty()) out << "attr.list=" << list << "\n";
  for (const auto& attr : op.attrs) {
    const auto& data = attr.data();
    const std::string key = "attr_" + data.name;
    out << key << ".type=" << attr_type(data.kind) << "\n"
        << key << ".value=all\n"
        << key << ".paramType=" << presence(data.attr_type) << "\n";
    if (data.has_default) out << key << ".defaultValue=" << data.default_value << "\n";
  }
  std::map<std::string, std::string> entries = {
      {"dynamicCompileStatic.flag", "true"},      {"dynamicFormat.flag", "true"},
      {"dynamicRankSupport.flag", "true"},        {"dynamicShapeSupport.flag", "true"},
      {"needCheckSupport.flag", "false"},         {"opFile.value", snake_case(op.type)},
      {"opInterface.value", snake_case(op.type)}, {"precision_reduce.flag", "true"}};
  for (const auto& entry : chip.entries) entries[entry.first] = entry.second;
  for (const auto& entry : entries) out << entry.first << "=" << entry.second << "\n";
  return out.str();
}

}  // namespace

void write_ops_info(const std::vector<ops::OpDef>& ops, const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& op : ops) {
    for (const auto& config : op.data().aicore.data().configs) {
      files[config.data().soc] += section(op.data(), config.data());
    }
  }
  for (const auto& file : files) {
    const std::string path = folder + "/aic-" + file.first + "-ops-info.ini";
    std::ofstream out(path);
    out << file.second;
    if (!out.flush()) throw std::runtime_error("cannot write " + path);
  }
}

}  // namespace op_build
