// Registration of an op's host functions with the executor.
#pragma once

#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "graph/ascend_string.h"

namespace gert {

class __attribute__((visibility("default"))) OpImplRegisterV2 {
 public:
  using TilingKernelFunc = ge::graphStatus (*)(TilingContext*);
  using InferShapeKernelFunc = ge::graphStatus (*)(InferShapeContext*);
  using InferShapeRangeKernelFunc = ge::graphStatus (*)(InferShapeRangeContext*);
  using InferDataTypeKernelFunc = ge::graphStatus (*)(InferDataTypeContext*);
  using TilingParseFunc = ge::graphStatus (*)(TilingParseContext*);

  explicit OpImplRegisterV2(const char* op_type) : op_type_(op_type) {}
  // Copying registers: a chain of setters ends in the copy that initialises a static object.
  OpImplRegisterV2(const OpImplRegisterV2& complete);
  OpImplRegisterV2& operator=(const OpImplRegisterV2&) = delete;

  OpImplRegisterV2& Tiling(TilingKernelFunc function, size_t max_tiling_data_size = 2048) {
    tiling_ = function;
    max_tiling_data_ = max_tiling_data_size;
    return *this;
  }
  OpImplRegisterV2& InferShape(InferShapeKernelFunc function) {
    infer_shape_ = function;
    return *this;
  }
  OpImplRegisterV2& InferShapeRange(InferShapeRangeKernelFunc) { return *this; }
  OpImplRegisterV2& InferDataType(InferDataTypeKernelFunc function) {
    infer_data_type_ = function;
    return *this;
  }
  template <typename T>
  OpImplRegisterV2& TilingParse(TilingParseFunc) {
    return *this;
  }

 private:
  ge::AscendString op_type_;
  TilingKernelFunc tiling_ = nullptr;
  size_t max_tiling_data_ = 0;
  InferShapeKernelFunc infer_shape_ = nullptr;
  InferDataTypeKernelFunc infer_data_type_ = nullptr;
};

}  // namespace gert

#define IMPL_OP(op_type)                                                        \
  [[maybe_unused]] static gert::OpImplRegisterV2 g_op_impl_register_##op_type = \
      gert::OpImplRegisterV2(#op_type)
#define IMPL_OP_OPTILING(op_type) IMPL_OP(op_type)
#define IMPL_OP_INFERSHAPE(op_type)                                              \
  [[maybe_unused]] static gert::OpImplRegisterV2 g_op_infer_register_##op_type = \
      gert::OpImplRegisterV2(#op_type)
