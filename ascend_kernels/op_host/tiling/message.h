// What a refusal says.
#pragma once

#include <sstream>
#include <string>

namespace ascendfa {

template <typename... Parts>
std::string Message(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

}  // namespace ascendfa
