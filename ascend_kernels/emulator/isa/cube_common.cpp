#include "isa/cube_common.h"

#include <cstring>

#include "core/call_site.h"
#include "isa/gm_atomic.h"

namespace dav::cube {

const char* type_name(DType type) {
  switch (type) {
    case DType::F16:
      return "half";
    case DType::BF16:
      return "bfloat16_t";
    case DType::F32:
      return "float";
    case DType::F64:
      return "double";
    case DType::I4:
      return "int4b_t";
    case DType::I8:
      return "int8_t";
    case DType::U8:
      return "uint8_t";
    case DType::I16:
      return "int16_t";
    case DType::U16:
      return "uint16_t";
    case DType::I32:
      return "int32_t";
    case DType::U32:
      return "uint32_t";
    case DType::I64:
      return "int64_t";
    case DType::U64:
      return "uint64_t";
    case DType::Bool:
      return "bool";
    default:
      return "complex64";
  }
}

void require_buffer(const Instruction& in, Local operand, Buffer wanted, const char* name) {
  if (operand.buffer != wanted) {
    in.trap(TrapKind::UnsupportedPath, "%s lies in %s, the instruction takes %s", name,
            to_string(operand.buffer), to_string(wanted));
  }
  in.span(wanted, 0, 0);  // traps when this core has no such buffer
}

void refuse_path(const Instruction& in, Buffer dst, Buffer src) {
  in.trap(TrapKind::UnsupportedPath, "%s has no data path from %s to %s",
          in.core().chip().name.c_str(), to_string(src), to_string(dst));
}

void require_feature(const Instruction& in, Feature feature) {
  if (in.core().chip().has(feature)) return;
  in.trap(TrapKind::UnsupportedOp, "%s lacks this instruction", in.core().chip().name.c_str());
}

void move_piece(Instruction& in, Buffer dst, uint64_t dst_addr, Buffer src, uint64_t src_addr,
                uint64_t bytes) {
  const std::byte* from = in.span(src, src_addr, bytes);
  std::byte* to = in.span(dst, dst_addr, bytes);
  if (!in.timing_only()) std::memmove(to, from, bytes);
  if (!in.checking()) return;
  in.note_move(src, src_addr, bytes);
  in.note_write(dst, dst_addr, bytes);
  in.copy_defined(dst, dst_addr, src, src_addr, bytes);
}

void move_pieces(Instruction& in, Buffer dst, uint64_t dst_addr, Buffer src, uint64_t src_addr,
                 const Pieces& pieces) {
  if (pieces.dst_step == pieces.bytes && pieces.src_step == pieces.bytes) {
    move_piece(in, dst, dst_addr, src, src_addr, pieces.bytes * pieces.count);
    return;
  }
  for (uint64_t i = 0; i < pieces.count; ++i) {
    move_piece(in, dst, dst_addr + i * pieces.dst_step, src, src_addr + i * pieces.src_step,
               pieces.bytes);
  }
}

void store_gm(Instruction& in, uint64_t addr, const std::byte* data, uint64_t bytes) {
  if (in.timing_only()) {
    in.span(Buffer::GM, addr, bytes);
    return;
  }
  const ControlState& control = in.core().control;
  if (control.atomic != Atomic::None) {
    atomic_store(in, addr, data, bytes);
    return;
  }
  std::memmove(in.write(Buffer::GM, addr, bytes), data, bytes);
}

void note_atomic(Instruction& in, uint64_t addr, uint64_t bytes) {
  if (!in.checking()) return;
  in.core().tracker->access(in.core().id(), in.pipe(), in.name(), capture_site(), Access::Atomic,
                            Buffer::GM, addr, bytes);
}

bool saturates(const Instruction& in) {
  return !is_coupled(in) && (in.core().control.ctrl >> 48 & 1) == 0;
}

namespace {

template <typename T>
void saturate(std::byte* row, size_t count, T infinity, T sign) {
  for (size_t i = 0; i < count; ++i) {
    T bits;
    std::memcpy(&bits, row + i * sizeof(T), sizeof(T));
    const T magnitude = static_cast<T>(bits & static_cast<T>(~sign));
    if (magnitude < infinity) continue;
    bits = magnitude > infinity ? T{0} : static_cast<T>((bits & sign) | (infinity - 1));
    std::memcpy(row + i * sizeof(T), &bits, sizeof(T));
  }
}

}  // namespace

void saturate_row(DType type, std::byte* row, size_t count) {
  if (type == DType::F16) saturate<uint16_t>(row, count, 0x7c00, 0x8000);
  if (type == DType::BF16) saturate<uint16_t>(row, count, 0x7f80, 0x8000);
  if (type == DType::F32) saturate<uint32_t>(row, count, 0x7f800000, 0x80000000);
}

void use_unit_flag(Instruction& in, uint32_t value) {
  if (value != 0 && value != 2 && value != 3) {
    in.trap(TrapKind::IllegalArgument, "unitFlag is %u, allowed are 0, 2 and 3", value);
  }
  if (value == 0) return;
  if (is_coupled(in)) {
    in.trap(TrapKind::UnsupportedOp, "%s has no unitFlag", in.core().chip().name.c_str());
  }
  if (in.checking()) in.core().tracker->unit_flag(in.core().id(), static_cast<int>(value));
}

void transpose_fractal_b16(Instruction& in, Buffer dst, uint64_t dst_addr, Buffer src,
                           uint64_t src_addr) {
  uint16_t from[kSide][kSide], to[kSide][kSide];
  const std::byte* source = in.span(src, src_addr, kFractal);
  std::byte* target = in.span(dst, dst_addr, kFractal);
  if (in.timing_only()) return;
  std::memcpy(from, source, kFractal);
  for (uint32_t r = 0; r < kSide; ++r)
    for (uint32_t c = 0; c < kSide; ++c) to[c][r] = from[r][c];
  std::memcpy(target, to, kFractal);
  if (!in.checking()) return;
  in.note_move(src, src_addr, kFractal);
  in.note_write(dst, dst_addr, kFractal);
  for (uint32_t r = 0; r < kSide; ++r)
    for (uint32_t c = 0; c < kSide; ++c)
      in.copy_defined(dst, dst_addr + c * kBlock + r * 2, src, src_addr + r * kBlock + c * 2, 2);
}

}  // namespace dav::cube
