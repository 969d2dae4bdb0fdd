// The context of a shape inference function.
#pragma once

#include "exe_graph/runtime/extended_kernel_context.h"

namespace gert {

class InferShapeContext : public ExtendedKernelContext {
 public:
  InferShapeContext(NodeData* node, std::vector<Shape>* outputs)
      : ExtendedKernelContext(node), outputs_(outputs) {}

  const Shape* GetInputShape(size_t index) const { return shape(present(node_->inputs, index)); }
  const Shape* GetOptionalInputShape(size_t ir_index) const { return shape(by_ir(ir_index)); }
  const Shape* GetRequiredInputShape(size_t ir_index) const { return shape(by_ir(ir_index)); }
  const Tensor* GetInputTensor(size_t index) const { return tensor(present(node_->inputs, index)); }
  const Tensor* GetOptionalInputTensor(size_t ir_index) const { return tensor(by_ir(ir_index)); }
  const Tensor* GetRequiredInputTensor(size_t ir_index) const { return tensor(by_ir(ir_index)); }
  Shape* GetOutputShape(size_t index) {
    return index < outputs_->size() ? &(*outputs_)[index] : nullptr;
  }

 private:
  static const Shape* shape(const NodeData::Port* port) {
    return port ? &port->tensor.GetOriginShape() : nullptr;
  }
  std::vector<Shape>* outputs_;
};

class InferShapeRangeContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;
};

}  // namespace gert
