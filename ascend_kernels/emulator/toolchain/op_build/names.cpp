#include "toolchain/op_build/names.h"

#include <cctype>

namespace op_build {
namespace {

bool upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
char to_lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
char to_upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

}  // namespace

std::string snake_case(const std::string& op_type) {
  std::string result;
  for (size_t i = 0; i < op_type.size(); ++i) {
    const char c = op_type[i];
    if (i > 0 && upper(c)) {
      const bool after_word = !upper(op_type[i - 1]);
      const bool before_word = i + 1 < op_type.size() && lower(op_type[i + 1]);
      if (after_word || before_word) result += '_';
    }
    result += to_lower(c);
  }
  return result;
}

std::string camel_case(const std::string& name) {
  std::string result;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '_' && i + 1 < name.size()) {
      result += to_upper(name[++i]);
    } else {
      result += i == 0 ? to_lower(name[i]) : name[i];
    }
  }
  return result;
}

std::string dtype_name(ge::DataType type) {
  switch (type) {
    case ge::DT_FLOAT:
      return "float32";
    case ge::DT_FLOAT16:
      return "float16";
    case ge::DT_BF16:
      return "bfloat16";
    case ge::DT_DOUBLE:
      return "double";
    case ge::DT_BOOL:
      return "bool";
    case ge::DT_INT4:
      return "int4";
    case ge::DT_INT8:
      return "int8";
    case ge::DT_UINT8:
      return "uint8";
    case ge::DT_INT16:
      return "int16";
    case ge::DT_UINT16:
      return "uint16";
    case ge::DT_INT32:
      return "int32";
    case ge::DT_UINT32:
      return "uint32";
    case ge::DT_INT64:
      return "int64";
    case ge::DT_UINT64:
      return "uint64";
    default:
      return "";
  }
}

std::string format_name(ge::Format format) {
  switch (format) {
    case ge::FORMAT_NCHW:
      return "NCHW";
    case ge::FORMAT_NHWC:
      return "NHWC";
    case ge::FORMAT_ND:
      return "ND";
    case ge::FORMAT_NC1HWC0:
      return "NC1HWC0";
    case ge::FORMAT_FRACTAL_Z:
      return "FRACTAL_Z";
    case ge::FORMAT_FRACTAL_NZ:
      return "FRACTAL_NZ";
    case ge::FORMAT_HWCN:
      return "HWCN";
    case ge::FORMAT_NDHWC:
      return "NDHWC";
    case ge::FORMAT_NCDHW:
      return "NCDHW";
    case ge::FORMAT_NCL:
      return "NCL";
    default:
      return "";
  }
}

}  // namespace op_build
