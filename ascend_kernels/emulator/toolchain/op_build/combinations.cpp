#include "toolchain/op_build/combinations.h"

#include <stdexcept>

namespace op_build {
namespace {

using ops::OpParamData;

// Ports of the op, with those a chip's configuration redefines put in their place.
std::vector<OpParamData> merged(const std::vector<ops::OpParamDef>& base,
                                const std::vector<ops::OpParamDef>& chip) {
  std::vector<OpParamData> result;
  for (const auto& def : base) result.push_back(def.data());
  for (const auto& def : chip) {
    bool found = false;
    for (OpParamData& port : result) {
      if (port.name != def.data().name) continue;
      port = def.data();
      found = true;
    }
    if (!found) result.push_back(def.data());
  }
  return result;
}

[[noreturn]] void bad(const std::string& op, const std::string& port, const std::string& what) {
  throw std::runtime_error(op + ", port " + port + ": " + what);
}

void follow(const std::string& op, OpParamData& port, const std::vector<OpParamData>& all) {
  if (port.follow.empty()) return;
  for (const OpParamData& other : all) {
    if (other.name != port.follow || &other == &port) continue;
    if (!other.follow.empty() && other.types.empty()) continue;
    const bool everything = port.follow_type == ops::FollowType::ALL;
    if (everything || port.follow_type == ops::FollowType::DTYPE) {
      port.types = other.types, port.any_type = other.any_type;
    }
    if (everything || port.follow_type == ops::FollowType::FORMAT) {
      port.formats = other.formats, port.any_format = other.any_format;
    }
    return;
  }
  bad(op, port.name, "follows '" + port.follow + "', which is no earlier port");
}

}  // namespace

Expanded expand(const ops::OpDefData& op, const ops::OpAICoreConfigData& chip) {
  std::vector<OpParamData> ports = merged(op.inputs, chip.inputs);
  const size_t input_count = ports.size();
  for (auto& port : merged(op.outputs, chip.outputs)) ports.push_back(port);
  for (OpParamData& port : ports) follow(op.type, port, ports);

  // Positional lists share one length; a single-entry list need not be repeated.
  size_t rows = 1;
  for (const OpParamData& port : ports) {
    if (port.types.empty()) bad(op.type, port.name, "no DataType given");
    if (!port.any_type && port.types.size() > 1) rows = port.types.size();
  }
  for (OpParamData& port : ports) {
    if (port.formats.empty()) port.formats = {ge::FORMAT_ND}, port.any_format = true;
    if (!port.any_type && port.types.size() != rows) {
      bad(op.type, port.name,
          "DataType has " + std::to_string(port.types.size()) + " entries, other ports have " +
              std::to_string(rows));
    }
    if (!port.any_format && port.formats.size() != rows) {
      bad(op.type, port.name,
          "Format has " + std::to_string(port.formats.size()) + " entries, DataType has " +
              std::to_string(rows));
    }
  }

  // Every *List multiplies: a mixed-radix counter over their lengths.
  size_t total = rows;
  for (const OpParamData& port : ports) {
    if (port.any_type) total *= port.types.size();
    if (port.any_format) total *= port.formats.size();
  }
  Expanded result;
  for (size_t p = 0; p < ports.size(); ++p) {
    Port out;
    out.name = ports[p].name;
    out.param_type = ports[p].param_type;
    out.value_depend = ports[p].value_depend;
    (p < input_count ? result.inputs : result.outputs).push_back(out);
  }
  for (size_t index = 0; index < total; ++index) {
    size_t rest = index;
    const size_t row = rest % rows;
    rest /= rows;
    for (size_t p = 0; p < ports.size(); ++p) {
      Port& out = p < input_count ? result.inputs[p] : result.outputs[p - input_count];
      const auto pick = [&](size_t size, bool any) {
        if (!any) return row;
        const size_t digit = rest % size;
        rest /= size;
        return digit;
      };
      const size_t type = pick(ports[p].types.size(), ports[p].any_type);
      const size_t format = pick(ports[p].formats.size(), ports[p].any_format);
      out.types.push_back(ports[p].types[type]);
      out.formats.push_back(ports[p].formats[format]);
    }
  }
  return result;
}

}  // namespace op_build
