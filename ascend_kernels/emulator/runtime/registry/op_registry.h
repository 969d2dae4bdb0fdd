// The tiling functions of the op packages, kept apart by the library they came from: two vendors
// may provide the same op, and the one with priority must win as a whole.
#pragma once

#include <string>

#include "register/op_impl_registry.h"

namespace dav::host {

struct OpImpl {
  gert::OpImplRegisterV2::TilingKernelFunc tiling = nullptr;
  size_t max_tiling_data = 0;
  gert::OpImplRegisterV2::InferShapeKernelFunc infer_shape = nullptr;
  gert::OpImplRegisterV2::InferDataTypeKernelFunc infer_data_type = nullptr;
};

// Opens a vendor's tiling library once; throws std::runtime_error with the loader's reason.
void load_host_library(const std::string& path);
// Why a loaded tiling library refused the last call on this thread, if it says so: libraries may
// export const char* TilingErrorMessage().
std::string tiling_error_message(const std::string& library);
// Null when that library registered no such op.
const OpImpl* find_op_impl(const std::string& library, const std::string& op_type);

}  // namespace dav::host
