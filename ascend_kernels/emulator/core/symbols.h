// Names for code addresses, for reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dav {

struct AddressRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// Where the library this function belongs to is mapped executable.
AddressRange text_of_this_library();

// "file:line in function", or the symbol when there is no line information.
struct CodeLine {
  std::string text;
  bool kernel = true;  // false: in the Ascend C headers or the system's, or without a line
};

// The code at pc, functions inlined there first. Never empty.
std::vector<CodeLine> symbolize(uintptr_t pc);

}  // namespace dav
