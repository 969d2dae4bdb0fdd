#include <algorithm>
#include <map>

#include "register/tilingdata_base.h"

namespace optiling {
namespace {

struct Classes {
  std::map<std::string, std::vector<TilingField>> fields;
  std::map<std::string, std::string> by_op;
};

Classes& classes() {
  static Classes* instance = new Classes;
  return *instance;
}

}  // namespace

int register_tiling_field(const char* tiling_class, TilingField field) {
  auto& fields = classes().fields[tiling_class];
  // A header included by several sources registers once for each.
  const bool known = std::any_of(fields.begin(), fields.end(), [&](const TilingField& other) {
    return other.name == field.name;
  });
  if (!known) fields.push_back(std::move(field));
  return 0;
}

int register_tiling_class(const char* op_type, const char* tiling_class) {
  classes().by_op[op_type] = tiling_class;
  return 0;
}

std::string tiling_class_of(const std::string& op_type) {
  const auto it = classes().by_op.find(op_type);
  return it == classes().by_op.end() ? "" : it->second;
}

std::vector<TilingField> tiling_fields_of(const std::string& tiling_class) {
  const auto it = classes().fields.find(tiling_class);
  return it == classes().fields.end() ? std::vector<TilingField>{} : it->second;
}

}  // namespace optiling
