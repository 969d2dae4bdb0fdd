// What data movement and cube instructions share: where operands may lie, strided copies that keep
// track of definedness, and stores to GM under the atomic mode.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/core.h"
#include "core/instruction.h"

namespace dav::cube {

constexpr uint32_t kBlock = 32;     // bytes of a data block
constexpr uint32_t kFractal = 512;  // bytes of a fractal in L0A, L0B and L1
constexpr uint32_t kSide = 16;      // rows of a fractal
constexpr uint32_t kMaxBursts = 4095;
// What the lanes of a touched L0C fractal outside the valid rows and columns hold afterwards: the
// reference calls them invalid, so a use of them shall show. A NaN as float.
constexpr uint32_t kInvalid = 0x7fc0dead;

constexpr uint64_t ceil_div(uint64_t value, uint64_t by) { return (value + by - 1) / by; }
constexpr uint64_t round_up(uint64_t value, uint64_t to) { return ceil_div(value, to) * to; }

const char* type_name(DType type);
inline bool is_coupled(const Instruction& in) { return in.core().chip().arch == Arch::Dav1001; }

// Traps unless `operand` lies in `wanted` and this kind of core has that buffer.
void require_buffer(const Instruction& in, Local operand, Buffer wanted, const char* name);
[[noreturn]] void refuse_path(const Instruction& in, Buffer dst, Buffer src);
// Traps when the chip lacks the instruction.
void require_feature(const Instruction& in, Feature feature);

// One contiguous piece of a local-to-local or GM-to-local copy. Undefined bytes travel along.
void move_piece(Instruction& in, Buffer dst, uint64_t dst_addr, Buffer src, uint64_t src_addr,
                uint64_t bytes);
// As move_piece, for many equally long pieces; contiguous ones are joined.
struct Pieces {
  uint64_t count = 0;
  uint64_t bytes = 0;
  uint64_t dst_step = 0;
  uint64_t src_step = 0;
};
void move_pieces(Instruction& in, Buffer dst, uint64_t dst_addr, Buffer src, uint64_t src_addr,
                 const Pieces& pieces);

// Stores to GM: plainly, or as the core's atomic mode asks for. The value bytes come from `data`.
void store_gm(Instruction& in, uint64_t addr, const std::byte* data, uint64_t bytes);
// Whether stores to GM combine with what it holds.
inline bool stores_combine(const Instruction& in) {
  return in.core().control.atomic != Atomic::None;
}

// Records a read-modify-write in GM.
void note_atomic(Instruction& in, uint64_t addr, uint64_t bytes);
// Checks unitFlag (0, 2 or 3) and tells the tracker that the hardware orders this Mmad or Fixpipe.
// Whether results may not be infinite or NaN (CTRL[48] is clear; Ascend C reference, Mmad and
// Fixpipe, special values), and what becomes of them then: the largest finite value, and 0.
bool saturates(const Instruction& in);
void saturate_row(DType type, std::byte* row, size_t count);

void use_unit_flag(Instruction& in, uint32_t value);

// Two-byte elements of a 16x16 fractal, rows and columns exchanged, with their definedness.
void transpose_fractal_b16(Instruction& in, Buffer dst, uint64_t dst_addr, Buffer src,
                           uint64_t src_addr);

}  // namespace dav::cube
