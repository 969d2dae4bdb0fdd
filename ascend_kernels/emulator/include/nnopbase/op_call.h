// What generated aclnn functions are made of. The first phase fills an OpCall and turns it into an
// executor; the second phase runs the executor on a stream.
#pragma once

#include <memory>

#include "aclnn/acl_meta.h"

namespace nnopbase {

enum class Contiguity {
  Required,   // a strided view is refused
  Ignored,    // the kernel reads views itself
  Automatic,  // a strided view is copied first
};

struct OpCallData;

class __attribute__((visibility("default"))) OpCall {
 public:
  // `function` is the aclnn name errors are reported under.
  OpCall(const char* op_type, const char* function);
  ~OpCall();
  OpCall(const OpCall&) = delete;
  OpCall& operator=(const OpCall&) = delete;

  // In the order of the op definition. Null means absent, an error unless `optional`.
  void Input(const char* name, const aclTensor* tensor, bool optional, Contiguity contiguity);
  void InputInts(const char* name, const aclIntArray* values, bool optional);
  void InputFloats(const char* name, const aclFloatArray* values, bool optional);
  void InputBools(const char* name, const aclBoolArray* values, bool optional);
  void AttrBool(bool value);
  void AttrInt(int64_t value);
  void AttrFloat(double value);
  void AttrString(const char* value);
  void AttrInts(const aclIntArray* values);
  void AttrFloats(const aclFloatArray* values);
  void AttrBools(const aclBoolArray* values);
  void Output(const char* name, const aclTensor* tensor, bool optional);

  aclnnStatus Prepare(uint64_t* workspace_size, aclOpExecutor** executor);

 private:
  std::unique_ptr<OpCallData> data_;
};

__attribute__((visibility("default"))) aclnnStatus Run(const char* function, void* workspace,
                                                       uint64_t workspace_size,
                                                       aclOpExecutor* executor, aclrtStream stream);

}  // namespace nnopbase
