#include "core/symbols.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_map>

#ifdef DAV_HAVE_LIBBACKTRACE
#include <backtrace.h>
#endif

namespace dav {
namespace {

struct Line {
  std::string function;
  std::string file;
  int line = 0;
};

std::string demangled(const char* name) {
  if (name == nullptr) return "";
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                              std::free);
  return status == 0 && text ? text.get() : name;
}

// Changes whenever an object is loaded or unloaded.
unsigned long long loads() {
  unsigned long long now = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds + info->dlpi_subs;
        return 1;
      },
      &now);
  return now;
}

#ifdef DAV_HAVE_LIBBACKTRACE

// libbacktrace reads the list of loaded objects once; a kernel opened later needs a new state.
// States cannot be freed, so one is made per change of the list only.
backtrace_state* state() {
  static backtrace_state* current = nullptr;
  static unsigned long long made_at = 0;
  const unsigned long long now = loads();
  if (current == nullptr || now != made_at) {
    current = backtrace_create_state(
        nullptr, 0, [](void*, const char*, int) {}, nullptr);
    made_at = now;
  }
  return current;
}

std::vector<Line> lines_of(uintptr_t pc) {
  std::vector<Line> lines;
  backtrace_pcinfo(
      state(), pc,
      [](void* out, uintptr_t, const char* file, int line, const char* function) {
        if (file != nullptr) {
          static_cast<std::vector<Line>*>(out)->push_back({demangled(function), file, line});
        }
        return 0;
      },
      [](void*, const char*, int) {}, &lines);
  return lines;
}

#else

// addr2line prints "function at file:line", and one more " (inlined by) ..." line per caller.
std::vector<Line> lines_of(uintptr_t pc) {
  std::vector<Line> lines;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(pc), &info) == 0 || info.dli_fname == nullptr) return lines;
  const std::string object = info.dli_fname;
  if (object.find('\'') != std::string::npos) return lines;
  char offset[32];
  std::snprintf(offset, sizeof offset, "0x%" PRIxPTR,
                pc - reinterpret_cast<uintptr_t>(info.dli_fbase));
  const std::string command = "addr2line -Cfipe '" + object + "' " + offset + " 2>/dev/null";
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) return lines;
  char buffer[2048];
  while (std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr) {
    std::string text = buffer;
    const std::string inlined = " (inlined by) ";
    if (text.compare(0, inlined.size(), inlined) == 0) text.erase(0, inlined.size());
    const size_t at = text.rfind(" at ");
    const size_t colon = text.rfind(':');
    if (at == std::string::npos || colon == std::string::npos || colon < at) continue;
    Line line{text.substr(0, at), text.substr(at + 4, colon - at - 4),
              std::atoi(text.c_str() + colon + 1)};
    if (line.file != "??") lines.push_back(line);
  }
  return lines;
}

#endif

bool library_header(const Line& line) {
  return line.file.find("/include/ascendc/") != std::string::npos ||
         line.file.find("/kernel_operator.h") != std::string::npos ||
         line.file.find("/include/c++/") != std::string::npos;
}

std::string by_symbol(uintptr_t pc) {
  Dl_info info{};
  char offset[32];
  if (dladdr(reinterpret_cast<void*>(pc), &info) == 0) {
    std::snprintf(offset, sizeof offset, "0x%" PRIxPTR, pc);
    return offset;
  }
  const auto base =
      reinterpret_cast<uintptr_t>(info.dli_sname != nullptr ? info.dli_saddr : info.dli_fbase);
  std::snprintf(offset, sizeof offset, "+0x%" PRIxPTR, pc - base);
  const std::string name = info.dli_sname != nullptr ? demangled(info.dli_sname) : info.dli_fname;
  return name + offset;
}

}  // namespace

AddressRange text_of_this_library() {
  struct Search {
    uintptr_t pc;
    AddressRange found;
  } search{reinterpret_cast<uintptr_t>(&text_of_this_library), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
          const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          if (s.pc - begin < segment.p_memsz) {
            s.found = {begin, begin + segment.p_memsz};
            return 1;
          }
        }
        return 0;
      },
      &search);
  return search.found;
}

std::vector<CodeLine> symbolize(uintptr_t pc) {
  static std::mutex mutex;
  static std::unordered_map<uintptr_t, std::vector<CodeLine>> known;
  static unsigned long long known_at = 0;
  std::lock_guard<std::mutex> lock(mutex);
  const unsigned long long now = loads();
  if (now != known_at) known.clear();
  known_at = now;
  std::vector<CodeLine>& code = known[pc];
  if (!code.empty()) return code;
  for (const Line& line : lines_of(pc)) {
    code.push_back({line.file + ":" + std::to_string(line.line) +
                        (line.function.empty() ? "" : " in " + line.function),
                    !library_header(line)});
  }
  if (code.empty()) code.push_back({by_symbol(pc), false});
  return code;
}

}  // namespace dav
