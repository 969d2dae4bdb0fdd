// The two-phase C interface: inputs, attributes, outputs, workspace size, executor.
#include <cctype>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "toolchain/op_build/names.h"
#include "toolchain/op_build/writers.h"

namespace op_build {
namespace {

using ops::AttrKind;
using ops::OpAttrData;
using ops::OpDefData;
using ops::OpParamData;

struct Argument {
  std::string type;  // with trailing space or star
  std::string name;
  std::string comment;
  std::string call;  // statement that hands it to the OpCall
};

bool optional(const OpParamData& port) {
  return port.param_type == ops::OPTIONAL || port.param_type == ops::VIRTUAL;
}

bool has_port(const std::vector<ops::OpParamDef>& ports, const std::string& name) {
  for (const auto& port : ports) {
    if (port.data().name == name) return true;
  }
  return false;
}

std::string input_name(const OpDefData& op, const OpParamData& port) {
  std::string name = camel_case(port.name);
  if (has_port(op.outputs, port.name)) name += "Ref";  // updated in place
  return optional(port) ? name + "Optional" : name;
}

Argument value_input(const OpDefData& op, const OpParamData& port, const std::string& name) {
  const ge::DataType type = port.types.empty() ? ge::DT_UNDEFINED : port.types[0];
  const char* array = type == ge::DT_INT64   ? "Int"
                      : type == ge::DT_FLOAT ? "Float"
                      : type == ge::DT_BOOL  ? "Bool"
                                             : nullptr;
  if (!array) {
    throw std::runtime_error(op.type + ", input " + port.name +
                             ": ValueDepend takes int64, float or bool");
  }
  Argument argument;
  argument.type = std::string("const acl") + array + "Array *";
  argument.call = std::string("Input") + array + "s(\"" + port.name + "\", " + name + ", " +
                  (optional(port) ? "true" : "false") + ")";
  return argument;
}

Argument input_argument(const OpDefData& op, const OpParamData& port) {
  if (port.param_type == ops::DYNAMIC) {
    throw std::runtime_error(op.type + ", input " + port.name + ": DYNAMIC is not supported");
  }
  const std::string name = input_name(op, port);
  Argument argument;
  if (port.value_depend != ops::IGNORE) {
    argument = value_input(op, port, name);
  } else {
    const char* contiguity = port.ignore_contiguous ? "Ignored"
                             : port.auto_contiguous ? "Automatic"
                                                    : "Required";
    argument.type = "const aclTensor *";
    argument.call = "Input(\"" + port.name + "\", " + name + ", " +
                    (optional(port) ? "true" : "false") + ", nnopbase::Contiguity::" + contiguity +
                    ")";
  }
  argument.name = name;
  argument.comment = optional(port) ? "optional" : "required";
  return argument;
}

Argument attr_argument(const OpAttrData& attr) {
  Argument argument;
  argument.name = camel_case(attr.name);
  const bool is_optional = attr.attr_type == ops::OPTIONAL;
  argument.comment = is_optional ? "optional" : "required";
  const char* method = "";
  bool pointer = false;
  switch (attr.kind) {
    case AttrKind::Bool:
      argument.type = "bool ", method = "AttrBool";
      break;
    case AttrKind::Float:
      argument.type = "double ", method = "AttrFloat";
      break;
    case AttrKind::Int:
      argument.type = "int64_t ", method = "AttrInt";
      break;
    case AttrKind::String:
      argument.type = "char *", method = "AttrString", pointer = true;
      break;
    case AttrKind::ListBool:
      argument.type = "const aclBoolArray *", method = "AttrBools", pointer = true;
      break;
    case AttrKind::ListFloat:
      argument.type = "const aclFloatArray *", method = "AttrFloats", pointer = true;
      break;
    case AttrKind::ListInt:
      argument.type = "const aclIntArray *", method = "AttrInts", pointer = true;
      break;
  }
  // Only what can be null carries the suffix: a number always has a value.
  if (is_optional && pointer) argument.name += "Optional";
  argument.call = std::string(method) + "(" + argument.name + ")";
  return argument;
}

Argument output_argument(const OpDefData& op, const OpParamData& port) {
  Argument argument;
  argument.type = "const aclTensor *";
  if (has_port(op.inputs, port.name)) {
    // Shares the input's argument.
    for (const auto& input : op.inputs) {
      if (input.data().name == port.name) argument.name = input_name(op, input.data());
    }
    argument.comment.clear();
  } else {
    argument.name = op.outputs.size() == 1 ? "out" : camel_case(port.name) + "Out";
    if (optional(port)) argument.name += "Optional";
    argument.comment = optional(port) ? "optional" : "required";
  }
  argument.call = "Output(\"" + port.name + "\", " + argument.name + ", " +
                  (optional(port) ? "true" : "false") + ")";
  return argument;
}

std::vector<Argument> arguments_of(const OpDefData& op) {
  std::vector<Argument> result;
  for (const auto& port : op.inputs) result.push_back(input_argument(op, port.data()));
  for (const auto& attr : op.attrs) result.push_back(attr_argument(attr.data()));
  for (const auto& port : op.outputs) result.push_back(output_argument(op, port.data()));
  return result;
}

std::string workspace_prototype(const std::string& function, const std::vector<Argument>& args) {
  std::ostringstream out;
  out << "aclnnStatus " << function << "GetWorkspaceSize(\n";
  for (const Argument& argument : args) {
    if (!argument.comment.empty()) out << "    " << argument.type << argument.name << ",\n";
  }
  out << "    uint64_t *workspaceSize,\n    aclOpExecutor **executor)";
  return out.str();
}

std::string run_prototype(const std::string& function) {
  return "aclnnStatus " + function +
         "(\n    void *workspace,\n    uint64_t workspaceSize,\n    aclOpExecutor *executor,\n"
         "    aclrtStream stream)";
}

// The default of an optional string or list, where a null pointer stands for it.
std::string default_of(const OpAttrData& attr, const std::string& name) {
  if (!attr.has_default || attr.attr_type != ops::OPTIONAL) return "";
  std::ostringstream out;
  if (attr.kind == AttrKind::String) {
    out << "    static char default_" << name << "[] = \"" << attr.default_value << "\";\n    if ("
        << name << " == nullptr) " << name << " = default_" << name << ";\n";
    return out.str();
  }
  const char* element = attr.kind == AttrKind::ListInt     ? "int64_t"
                        : attr.kind == AttrKind::ListFloat ? "float"
                        : attr.kind == AttrKind::ListBool  ? "bool"
                                                           : nullptr;
  const char* array = attr.kind == AttrKind::ListInt     ? "Int"
                      : attr.kind == AttrKind::ListFloat ? "Float"
                                                         : "Bool";
  if (!element || attr.default_value.empty()) return "";
  out << "    static const " << element << " default_" << name << "[] = {" << attr.default_value
      << "};\n    if (" << name << " == nullptr) " << name << " = aclCreate" << array
      << "Array(default_" << name << ", sizeof(default_" << name << ") / sizeof(" << element
      << "));\n";
  return out.str();
}

void save(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

void write_aclnn(const OpDefData& op, const std::string& folder) {
  const std::string stem = "aclnn_" + snake_case(op.type);
  const std::string function = "aclnn" + op.type;
  const std::vector<Argument> args = arguments_of(op);
  std::string guard;
  for (char c : stem) guard += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));

  std::ostringstream header;
  header << "// Generated from the definition of " << op.type << ". Do not edit.\n#ifndef " << guard
         << "_H_\n#define " << guard << "_H_\n\n#include \"aclnn/acl_meta.h\"\n\n"
         << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n/* function: " << function
         << "GetWorkspaceSize\n * parameters :\n";
  for (const Argument& argument : args) {
    if (!argument.comment.empty()) {
      header << " * " << argument.name << " : " << argument.comment << "\n";
    }
  }
  header << " * workspaceSize : size of workspace(output).\n * executor : executor "
         << "context(output).\n */\n__attribute__((visibility(\"default\")))\n"
         << workspace_prototype(function, args) << ";\n\n/* function: " << function
         << "\n * parameters :\n * workspace : workspace memory addr(input).\n"
         << " * workspaceSize : size of workspace(input).\n * executor : executor "
         << "context(input).\n * stream : acl stream.\n */\n"
         << "__attribute__((visibility(\"default\")))\n"
         << run_prototype(function) << ";\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  save(folder + "/" + stem + ".h", header.str());

  std::ostringstream source;
  source << "// Generated from the definition of " << op.type << ". Do not edit.\n#include \""
         << stem << ".h\"\n\n#include \"nnopbase/op_call.h\"\n\n"
         << workspace_prototype(function, args) << " {\n";
  for (const auto& attr : op.attrs) {
    source << default_of(attr.data(), attr_argument(attr.data()).name);
  }
  source << "    nnopbase::OpCall call(\"" << op.type << "\", \"" << function << "\");\n";
  for (const Argument& argument : args) source << "    call." << argument.call << ";\n";
  source << "    return call.Prepare(workspaceSize, executor);\n}\n\n"
         << run_prototype(function) << " {\n    return nnopbase::Run(\"" << function
         << "\", workspace, workspaceSize, executor, stream);\n}\n";
  save(folder + "/" + stem + ".cpp", source.str());
}

}  // namespace op_build
