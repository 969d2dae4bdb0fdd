// Output and assertions of kernels: printf, DumpTensor, assert.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include "core/core.h"
#include "core/instruction.h"
#include "core/launch_state.h"
#include "dav/abi_debug.h"
#include "dav/float_bits.h"

namespace dav {
namespace {

// Messages of different cores must not mix within a line.
void put(const std::string& text) {
  static std::mutex* mutex = new std::mutex;
  std::lock_guard<std::mutex> lock(*mutex);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

std::string format_text(const char* format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size <= 0) return {};
  std::string text(static_cast<size_t>(size) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, args);
  text.pop_back();
  return text;
}

const char* type_text(DType type) {
  switch (type) {
    case DType::F16:
      return "float16";
    case DType::BF16:
      return "bfloat16";
    case DType::F32:
      return "float32";
    case DType::I8:
      return "int8";
    case DType::U8:
      return "uint8";
    case DType::I16:
      return "int16";
    case DType::U16:
      return "uint16";
    case DType::I32:
      return "int32";
    case DType::U32:
      return "uint32";
    case DType::I64:
      return "int64";
    case DType::U64:
      return "uint64";
    case DType::Bool:
      return "bool";
    default:
      return "unknown";
  }
}

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::string element_text(DType type, const std::byte* from) {
  switch (type) {
    case DType::F16:
      return std::to_string(half_to_float(load<uint16_t>(from)));
    case DType::BF16:
      return std::to_string(bfloat16_to_float(load<uint16_t>(from)));
    case DType::F32:
      return std::to_string(load<float>(from));
    case DType::I8:
      return std::to_string(load<int8_t>(from));
    case DType::I16:
      return std::to_string(load<int16_t>(from));
    case DType::I32:
      return std::to_string(load<int32_t>(from));
    case DType::I64:
      return std::to_string(load<int64_t>(from));
    case DType::U16:
      return std::to_string(load<uint16_t>(from));
    case DType::U32:
      return std::to_string(load<uint32_t>(from));
    case DType::U64:
      return std::to_string(load<uint64_t>(from));
    default:
      return std::to_string(load<uint8_t>(from));
  }
}

// Nested brackets as the shape has dimensions; "-" where the shape goes beyond the dump.
class Listing {
 public:
  Listing(DType type, const std::byte* data, uint32_t count, const DumpShape& shape)
      : type_(type), data_(data), count_(count), shape_(shape) {}

  std::string text() {
    add(0);
    return std::move(text_);
  }

 private:
  void add(uint32_t dim) {
    const uint32_t dims = shape_.dims == 0 ? 1 : shape_.dims;
    const uint32_t extent = shape_.dims == 0 ? count_ : shape_.extent[dim];
    text_ += '[';
    for (uint32_t i = 0; i < extent; ++i) {
      if (dim + 1 < dims) {
        add(dim + 1);
        if (i + 1 < extent) text_ += ",\n";
        continue;
      }
      text_ += next_ < count_ ? element_text(type_, data_ + uint64_t{next_} * size_of(type_)) : "-";
      ++next_;
      if (i + 1 < extent) text_ += ", ";
    }
    text_ += ']';
  }

  const DType type_;
  const std::byte* const data_;
  const uint32_t count_;
  const DumpShape shape_;
  uint32_t next_ = 0;
  std::string text_;
};

std::string heading(const Core& core) {
  const char* kind = core.kind() == CoreKind::AIV   ? "AIV"
                     : core.kind() == CoreKind::AIC ? "AIC"
                                                    : "AICORE";
  return "[" + std::string(kind) + " Block " + std::to_string(block_idx()) + "/" +
         std::to_string(block_num() * (core.kind() == CoreKind::AIV ? core.sub_blocks : 1)) + "] ";
}

}  // namespace

void print(const char* format, va_list args) {
  put(heading(current_core()) + format_text(format, args));
}

void assert_failed(const char* condition, const char* file, unsigned line) {
  put("[ASSERT] " + std::string(file) + ":" + std::to_string(line) + ": : Assertion `" + condition +
      "' failed.\n");
  current_core().trap(TrapKind::KernelException, Pipe::S, "assert",
                      "assertion `%s' failed at %s:%u", condition, file, line);
}

void dump_tensor(Buffer buffer, uint64_t address, DType type, uint32_t description, uint32_t count,
                 DumpShape shape) {
  // The hardware's dump waits for all pipes; here the data is complete and the look is not tracked.
  const Instruction in(Pipe::S, "DumpTensor");
  const std::byte* data = in.span(buffer, address, uint64_t{count} * size_of(type));
  char head[192];
  std::snprintf(head, sizeof head,
                "DumpTensor: desc=%u, addr=%" PRIx64 ", data_type=%s, position=%s, dump_size=%u\n",
                description, address, type_text(type), to_string(buffer), count);
  put(heading(in.core()) + head + Listing(type, data, count, shape).text() + "\n");
}

}  // namespace dav
