// The context of a tiling function: what is to be computed in, how to launch it out.
#pragma once

#include <cstdint>

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/tiling_data.h"

namespace fe {
class PlatFormInfos;
}

namespace gert {

// What a tiling function decides.
struct TilingResult {
  explicit TilingResult(size_t tiling_capacity) : data(tiling_capacity), workspaces(16) {}
  uint64_t tiling_key = 0;
  uint32_t block_dim = 0;
  bool need_atomic = false;
  uint32_t schedule_mode = 0;
  int32_t tiling_cond = 0;
  uint32_t local_memory = 0;
  TilingData data;
  TypedContinuousVector<size_t> workspaces;
};

class TilingContext : public ExtendedKernelContext {
 public:
  TilingContext(NodeData* node, TilingResult* result, fe::PlatFormInfos* platform,
                int32_t deterministic)
      : ExtendedKernelContext(node),
        result_(result),
        platform_(platform),
        deterministic_(deterministic) {}

  const StorageShape* GetInputShape(size_t index) const {
    return storage_shape(present(node_->inputs, index));
  }
  const StorageShape* GetOptionalInputShape(size_t ir_index) const {
    return storage_shape(by_ir(ir_index));
  }
  const StorageShape* GetRequiredInputShape(size_t ir_index) const {
    return storage_shape(by_ir(ir_index));
  }
  const StorageShape* GetOutputShape(size_t index) const {
    return storage_shape(present(node_->outputs, index));
  }
  const Tensor* GetInputTensor(size_t index) const { return tensor(present(node_->inputs, index)); }
  const Tensor* GetOptionalInputTensor(size_t ir_index) const { return tensor(by_ir(ir_index)); }
  const Tensor* GetRequiredInputTensor(size_t ir_index) const { return tensor(by_ir(ir_index)); }

  bool InputIsView(size_t index) const { return is_view(present(node_->inputs, index)); }
  const Stride* GetInputStride(size_t index) const { return stride(present(node_->inputs, index)); }
  int64_t GetInputOffset(size_t index) const { return offset(present(node_->inputs, index)); }
  bool OptionalInputIsView(size_t ir_index) const { return is_view(by_ir(ir_index)); }
  const Stride* GetOptionalInputStride(size_t ir_index) const { return stride(by_ir(ir_index)); }
  int64_t GetOptionalInputOffset(size_t ir_index) const { return offset(by_ir(ir_index)); }
  bool RequiredInputIsView(size_t ir_index) const { return is_view(by_ir(ir_index)); }
  const Stride* GetRequiredInputStride(size_t ir_index) const { return stride(by_ir(ir_index)); }
  int64_t GetRequiredInputOffset(size_t ir_index) const { return offset(by_ir(ir_index)); }
  bool OutputIsView(size_t index) const { return is_view(present(node_->outputs, index)); }
  const Stride* GetOutputStride(size_t index) const {
    return stride(present(node_->outputs, index));
  }
  int64_t GetOutputOffset(size_t index) const { return offset(present(node_->outputs, index)); }

  ge::graphStatus SetTilingKey(uint64_t key) {
    result_->tiling_key = key;
    return ge::GRAPH_SUCCESS;
  }
  uint64_t GetTilingKey() const { return result_->tiling_key; }
  ge::graphStatus SetBlockDim(uint32_t blocks) { return SetSimdNumBlocks(blocks); }
  uint32_t GetBlockDim() const { return result_->block_dim; }
  ge::graphStatus SetSimdNumBlocks(uint32_t blocks) {
    result_->block_dim = blocks;
    return ge::GRAPH_SUCCESS;
  }
  uint32_t GetSimdNumBlocks() const { return result_->block_dim; }
  // 1: all blocks must be resident at once, as kernels that wait for each other need.
  ge::graphStatus SetScheduleMode(uint32_t mode) {
    result_->schedule_mode = mode;
    return ge::GRAPH_SUCCESS;
  }
  uint32_t GetScheduleMode() const { return result_->schedule_mode; }
  ge::graphStatus SetTilingCond(int32_t condition) {
    result_->tiling_cond = condition;
    return ge::GRAPH_SUCCESS;
  }
  int32_t GetTilingCond() const { return result_->tiling_cond; }
  ge::graphStatus SetNeedAtomic(bool atomic) {
    result_->need_atomic = atomic;
    return ge::GRAPH_SUCCESS;
  }
  bool NeedAtomic() const { return result_->need_atomic; }
  ge::graphStatus SetLocalMemorySize(uint32_t bytes) {
    result_->local_memory = bytes;
    return ge::GRAPH_SUCCESS;
  }
  uint32_t GetLocalMemorySize() const { return result_->local_memory; }

  // The tiling data as a T; null when T is larger than the buffer.
  template <typename T>
  T* GetTilingData() {
    if (result_->data.GetCapacity() < sizeof(T)) return nullptr;
    result_->data.SetDataSize(sizeof(T));
    return static_cast<T*>(result_->data.GetData());
  }
  TilingData* GetRawTilingData() { return &result_->data; }

  size_t* GetWorkspaceSizes(size_t count) {
    if (result_->workspaces.SetSize(count) != ge::GRAPH_SUCCESS) return nullptr;
    return result_->workspaces.MutableData();
  }
  size_t GetWorkspaceNum() const { return result_->workspaces.GetSize(); }

  fe::PlatFormInfos* GetPlatformInfo() const { return platform_; }
  int32_t GetDeterministic() const { return deterministic_; }
  // The parse phase has no result of its own here.
  const void* GetCompileInfo() const { return nullptr; }
  template <typename T>
  const T* GetCompileInfo() const {
    return nullptr;
  }

 private:
  static bool is_view(const NodeData::Port* port) { return port && port->view; }
  static const Stride* stride(const NodeData::Port* port) {
    return is_view(port) ? &port->stride : nullptr;
  }
  static int64_t offset(const NodeData::Port* port) { return is_view(port) ? port->offset : -1; }

  TilingResult* result_;
  fe::PlatFormInfos* platform_;
  int32_t deterministic_;
};

}  // namespace gert
