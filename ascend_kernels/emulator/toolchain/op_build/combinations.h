// The dtype and format combinations an op definition spells out for one chip.
#pragma once

#include <string>
#include <vector>

#include "runtime/registry/op_def_data.h"

namespace op_build {

// One port with as many types and formats as there are combinations.
struct Port {
  std::string name;
  ops::Option param_type = ops::REQUIRED;
  ops::Option value_depend = ops::IGNORE;
  std::vector<ge::DataType> types;
  std::vector<ge::Format> formats;
};

struct Expanded {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
};

// Throws std::runtime_error naming op and port when lists do not fit together.
Expanded expand(const ops::OpDefData& op, const ops::OpAICoreConfigData& chip);

}  // namespace op_build
