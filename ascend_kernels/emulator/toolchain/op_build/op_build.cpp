// op_build LIBRARY FOLDER: generates the aclnn sources and ops-info files of the op definitions a
// library registers when it is loaded.
#include <dlfcn.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "register/op_def_factory.h"
#include "toolchain/op_build/writers.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: op_build LIBRARY FOLDER\n");
    return 2;
  }
  const std::string folder = argv[2];
  if (!dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL)) {
    std::fprintf(stderr, "op_build: %s\n", dlerror());
    return 1;
  }
  try {
    std::vector<ops::OpDef> definitions;
    for (const auto& name : ops::OpDefFactory::GetAllOp()) {
      definitions.push_back(ops::OpDefFactory::OpDefCreate(name.GetString()));
    }
    if (definitions.empty()) {
      std::fprintf(stderr, "op_build: %s registers no op; OP_ADD is missing\n", argv[1]);
      return 1;
    }
    for (const auto& op : definitions) {
      op_build::write_aclnn(op.data(), folder);
      op_build::write_tiling_data(op.data().type, folder);
    }
    op_build::write_ops_info(definitions, folder);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "op_build: %s\n", e.what());
    return 1;
  }
  return 0;
}
