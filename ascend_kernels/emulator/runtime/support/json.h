// A small JSON reader for the toolkit's own files: values, no writer, no streaming.
#pragma once

#include <cctype>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dav::json {

class Value {
 public:
  enum class Type { Null, Bool, Number, String, Array, Object };

  Type type = Type::Null;
  std::string scalar;  // Bool, Number, String as written (strings unescaped)
  std::vector<Value> items;
  std::vector<std::pair<std::string, Value>> members;

  // Null when this is no object or has no such member.
  const Value* find(const std::string& key) const {
    for (const auto& member : members) {
      if (member.first == key) return &member.second;
    }
    return nullptr;
  }
  const Value& at(const std::string& key) const {
    const Value* value = find(key);
    if (!value) throw std::runtime_error("JSON: member '" + key + "' is missing");
    return *value;
  }
  const std::string& text() const { return scalar; }
  long long integer() const {
    if (type != Type::Number) throw std::runtime_error("JSON: a number is expected");
    return std::strtoll(scalar.c_str(), nullptr, 10);
  }
};

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Value document() {
    Value value = any();
    skip();
    if (at_ != text_.size()) bad("trailing text");
    return value;
  }

 private:
  [[noreturn]] void bad(const char* what) const {
    throw std::runtime_error("JSON: " + std::string(what) + " at offset " + std::to_string(at_));
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) bad((std::string("'") + c + "' is missing").c_str());
  }
  bool word(const char* w) {
    const std::string literal(w);
    if (text_.compare(at_, literal.size(), literal) != 0) return false;
    at_ += literal.size();
    return true;
  }

  Value any() {
    skip();
    if (at_ >= text_.size()) bad("unexpected end");
    Value value;
    const char c = text_[at_];
    if (c == '{') {
      ++at_;
      value.type = Value::Type::Object;
      if (take('}')) return value;
      do {
        skip();
        std::string key = string();
        expect(':');
        value.members.emplace_back(std::move(key), any());
      } while (take(','));
      expect('}');
    } else if (c == '[') {
      ++at_;
      value.type = Value::Type::Array;
      if (take(']')) return value;
      do {
        value.items.push_back(any());
      } while (take(','));
      expect(']');
    } else if (c == '"') {
      value.type = Value::Type::String;
      value.scalar = string();
    } else if (word("true") || word("false")) {
      value.type = Value::Type::Bool;
      value.scalar = c == 't' ? "true" : "false";
    } else if (word("null")) {
      value.type = Value::Type::Null;
    } else {
      value.type = Value::Type::Number;
      const size_t begin = at_;
      while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                    text_[at_] == '-' || text_[at_] == '+' || text_[at_] == '.')) {
        ++at_;
      }
      if (at_ == begin) bad("unexpected character");
      value.scalar = text_.substr(begin, at_ - begin);
    }
    return value;
  }

  std::string string() {
    if (at_ >= text_.size() || text_[at_] != '"') bad("a string is expected");
    std::string result;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] != '\\') {
        result += text_[at_];
        continue;
      }
      if (++at_ >= text_.size()) break;
      switch (text_[at_]) {
        case 'n':
          result += '\n';
          break;
        case 't':
          result += '\t';
          break;
        case '"':
        case '\\':
        case '/':
          result += text_[at_];
          break;
        default:
          bad("unsupported escape");
      }
    }
    if (at_ >= text_.size()) bad("unterminated string");
    ++at_;
    return result;
  }

  const std::string& text_;
  size_t at_ = 0;
};

inline Value parse(const std::string& text) { return Parser(text).document(); }

}  // namespace dav::json
