// The op definitions of a library, for the code generator.
#pragma once

#include "register/op_def.h"

namespace ops {

using OpDefCreator = OpDef (*)(const char* type);

class DAV_HOST_API OpDefFactory {
 public:
  static int OpDefRegister(const char* type, OpDefCreator creator);
  static std::vector<ge::AscendString>& GetAllOp();
  static OpDef OpDefCreate(const char* type);
};

}  // namespace ops
