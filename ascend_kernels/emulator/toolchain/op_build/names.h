// Names as the op toolchain derives them.
#pragma once

#include <string>

#include "register/op_def.h"

namespace op_build {

// FlashAttentionGrad -> flash_attention_grad: the kernel's file and entry, and the aclnn file.
std::string snake_case(const std::string& op_type);
// block_size -> blockSize: an argument of the aclnn function.
std::string camel_case(const std::string& name);

// "float16": the name in ops-info files. Empty for a type no kernel takes.
std::string dtype_name(ge::DataType type);
std::string format_name(ge::Format format);

}  // namespace op_build
