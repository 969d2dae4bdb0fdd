// What tiling and shape inference have in common: the node, its inputs, outputs and attributes.
//
// Two ways to count inputs: `index` counts the inputs that are present, `ir_index` counts the
// inputs of the op definition. They differ once an optional input is absent.
#pragma once

#include <string>
#include <vector>

#include "exe_graph/runtime/runtime_attrs.h"
#include "exe_graph/runtime/tensor.h"

namespace gert {

// The node a context describes; filled in by the executor.
struct NodeData {
  struct Port {
    Tensor tensor;
    bool view = false;  // strides and offset below mean something
    Stride stride;
    int64_t offset = 0;
  };
  std::string type;
  std::string name;
  std::vector<Port> inputs;   // present ones
  std::vector<int> ir_input;  // definition index -> index into inputs, -1 when absent
  std::vector<Port> outputs;
  RuntimeAttrs attrs;
};

class ExtendedKernelContext {
 public:
  explicit ExtendedKernelContext(NodeData* node) : node_(node) {}

  const CompileTimeTensorDesc* GetInputDesc(size_t index) const {
    return desc(present(node_->inputs, index));
  }
  const CompileTimeTensorDesc* GetOptionalInputDesc(size_t ir_index) const {
    return desc(by_ir(ir_index));
  }
  const CompileTimeTensorDesc* GetRequiredInputDesc(size_t ir_index) const {
    return desc(by_ir(ir_index));
  }
  const CompileTimeTensorDesc* GetOutputDesc(size_t index) const {
    return desc(present(node_->outputs, index));
  }
  size_t GetComputeNodeInputNum() const { return node_->inputs.size(); }
  size_t GetComputeNodeOutputNum() const { return node_->outputs.size(); }
  const RuntimeAttrs* GetAttrs() const { return &node_->attrs; }
  const ge::char_t* GetNodeType() const { return node_->type.c_str(); }
  const ge::char_t* GetNodeName() const { return node_->name.c_str(); }

 protected:
  static const NodeData::Port* present(const std::vector<NodeData::Port>& ports, size_t index) {
    return index < ports.size() ? &ports[index] : nullptr;
  }
  const NodeData::Port* by_ir(size_t ir_index) const {
    if (ir_index >= node_->ir_input.size() || node_->ir_input[ir_index] < 0) return nullptr;
    return &node_->inputs[static_cast<size_t>(node_->ir_input[ir_index])];
  }
  static const CompileTimeTensorDesc* desc(const NodeData::Port* port) {
    return port ? &port->tensor.desc() : nullptr;
  }
  static const Tensor* tensor(const NodeData::Port* port) { return port ? &port->tensor : nullptr; }
  static const StorageShape* storage_shape(const NodeData::Port* port) {
    return port ? &port->tensor.GetShape() : nullptr;
  }

  NodeData* node_;
};

}  // namespace gert
