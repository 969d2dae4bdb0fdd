// OP_ADD(Type): one source, three libraries. The proto library registers shape inference, the
// tiling library the tiling function, and the code generator's library the definition itself.
#pragma once

#include "register/op_def.h"
#include "register/op_def_factory.h"

#if defined(OP_PROTO_LIB)
#define OP_ADD(op_type, ...)                              \
  [[maybe_unused]] static int g_##op_type##_added = [] {  \
    op_type definition(#op_type);                         \
    gert::OpImplRegisterV2 complete(#op_type);            \
    complete.InferShape(definition.GetInferShape())       \
        .InferShapeRange(definition.GetInferShapeRange()) \
        .InferDataType(definition.GetInferDataType());    \
    gert::OpImplRegisterV2 registered(complete);          \
    return 0;                                             \
  }()
#elif defined(OP_TILING_LIB)
#define OP_ADD(op_type, ...)                             \
  [[maybe_unused]] static int g_##op_type##_added = [] { \
    op_type definition(#op_type);                        \
    gert::OpImplRegisterV2 complete(#op_type);           \
    complete.Tiling(definition.AICore().GetTiling());    \
    gert::OpImplRegisterV2 registered(complete);         \
    return 0;                                            \
  }()
#else
#define OP_ADD(op_type, ...)                                                          \
  [[maybe_unused]] static int g_##op_type##_added = ops::OpDefFactory::OpDefRegister( \
      #op_type, [](const char* name) -> ops::OpDef { return op_type(name); })
#endif
