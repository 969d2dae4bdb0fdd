#include "runtime/nnopbase/packages.h"

#include <dirent.h>
#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>

#include "runtime/support/json.h"

namespace dav::host {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

// The toolkit this library is part of.
std::string toolkit_root() {
  const std::string home = environment("ASCENDFA_EMULATOR_HOME");
  if (!home.empty()) return home;
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&toolkit_root), &info) || !info.dli_fname) return ".";
  std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  path = slash == std::string::npos ? "." : path.substr(0, slash);
  return path + "/..";
}

void append_installed(const std::string& opp, std::vector<std::string>& folders) {
  std::ifstream config(opp + "/vendors/config.ini");
  for (std::string line; std::getline(config, line);) {
    const std::string key = "load_priority=";
    if (line.compare(0, key.size(), key) != 0) continue;
    for (const std::string& vendor : split(line.substr(key.size()), ',')) {
      const std::string folder = opp + "/vendors/" + vendor;
      if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
        folders.push_back(folder);
      }
    }
  }
}

std::string snake_case(const std::string& op_type) {
  std::string result;
  const auto upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  for (size_t i = 0; i < op_type.size(); ++i) {
    const bool next_lower =
        i + 1 < op_type.size() && std::islower(static_cast<unsigned char>(op_type[i + 1])) != 0;
    if (i > 0 && upper(op_type[i]) && (!upper(op_type[i - 1]) || next_lower)) result += '_';
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(op_type[i])));
  }
  return result;
}

KernelType kernel_type(const std::string& name) {
  static const std::map<std::string, KernelType> types = {
      {"KERNEL_TYPE_AIV_ONLY", KernelType::AivOnly},
      {"KERNEL_TYPE_AIC_ONLY", KernelType::AicOnly},
      {"KERNEL_TYPE_MIX_AIC_1_1", KernelType::MixAic11},
      {"KERNEL_TYPE_MIX_AIC_1_2", KernelType::MixAic12},
      {"KERNEL_TYPE_MIX_AIV_1_0", KernelType::MixAiv10},
      {"KERNEL_TYPE_MIX_AIC_1_0", KernelType::MixAic10},
      {"KERNEL_TYPE_AICORE", KernelType::Coupled}};
  const auto it = types.find(name);
  if (it == types.end()) throw std::runtime_error("unknown kernel type " + name);
  return it->second;
}

std::vector<PortType> ports(const json::Value& list) {
  std::vector<PortType> result;
  for (const auto& item : list.items) {
    result.push_back({item.at("name").text(), item.at("dtype").text(),
                      item.at("paramType").text() == "optional"});
  }
  return result;
}

KernelBinary read_binary(const std::string& vendor, const std::string& folder,
                         const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const json::Value value = json::parse(text.str());
  KernelBinary binary;
  binary.vendor = vendor;
  binary.kernel_name = value.at("kernelName").text();
  binary.default_type = kernel_type(value.at("taskType").text());
  for (const auto& entry : value.at("taskTypeByKey").members) {
    binary.type_by_key[std::strtoull(entry.first.c_str(), nullptr, 0)] =
        kernel_type(entry.second.text());
  }
  binary.inputs = ports(value.at("supportInfo").at("inputs"));
  binary.outputs = ports(value.at("supportInfo").at("outputs"));
  const json::Value& files = value.at("binaries");
  if (const auto* name = files.find("aic")) binary.aic_path = folder + "/" + name->text();
  if (const auto* name = files.find("aiv")) binary.aiv_path = folder + "/" + name->text();
  return binary;
}

using Binaries = std::vector<KernelBinary>;

// Reads every JSON of a kernel folder. A file of another toolkit's making is a clear error.
std::shared_ptr<Binaries> read_folder(const std::string& vendor, const std::string& folder) {
  auto result = std::make_shared<Binaries>();
  DIR* dir = opendir(folder.c_str());
  if (!dir) return result;
  std::vector<std::string> names;
  while (const dirent* entry = readdir(dir)) {
    const std::string name = entry->d_name;
    if (name.size() > 5 && name.compare(name.size() - 5, 5, ".json") == 0 && name[0] != '.') {
      names.push_back(name);
    }
  }
  closedir(dir);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    try {
      result->push_back(read_binary(vendor, folder, path));
    } catch (const std::exception& e) {
      throw OpError(ACLNN_ERR_INNER_LOAD_JSON_FAILED, path + ": " + e.what());
    }
  }
  return result;
}

bool matches(const std::vector<PortType>& ports, const std::vector<std::string>& types) {
  if (ports.size() != types.size()) return false;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!types[i].empty() && types[i] != ports[i].dtype) return false;
  }
  return true;
}

std::string describe(const std::vector<PortType>& ports, const std::vector<std::string>* types) {
  std::string text;
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string& dtype = types ? (*types)[i] : ports[i].dtype;
    text += (i ? ", " : "") + ports[i].name + ": " + (dtype.empty() ? "absent" : dtype);
  }
  return text;
}

std::shared_ptr<Binaries> binaries(const std::string& vendor, const std::string& unit,
                                   const std::string& op_type) {
  static std::mutex mutex;
  static auto* cache = new std::map<std::string, std::shared_ptr<Binaries>>;
  const std::string folder =
      vendor + "/op_impl/ai_core/tbe/kernel/" + unit + "/" + snake_case(op_type);
  std::lock_guard<std::mutex> lock(mutex);
  auto& entry = (*cache)[folder];
  // An empty answer is not kept: the package may be installed while the process runs.
  if (!entry || entry->empty()) entry = read_folder(vendor, folder);
  return entry;
}

}  // namespace

std::vector<std::string> vendor_folders() {
  std::vector<std::string> folders = split(environment("ASCEND_CUSTOM_OPP_PATH"), ':');
  const std::string opp = environment("ASCEND_OPP_PATH");
  if (!opp.empty()) append_installed(opp, folders);
  append_installed(toolkit_root() + "/opp", folders);
  return folders;
}

std::string tiling_library(const std::string& vendor) {
#if defined(__aarch64__)
  const char* machine = "aarch64";
#else
  const char* machine = "x86_64";
#endif
  return vendor + "/op_impl/ai_core/tbe/op_tiling/lib/linux/" + machine +
         "/libcust_opmaster_rt2.0.so";
}

KernelType KernelBinary::type_for(uint64_t tiling_key) const {
  const auto it = type_by_key.find(tiling_key);
  return it == type_by_key.end() ? default_type : it->second;
}

const KernelBinary& find_kernel(const std::string& op_type, const std::string& compute_unit,
                                const std::vector<std::string>& input_types,
                                const std::vector<std::string>& output_types) {
  const std::vector<std::string> vendors = vendor_folders();
  if (vendors.empty()) {
    throw OpError(ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND,
                  "no op package: ASCEND_CUSTOM_OPP_PATH is not set and " + toolkit_root() +
                      "/opp/vendors/config.ini names no vendor");
  }
  std::string searched;
  for (const std::string& vendor : vendors) {
    const auto found = binaries(vendor, compute_unit, op_type);
    searched += "\n  " + vendor;
    if (found->empty()) continue;
    for (const KernelBinary& binary : *found) {
      if (matches(binary.inputs, input_types) && matches(binary.outputs, output_types)) {
        return binary;
      }
    }
    std::string text = "no kernel of " + op_type + " for these data types on " + compute_unit;
    const KernelBinary& first = found->front();
    if (first.inputs.size() == input_types.size() && first.outputs.size() == output_types.size()) {
      text += " (" + describe(first.inputs, &input_types) + " -> " +
              describe(first.outputs, &output_types) + ")";
    }
    text += "; " + vendor + " has:";
    for (const KernelBinary& binary : *found) {
      text +=
          "\n  " + describe(binary.inputs, nullptr) + " -> " + describe(binary.outputs, nullptr);
    }
    throw OpError(ACLNN_ERR_INNER_FIND_KERNEL_ERROR, text);
  }
  throw OpError(ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND, "no installed package has kernels of " +
                                                              op_type + " for " + compute_unit +
                                                              "; searched:" + searched);
}

KernelEntry load_entry(const std::string& path) {
  if (path.empty()) return nullptr;
  static std::mutex mutex;
  static auto* loaded = new std::map<std::string, KernelEntry>;
  std::lock_guard<std::mutex> lock(mutex);
  const auto it = loaded->find(path);
  if (it != loaded->end()) return it->second;
  // Never closed: call stacks in reports point into it.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    throw OpError(ACLNN_ERR_INNER_FIND_KERNEL_ERROR, std::string("kernel object: ") + dlerror());
  }
  void* symbol = dlsym(handle, "dav_kernel_entry");
  if (!symbol) {
    throw OpError(ACLNN_ERR_INNER_FIND_KERNEL_ERROR, path + " has no kernel entry");
  }
  const auto entry = reinterpret_cast<KernelEntry>(symbol);
  (*loaded)[path] = entry;
  return entry;
}

std::string dtype_name(aclDataType type) {
  switch (type) {
    case ACL_FLOAT:
      return "float32";
    case ACL_FLOAT16:
      return "float16";
    case ACL_BF16:
      return "bfloat16";
    case ACL_DOUBLE:
      return "double";
    case ACL_BOOL:
      return "bool";
    case ACL_INT8:
      return "int8";
    case ACL_UINT8:
      return "uint8";
    case ACL_INT16:
      return "int16";
    case ACL_UINT16:
      return "uint16";
    case ACL_INT32:
      return "int32";
    case ACL_UINT32:
      return "uint32";
    case ACL_INT64:
      return "int64";
    case ACL_UINT64:
      return "uint64";
    default:
      return "";
  }
}

}  // namespace dav::host
