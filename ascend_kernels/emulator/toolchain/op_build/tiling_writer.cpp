// The kernel's copy of tiling structs declared by macros.
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "register/tilingdata_base.h"
#include "toolchain/op_build/names.h"
#include "toolchain/op_build/writers.h"

namespace op_build {
namespace {

// Members first: a struct is complete before another one holds it.
void write_struct(const std::string& name, std::set<std::string>& done, std::ostream& out) {
  const auto fields = optiling::tiling_fields_of(name);
  if (fields.empty() || !done.insert(name).second) return;
  for (const auto& field : fields) write_struct(field.type, done, out);
  out << "struct " << name << " {\n";
  for (const auto& field : fields) {
    out << "  " << field.type << " " << field.name;
    if (field.count) out << "[" << field.count << "]";
    out << ";\n";
  }
  out << "};\n";
}

}  // namespace

void write_tiling_data(const std::string& op_type, const std::string& folder) {
  const std::string name = optiling::tiling_class_of(op_type);
  if (name.empty()) return;
  std::ostringstream text;
  text << "// Generated from the tiling data of " << op_type << ". Do not edit.\n#pragma once\n\n"
       << "#include <cstdint>\n\n";
  std::set<std::string> done;
  write_struct(name, done, text);
  text << "using DavTilingDefault = " << name << ";\n";
  const std::string path = folder + "/" + snake_case(op_type) + "_tiling_data.h";
  std::ofstream file(path);
  file << text.str();
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace op_build
