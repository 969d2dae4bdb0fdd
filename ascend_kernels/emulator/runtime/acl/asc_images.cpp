#include "runtime/acl/asc_images.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "runtime/acl/internal.h"

namespace dav::rt {
namespace {

using Entries = std::map<std::string, asc::Entry>;

[[noreturn]] void unusable(const std::string& why) {
  throw TaskError(ACL_ERROR_RT_INTERNAL_ERROR, "kernel image: " + why);
}

// The loader wants a file. The descriptor stays open and the path names this process, because
// reports have the image's debug information read, possibly by another program.
std::string as_file(const unsigned char* begin, const unsigned char* end) {
  const int file = memfd_create("ascend_kernel", MFD_CLOEXEC);
  if (file < 0) unusable("no memory file");
  while (begin < end) {
    const ssize_t written = write(file, begin, static_cast<size_t>(end - begin));
    if (written <= 0) unusable("memory file is full");
    begin += written;
  }
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file);
}

Entries load(const unsigned char* begin, const unsigned char* end) {
  // Lazy: host functions of the same source stay in the image, and what they call is not there.
  void* handle = dlopen(as_file(begin, end).c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!handle) unusable(dlerror());
  using List = const asc::Record* (*)();
  const auto list = reinterpret_cast<List>(dlsym(handle, "dav_asc_records"));
  if (!list) unusable("no list of entries");
  Entries entries;
  for (const asc::Record* record = list(); record; record = record->next) {
    entries[entry_symbol(record->launch, record->callable, record->arguments)] = record->entry;
  }
  return entries;
}

asc::Entry entry(const unsigned char* begin, const unsigned char* end, const std::string& symbol) {
  if (begin == end) return nullptr;
  static std::mutex mutex;
  // Never unloaded: call stacks in reports point into the images.
  static auto* images = new std::map<const unsigned char*, Entries>;
  std::lock_guard<std::mutex> lock(mutex);
  auto found = images->find(begin);
  if (found == images->end()) found = images->emplace(begin, load(begin, end)).first;
  const auto result = found->second.find(symbol);
  if (result == found->second.end()) unusable("no entry " + symbol);
  return result->second;
}

}  // namespace

std::string entry_symbol(uint64_t launch, const std::string& callable, const std::string& types) {
  // clang counts the lambdas of a file as it meets them (`3$_0`, `3$_1`), which differs between
  // the passes over a source; the launch's number does not.
  std::string name;
  for (size_t i = 0; i < callable.size(); ++i) {
    if (callable.compare(i, 2, "$_") != 0) {
      name += callable[i];
      continue;
    }
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
    name += '$';
    for (++i; i + 1 < callable.size() && callable[i + 1] >= '0' && callable[i + 1] <= '9';) ++i;
  }
  return std::to_string(launch) + " " + name + " " + types;
}

asc::Entry aic_entry(const asc::Module& module, const std::string& symbol) {
  return entry(module.aic_begin, module.aic_end, symbol);
}

asc::Entry aiv_entry(const asc::Module& module, const std::string& symbol) {
  return entry(module.aiv_begin, module.aiv_end, symbol);
}

}  // namespace dav::rt
