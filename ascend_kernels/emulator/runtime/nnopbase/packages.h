// Finding installed op packages and their kernel binaries.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "dav/launch.h"

namespace dav::host {

// A failure with the aclnn status it maps to.
class OpError : public std::runtime_error {
 public:
  OpError(aclnnStatus status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  aclnnStatus status() const { return status_; }

 private:
  aclnnStatus status_;
};

// Vendor folders by falling priority: ASCEND_CUSTOM_OPP_PATH, then opp/vendors by config.ini.
std::vector<std::string> vendor_folders();
std::string tiling_library(const std::string& vendor);

struct PortType {
  std::string name;
  std::string dtype;
  bool optional = false;
};

// One compiled kernel: a dtype combination of an op on a chip.
struct KernelBinary {
  std::string vendor;
  std::string kernel_name;
  std::vector<PortType> inputs;
  std::vector<PortType> outputs;
  KernelType default_type = KernelType::AivOnly;
  std::map<uint64_t, KernelType> type_by_key;
  std::string aic_path;  // empty when there is none
  std::string aiv_path;

  KernelType type_for(uint64_t tiling_key) const;
};

// The binary that takes these dtypes ("" = absent), from the first vendor that has the op at all.
// Throws OpError.
const KernelBinary& find_kernel(const std::string& op_type, const std::string& compute_unit,
                                const std::vector<std::string>& input_types,
                                const std::vector<std::string>& output_types);

// Opens a kernel object once per process; null for an empty path.
KernelEntry load_entry(const std::string& path);

// "float16" for ACL_FLOAT16; "" for what no kernel takes.
std::string dtype_name(aclDataType type);

}  // namespace dav::host
