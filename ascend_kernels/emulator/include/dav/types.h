// Names shared by the Ascend C headers and the emulator library: the vocabulary of a Da Vinci core.
#pragma once

#include <cstdint>

namespace dav {

// The in-order queues of one core. S is the scalar unit, which issues to all others.
enum class Pipe : uint8_t { S, V, M, MTE1, MTE2, MTE3, FIX, ALL };
constexpr int kPipeCount = 7;

// GM is global memory. BT is the bias table, FB the fixpipe parameter buffer.
enum class Buffer : uint8_t { GM, L1, L0A, L0B, L0C, UB, BT, FB };
constexpr int kBufferCount = 8;

// A split chip has one AIC and two AIVs per group; on the coupled chip one core is both.
enum class CoreKind : uint8_t { AIC, AIV, Coupled };

enum class DType : uint8_t {
  F16,
  BF16,
  F32,
  F64,
  I4,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  Bool,
  Complex64
};

constexpr uint32_t size_of(DType t) {
  switch (t) {
    case DType::I4:
    case DType::I8:
    case DType::U8:
    case DType::Bool:
      return 1;
    case DType::F16:
    case DType::BF16:
    case DType::I16:
    case DType::U16:
      return 2;
    case DType::F32:
    case DType::I32:
    case DType::U32:
      return 4;
    default:
      return 8;
  }
}

// An operand in one of a core's own buffers: a byte offset, not a host pointer, because that is
// what an address register holds.
struct Local {
  Buffer buffer;
  uint32_t addr;
};

}  // namespace dav
