// The string type of the graph interfaces.
#pragma once

#include <string>
#include <utility>

namespace ge {

class AscendString {
 public:
  AscendString() = default;
  AscendString(const char* text) : text_(text ? text : "") {}
  const char* GetString() const { return text_.c_str(); }
  size_t GetLength() const { return text_.size(); }
  bool operator==(const AscendString& other) const { return text_ == other.text_; }
  bool operator!=(const AscendString& other) const { return text_ != other.text_; }
  bool operator<(const AscendString& other) const { return text_ < other.text_; }

 private:
  std::string text_;
};

}  // namespace ge
