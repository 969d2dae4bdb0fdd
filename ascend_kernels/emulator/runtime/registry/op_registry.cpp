#include "runtime/registry/op_registry.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <set>
#include <stdexcept>

namespace dav::host {
namespace {

struct Registry {
  std::recursive_mutex mutex;  // registration happens inside dlopen, on the same thread
  std::string loading;
  std::set<std::string> loaded;
  std::map<std::string, std::map<std::string, OpImpl>> impls;  // library -> op type
};

Registry& registry() {
  static Registry* instance = new Registry;
  return *instance;
}

}  // namespace

void load_host_library(const std::string& path) {
  Registry& r = registry();
  std::lock_guard<std::recursive_mutex> lock(r.mutex);
  if (r.loaded.count(path)) return;
  r.loading = path;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* reason = handle ? nullptr : dlerror();
  r.loading.clear();
  if (!handle) throw std::runtime_error(reason ? reason : "dlopen failed");
  r.loaded.insert(path);
}

std::string tiling_error_message(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return "";
  const auto message = reinterpret_cast<const char* (*)()>(dlsym(handle, "TilingErrorMessage"));
  const char* text = message != nullptr ? message() : nullptr;
  const std::string copy = text != nullptr ? text : "";
  dlclose(handle);
  return copy;
}

const OpImpl* find_op_impl(const std::string& library, const std::string& op_type) {
  Registry& r = registry();
  std::lock_guard<std::recursive_mutex> lock(r.mutex);
  const auto ops = r.impls.find(library);
  if (ops == r.impls.end()) return nullptr;
  const auto it = ops->second.find(op_type);
  return it == ops->second.end() ? nullptr : &it->second;
}

}  // namespace dav::host

namespace gert {

OpImplRegisterV2::OpImplRegisterV2(const OpImplRegisterV2& complete)
    : op_type_(complete.op_type_),
      tiling_(complete.tiling_),
      max_tiling_data_(complete.max_tiling_data_),
      infer_shape_(complete.infer_shape_),
      infer_data_type_(complete.infer_data_type_) {
  auto& r = dav::host::registry();
  std::lock_guard<std::recursive_mutex> lock(r.mutex);
  dav::host::OpImpl& impl = r.impls[r.loading][op_type_.GetString()];
  if (tiling_) impl.tiling = tiling_, impl.max_tiling_data = max_tiling_data_;
  if (infer_shape_) impl.infer_shape = infer_shape_;
  if (infer_data_type_) impl.infer_data_type = infer_data_type_;
}

}  // namespace gert
