// LoadData in whole fractals: L1 to L0A and L0B, GM to L0A, L0B and L1, with or without transpose.
#include <cstring>

#include "dav/abi_cube.h"
#include "isa/cube_common.h"
#include "isa/fractals.h"

namespace dav {
namespace {

using namespace cube;

bool is_l0(Buffer b) { return b == Buffer::L0A || b == Buffer::L0B; }

// The first generation moves integers of one and two bytes and half only.
void require_type(const Instruction& in, DType type) {
  const bool wide = size_of(type) > 2 || type == DType::BF16 || type == DType::I4;
  const bool element = size_of(type) <= 4 && type != DType::Bool;
  if (element && !(is_coupled(in) && wide)) return;
  in.trap(TrapKind::UnsupportedType, "%s cannot load %s", in.core().chip().name.c_str(),
          type_name(type));
}

// Only loads from GM to L1 count down; the library drops addrMode on every other path.
void require_upwards(const Instruction& in, bool decrement) {
  if (!decrement) return;
  in.trap(TrapKind::IllegalArgument, "addrMode is 1, this path allows 0");
}

void require_limits(const Instruction& in, const Load2dDesc& d) {
  in.require_range("startIndex", d.startIndex, 0, 65535);
  in.require_range("repeatTimes", d.repeatTimes, 0, 255);
  in.require_range("srcStride", d.srcStride, 0, 65535);
  in.require_range("dstGap", d.dstGap, 0, 65535);
  // The first generation's instruction has no such operand: fractals lie one behind the other.
  if (is_coupled(in) && d.dstGap != 0) {
    in.trap(TrapKind::IllegalArgument, "dstGap is %u, %s takes 0", d.dstGap,
            in.core().chip().name.c_str());
  }
}

// Which unit the n-th repeat reads; traps when a decreasing address runs below the operand.
uint64_t source_index(const Instruction& in, uint32_t start, uint32_t stride, bool decrement,
                      uint32_t n) {
  const uint64_t step = uint64_t{stride} * n;
  if (!decrement) return start + step;
  if (step > start) {
    in.trap(TrapKind::IllegalArgument, "repeat %u reads %llu units before the operand", n,
            static_cast<unsigned long long>(step - start));
  }
  return start - step;
}

Work load_work(Path path, DType type, uint64_t bytes) {
  Work w;
  w.kind = WorkKind::Move;
  w.path = path;
  w.dtype = type;
  w.bytes = bytes;
  return w;
}

Path l1_path(Buffer dst) { return dst == Buffer::L0A ? Path::L1ToL0a : Path::L1ToL0b; }

// Rows of a square of Q x Q elements that lie fractal after fractal in L1; transposed, its fractals
// go to L0 `fractal_step` apart. A fractal has 16 rows of 32 bytes, so for one-byte elements the
// square is two fractals above each other, for four-byte elements two side by side.
struct Square {
  uint32_t element = 2;
  uint32_t per_row = 16;  // elements in 32 bytes
  uint32_t side = 16;     // Q
  uint32_t fractals = 1;
};

Square square_of(DType type) {
  Square s;
  if (type == DType::I4) return {1, 64, 64, 4};
  s.element = size_of(type);
  s.per_row = kBlock / s.element;
  s.side = s.per_row > kSide ? s.per_row : kSide;
  s.fractals = s.side * s.side * s.element / kFractal;
  return s;
}

// Byte offset of (row, column) in the fractals of a square, `step` bytes from fractal to fractal.
uint64_t square_offset(const Square& s, uint32_t row, uint32_t column, uint64_t step) {
  const uint32_t fractal = (row / kSide) * (s.side / s.per_row) + column / s.per_row;
  return fractal * step + (row % kSide) * kBlock + (column % s.per_row) * s.element;
}

// Elements of half a byte, the even column in the low half. Two of different rows meet in a byte of
// the result, which is defined when the one of the odd column is.
void transpose_nibbles(Instruction& in, const Square& s, Buffer dst, uint64_t dst_addr,
                       uint64_t dst_step, uint64_t src_addr, const std::byte* from, std::byte* to) {
  const auto byte_of = [](uint32_t row, uint32_t column, uint64_t step) {
    return row / kSide * step + row % kSide * kBlock + column / 2;
  };
  for (uint32_t r = 0; r < s.side; ++r) {
    for (uint32_t c = 0; c < s.side; ++c) {
      const uint64_t source = byte_of(r, c, kFractal), target = byte_of(c, r, dst_step);
      const auto value = (from[source] >> (c % 2 * 4)) & std::byte{15};
      const auto kept = to[target] & (r % 2 == 0 ? std::byte{0xf0} : std::byte{0x0f});
      to[target] = kept | value << (r % 2 * 4);
      in.copy_defined(dst, dst_addr + target, Buffer::L1, src_addr + source, 1);
    }
  }
}

void transpose_square(Instruction& in, const Square& s, Buffer dst, uint64_t dst_addr,
                      uint64_t dst_step, uint64_t src_addr) {
  const uint64_t bytes = uint64_t{s.fractals} * kFractal;
  const std::byte* from = in.span(Buffer::L1, src_addr, bytes);
  std::byte* to = in.span(dst, dst_addr, (s.fractals - 1) * dst_step + kFractal);
  if (in.checking()) {
    in.note_move(Buffer::L1, src_addr, bytes);
    for (uint32_t f = 0; f < s.fractals; ++f) {
      in.note_write(dst, dst_addr + f * dst_step, kFractal);
    }
  }
  if (s.per_row * s.element > kBlock) {
    transpose_nibbles(in, s, dst, dst_addr, dst_step, src_addr, from, to);
    return;
  }
  for (uint32_t r = 0; r < s.side; ++r) {
    for (uint32_t c = 0; c < s.side; ++c) {
      const uint64_t source = square_offset(s, r, c, kFractal);
      const uint64_t target = square_offset(s, c, r, dst_step);
      std::memcpy(to + target, from + source, s.element);
      in.copy_defined(dst, dst_addr + target, Buffer::L1, src_addr + source, s.element);
    }
  }
}

}  // namespace

void load_data_2d(Local dst, Local src, DType type, const Load2dDesc& d) {
  Instruction in(Pipe::MTE1, "LoadData");
  if (src.buffer != Buffer::L1 || !is_l0(dst.buffer)) refuse_path(in, dst.buffer, src.buffer);
  require_buffer(in, dst, dst.buffer, "dst");
  require_type(in, type);
  require_limits(in, d);
  in.require_aligned(dst.buffer, dst.addr, kFractal, "dst");
  in.require_aligned(src.buffer, src.addr, kBlock, "src");
  if (d.ifTranspose && size_of(type) != 2) {
    in.trap(TrapKind::UnsupportedType, "ifTranspose takes 16-bit types, not %s", type_name(type));
  }
  require_upwards(in, d.decrement);
  const uint64_t dst_step = (uint64_t{d.dstGap} + 1) * kFractal;
  if (!d.ifTranspose && d.srcStride >= 1 && d.repeatTimes > 0) {
    move_pieces(in, dst.buffer, dst.addr, Buffer::L1, src.addr + uint64_t{d.startIndex} * kFractal,
                {d.repeatTimes, kFractal, dst_step, uint64_t{d.srcStride} * kFractal});
  } else {
    for (uint32_t i = 0; i < d.repeatTimes; ++i) {
      const uint64_t from = src.addr + (d.startIndex + uint64_t{d.srcStride} * i) * kFractal;
      const uint64_t to = dst.addr + i * dst_step;
      if (d.ifTranspose) {
        transpose_fractal_b16(in, dst.buffer, to, Buffer::L1, from);
      } else {
        move_piece(in, dst.buffer, to, Buffer::L1, from, kFractal);
      }
    }
  }
  for (uint32_t i = 0; i < d.repeatTimes && in.checking(); ++i) {
    FractalSource from;
    from.l1 = src.addr + (d.startIndex + uint64_t{d.srcStride} * i) * kFractal;
    from.element_bits = d.ifTranspose ? 16 : 0;
    note_fractal(in, dst.buffer, dst.addr + i * dst_step, from);
  }
  in.work(load_work(l1_path(dst.buffer), type, uint64_t{d.repeatTimes} * kFractal));
}

void load_data_2d_gm(Local dst, uint64_t src, DType type, const Load2dDesc& d) {
  Instruction in(Pipe::MTE2, "LoadData");
  const bool to_l0 = is_l0(dst.buffer);
  if (!to_l0 && dst.buffer != Buffer::L1) refuse_path(in, dst.buffer, Buffer::GM);
  require_buffer(in, dst, dst.buffer, "dst");
  require_type(in, type);
  require_limits(in, d);
  in.require_aligned(dst.buffer, dst.addr, to_l0 ? kFractal : kBlock, "dst");
  if (d.ifTranspose) {
    in.trap(TrapKind::UnsupportedPath, "only loads from L1 transpose");
  }
  if (to_l0 || is_coupled(in)) require_upwards(in, d.decrement);
  if (type == DType::I4) {
    in.trap(TrapKind::UnsupportedType, "only loads from L1 take int4b_t");
  }
  for (uint32_t i = 0; i < d.repeatTimes; ++i) {
    const uint64_t index = source_index(in, d.startIndex, d.srcStride, d.decrement, i);
    move_piece(in, dst.buffer, dst.addr + (uint64_t{d.dstGap} + 1) * kFractal * i, Buffer::GM,
               src + index * kFractal, kFractal);
  }
  Work w = load_work(to_l0 ? Path::GmToL0 : Path::GmToL1, type, uint64_t{d.repeatTimes} * kFractal);
  w.bursts = d.srcStride == 1 ? 1 : d.repeatTimes;
  w.gm_addr = src + uint64_t{d.startIndex} * kFractal;
  w.gm_stride = uint64_t{d.srcStride} * kFractal;
  in.work(w);
}

void load_data_sparse(Local dst, Local src, Local index, uint32_t startIndex,
                      uint32_t repeatTimes) {
  Instruction in(Pipe::MTE1, "LoadDataWithSparse");
  require_feature(in, Feature::SparseMmad);
  if (src.buffer != Buffer::L1 || dst.buffer != Buffer::L0B) {
    refuse_path(in, dst.buffer, src.buffer);
  }
  require_buffer(in, dst, Buffer::L0B, "dst");
  require_buffer(in, index, Buffer::L1, "idx");
  in.require_range("startIndex", startIndex, 0, 65535);
  in.require_range("repeatTimes", repeatTimes, 0, 255);
  in.require_aligned(dst.buffer, dst.addr, kFractal, "dst");
  in.require_aligned(src.buffer, src.addr, kBlock, "src");
  in.require_aligned(index.buffer, index.addr, kBlock, "idx");
  if (repeatTimes == 0) return;
  constexpr uint64_t kIndex = kFractal / 4;
  const uint64_t from = src.addr + uint64_t{startIndex} * kFractal;
  move_piece(in, Buffer::L0B, dst.addr, Buffer::L1, from, uint64_t{repeatTimes} * kFractal);
  for (uint32_t i = 0; i < repeatTimes && in.checking(); ++i) {
    FractalSource source;
    source.l1 = from + uint64_t{i} * kFractal;
    note_fractal(in, Buffer::L0B, dst.addr + uint64_t{i} * kFractal, source);
  }
  const std::byte* choices =
      in.read(Buffer::L1, index.addr + startIndex * kIndex, repeatTimes * kIndex);
  std::vector<std::byte>& buffer = in.core().sparse_index;
  // What was never loaded holds a choice that does not exist.
  if (buffer.empty()) buffer.assign(in.core().size_of(Buffer::L0B) / 4, std::byte{0xff});
  if (!in.timing_only()) std::memcpy(buffer.data() + dst.addr / 4, choices, repeatTimes * kIndex);
  in.work(load_work(Path::L1ToL0b, DType::I8, repeatTimes * (kFractal + kIndex)));
}

void load_data_transpose(Local dst, Local src, DType type, const LoadTransposeDesc& d) {
  Instruction in(Pipe::MTE1, "LoadDataWithTranspose");
  require_feature(in, Feature::LoadDataWithTranspose);
  if (src.buffer != Buffer::L1 || !is_l0(dst.buffer)) refuse_path(in, dst.buffer, src.buffer);
  require_buffer(in, dst, dst.buffer, "dst");
  const bool plain = type == DType::I16 || type == DType::U16 || type == DType::Bool;
  if (size_of(type) > 4 || plain || (type == DType::I4 && dst.buffer != Buffer::L0B)) {
    in.trap(TrapKind::UnsupportedType, "%s is not loaded transposed into %s", type_name(type),
            to_string(dst.buffer));
  }
  require_upwards(in, d.decrement);
  in.require_range("startIndex", d.startIndex, 0, 65535);
  in.require_range("repeatTimes", d.repeatTimes, 0, 255);
  in.require_range("srcStride", d.srcStride, 0, 65535);
  in.require_range("dstGap", d.dstGap, 0, 65535);
  in.require_range("dstFracGap", d.dstFracGap, 0, 65535);
  in.require_aligned(dst.buffer, dst.addr, kFractal, "dst");
  in.require_aligned(src.buffer, src.addr, kBlock, "src");

  const Square s = square_of(type);
  const uint64_t square_bytes = uint64_t{s.fractals} * kFractal;
  const uint64_t fractal_step = (uint64_t{d.dstFracGap} + 1) * kFractal;
  for (uint32_t i = 0; i < d.repeatTimes; ++i) {
    const uint64_t from = src.addr + (d.startIndex + uint64_t{d.srcStride} * i) * square_bytes;
    const uint64_t to = dst.addr + (uint64_t{d.dstGap} + 1) * kFractal * i;
    if (s.fractals == 1) {
      transpose_fractal_b16(in, dst.buffer, to, Buffer::L1, from);
    } else {
      transpose_square(in, s, dst.buffer, to, fractal_step, from);
    }
    for (uint32_t f = 0; f < s.fractals && in.checking(); ++f) {
      // Where a block is narrower than the square, the fractals are its bands of rows, else of
      // columns.
      const bool bands = s.per_row < s.side;
      FractalSource source;
      source.l1 = from + (bands ? uint64_t{f} * s.per_row * kBlock : 0);
      source.column = bands ? 0 : f * kSide * kBlock / s.per_row;
      source.blocks = s.per_row;
      source.element_bits = kBlock * 8 / s.per_row;
      note_fractal(in, dst.buffer, to + f * fractal_step, source);
    }
  }
  in.work(load_work(l1_path(dst.buffer), type, d.repeatTimes * square_bytes));
}

}  // namespace dav
