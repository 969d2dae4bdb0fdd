// The files generated from op definitions.
#pragma once

#include <string>
#include <vector>

#include "runtime/registry/op_def_data.h"

namespace op_build {

// aclnn_<op>.h and .cpp. Throws std::runtime_error for what the generator does not support.
void write_aclnn(const ops::OpDefData& op, const std::string& folder);
// <op>_tiling_data.h for an op whose tiling data is declared by macros.
void write_tiling_data(const std::string& op_type, const std::string& folder);
// aic-<unit>-ops-info.ini for every chip an op is configured for.
void write_ops_info(const std::vector<ops::OpDef>& ops, const std::string& folder);

}  // namespace op_build
