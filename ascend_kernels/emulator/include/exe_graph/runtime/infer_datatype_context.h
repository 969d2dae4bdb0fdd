// The context of a data type inference function.
#pragma once

#include "exe_graph/runtime/extended_kernel_context.h"

namespace gert {

class InferDataTypeContext : public ExtendedKernelContext {
 public:
  InferDataTypeContext(NodeData* node, std::vector<ge::DataType>* outputs)
      : ExtendedKernelContext(node), outputs_(outputs) {}

  ge::DataType GetInputDataType(size_t index) const { return type(GetInputDesc(index)); }
  ge::DataType GetOptionalInputDataType(size_t ir_index) const {
    return type(GetOptionalInputDesc(ir_index));
  }
  ge::DataType GetRequiredInputDataType(size_t ir_index) const {
    return type(GetRequiredInputDesc(ir_index));
  }
  ge::DataType GetOutputDataType(size_t index) const {
    return index < outputs_->size() ? (*outputs_)[index] : ge::DT_UNDEFINED;
  }
  ge::graphStatus SetOutputDataType(size_t index, ge::DataType data_type) {
    if (index >= outputs_->size()) return ge::GRAPH_FAILED;
    (*outputs_)[index] = data_type;
    return ge::GRAPH_SUCCESS;
  }

 private:
  static ge::DataType type(const CompileTimeTensorDesc* desc) {
    return desc ? desc->GetDataType() : ge::DT_UNDEFINED;
  }
  std::vector<ge::DataType>* outputs_;
};

}  // namespace gert
