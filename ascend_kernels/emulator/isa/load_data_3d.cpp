// LoadData 3D v2: the image-to-column matrix of an NC1HWC0 feature map in L1, cut out and laid down
// as L0A or L0B expect it. With a 1x1 filter, stride 1 and no padding the matrix is the NZ matrix
// in L1 itself, which is how matrix kernels use the instruction.
#include <algorithm>
#include <cstring>

#include "dav/abi_cube.h"
#include "isa/cube_common.h"
#include "isa/fractals.h"

namespace dav {
namespace {

using namespace cube;

struct FeatureMap {
  uint32_t h = 0, w = 0;
  uint8_t left = 0, right = 0, top = 0, bottom = 0;
};

uint64_t pack(const FeatureMap& f) {
  return uint64_t{f.h} | uint64_t{f.w} << 16 | uint64_t{f.left} << 32 | uint64_t{f.right} << 40 |
         uint64_t{f.top} << 48 | uint64_t{f.bottom} << 56;
}

FeatureMap unpack(uint64_t v) {
  FeatureMap f;
  f.h = v & 0xffff;
  f.w = (v >> 16) & 0xffff;
  f.left = static_cast<uint8_t>(v >> 32);
  f.right = static_cast<uint8_t>(v >> 40);
  f.top = static_cast<uint8_t>(v >> 48);
  f.bottom = static_cast<uint8_t>(v >> 56);
  return f;
}

// Locates a 32-byte block of the image-to-column matrix: `row` is an output position, `block` a
// block of columns.
class Columns {
 public:
  Columns(const Instruction& in, const FeatureMap& map, const Load3dDesc& d) : map_(map), d_(d) {
    const int64_t high = int64_t{map.h} + map.top + map.bottom;
    const int64_t wide = int64_t{map.w} + map.left + map.right;
    const int64_t kernel_h = int64_t{d.filterH - 1} * d.dilationFilterH + 1;
    const int64_t kernel_w = int64_t{d.filterW - 1} * d.dilationFilterW + 1;
    if (high < kernel_h || wide < kernel_w) {
      in.trap(TrapKind::IllegalArgument, "the filter is larger than the padded feature map");
    }
    out_w_ = (wide - kernel_w) / d.strideW + 1;
    rows_ = ((high - kernel_h) / d.strideH + 1) * out_w_;
  }
  int64_t rows() const { return rows_; }
  // Byte offset from the feature map's start; -1 where the position lies in the padding.
  int64_t offset(int64_t row, int64_t block) const {
    const int64_t taps = int64_t{d_.filterH} * d_.filterW;
    const int64_t channel = block / taps, tap = block % taps;
    const int64_t y = row / out_w_ * d_.strideH + tap / d_.filterW * d_.dilationFilterH - map_.top;
    const int64_t x = row % out_w_ * d_.strideW + tap % d_.filterW * d_.dilationFilterW - map_.left;
    if (y < 0 || y >= map_.h || x < 0 || x >= map_.w) return -1;
    return ((channel * map_.h + y) * map_.w + x) * kBlock;
  }

 private:
  const FeatureMap map_;
  const Load3dDesc& d_;
  int64_t out_w_ = 0;
  int64_t rows_ = 0;
};

// Elements of a 32-byte block. Blocks of int4b_t move whole; only transposition looks inside one.
uint32_t c0_of(DType type) { return type == DType::I4 ? 2 * kBlock : kBlock / size_of(type); }

// What a feature map's last block of channels may hold.
void require_channels(const Instruction& in, DType type, uint32_t channels) {
  const uint32_t c0 = c0_of(type), rest = channels % c0;
  const uint32_t least = type == DType::I4 ? 8 : 4;
  if (rest == 0 || (rest >= least && (rest & (rest - 1)) == 0)) return;
  in.trap(TrapKind::IllegalArgument,
          "channelSize is %u: the remainder by %u may be 0 or a power of 2 from %u", channels, c0,
          least);
}

void require_limits(const Instruction& in, DType type, Buffer dst, const Load3dDesc& d) {
  const uint32_t size = size_of(type);
  const uint32_t c0 = c0_of(type);
  require_channels(in, type, d.channelSize);
  // The library's own check; types of four bytes and int4b_t start anywhere.
  if (size <= 2 && type != DType::I4 && d.mStartPt % kSide != 0) {
    in.trap(TrapKind::IllegalArgument, "mStartPt is %u, no multiple of %u", d.mStartPt, kSide);
  }
  in.require_range("strideW", d.strideW, 1, 63);
  in.require_range("strideH", d.strideH, 1, 63);
  in.require_range("dilationFilterW", d.dilationFilterW, 1, 255);
  in.require_range("dilationFilterH", d.dilationFilterH, 1, 255);
  in.require_range("mStartPt", d.mStartPt, 0, 32767);
  if (d.kStartPt % c0 != 0) {
    in.trap(TrapKind::IllegalArgument, "kStartPt is %u, no multiple of %u", d.kStartPt, c0);
  }
  if (d.enSmallK) in.trap(TrapKind::UnsupportedOp, "enSmallK exists on no supported chip");
  if (d.fMatrixCtrl) in.trap(TrapKind::IllegalArgument, "fMatrixCtrl has to be false");
  if (size == 1 && (dst == Buffer::L0B || d.enTranspose)) {
    in.trap(TrapKind::UnsupportedType, "%s is loaded without transpose to L0A only",
            type_name(type));
  }
}

// The cut-out matrix has `m` rows and `blocks` blocks of columns. Where its block (row, block)
// starts in dst, and how far apart its elements lie there.
struct Placement {
  bool transposed = false;
  bool to_l0b = false;
  uint32_t size = 2;
  uint64_t m_tiles = 0;  // of 16 rows
  uint64_t blocks = 0;
  uint64_t columns16 = 0;  // columns in tiles of 16

  uint64_t at(uint64_t row, uint64_t block, uint64_t element) const {
    const uint64_t tile = row / kSide, in_tile = row % kSide;
    if (!transposed) {
      return (tile * blocks + block) * kFractal + in_tile * kBlock + element * size;
    }
    // Transposed, rows of the matrix become the 32-byte direction of the fractals.
    const uint64_t c0 = kBlock / size;
    const uint64_t column = block * c0 + element;
    const uint64_t across = row / c0;  // fractal along the old rows
    const uint64_t acrosses = m_tiles * kSide / c0;
    const uint64_t down = column / kSide;  // fractal along the old columns
    const uint64_t fractal = to_l0b ? across * columns16 + down : down * acrosses + across;
    return fractal * kFractal + column % kSide * kBlock + row % c0 * size;
  }
};

// Where in L1 a load reads: beyond the boundary it goes on at the start of L1.
struct Source {
  uint64_t start = 0;
  uint64_t boundary = 0;  // 0: none

  uint64_t at(int64_t offset) const {
    const uint64_t address = start + static_cast<uint64_t>(offset);
    return boundary == 0 ? address : address % boundary;
  }
};

// Lengths in whole blocks and fractals, but for the last ones of the matrix.
void require_extension(const Instruction& in, DType type, const Load3dDesc& d, const Columns& map,
                       uint64_t all_blocks) {
  const uint32_t c0 = c0_of(type);
  if (d.kExtension % c0 != 0 && (d.kStartPt + d.kExtension) / c0 + 1 < all_blocks) {
    in.trap(TrapKind::IllegalArgument,
            "kExtension is %u, no multiple of %u, and ends before the last fractal of the matrix",
            d.kExtension, c0);
  }
  const int64_t end = int64_t{d.mStartPt} + d.mExtension;
  if (size_of(type) <= 2 && d.mExtension % kSide != 0 && end / kSide < (map.rows() - 1) / kSide) {
    in.trap(TrapKind::IllegalArgument,
            "mExtension is %u, no multiple of %u, and ends before the last fractal of the matrix",
            d.mExtension, kSide);
  }
}

// One iteration of a load: rows [first_row, last_row) and `blocks` blocks of the matrix, and where
// in the loaded matrix they go.
struct Part {
  int64_t first_row = 0, last_row = 0;
  uint64_t first_block = 0, blocks = 0;
  uint64_t to_row = 0, to_block = 0;
};

// The bounds of what a load touches, for a run that moves no data. Offsets of one block grow from
// row to row, so its first and its last row inside the map stand for all.
void require_bounds(const Instruction& in, const Source& src, const Columns& columns,
                    const Part& part) {
  for (uint64_t block = 0; block < part.blocks; ++block) {
    const auto offset = [&](int64_t row) {
      return columns.offset(row, static_cast<int64_t>(part.first_block + block));
    };
    int64_t low = part.first_row, high = part.last_row - 1;
    while (low < part.last_row && offset(low) < 0) ++low;
    while (high > low && offset(high) < 0) --high;
    if (low >= part.last_row) continue;
    for (const int64_t row : {low, high}) {
      in.span(Buffer::L1, src.at(offset(row)), kBlock);
    }
  }
}

// The layout a load leaves behind, where the matrix is the NZ matrix in L1: a filter with several
// taps, strides or padding take every fractal from rows of their own.
void note_layout(Instruction& in, Local dst, const Source& src, const Columns& columns,
                 const Placement& place, const FeatureMap& map, const Load3dDesc& d,
                 const Part& part, DType type) {
  const bool plain = d.filterW == 1 && d.filterH == 1 && d.strideW == 1 && d.strideH == 1 &&
                     (map.left | map.right | map.top | map.bottom) == 0 && src.boundary == 0;
  if (!in.checking() || !plain || type == DType::I4) return;
  const uint64_t c0 = kBlock / place.size;
  const auto tall = static_cast<int64_t>(place.transposed ? c0 : kSide);  // rows of a fractal
  const uint64_t step = place.transposed ? kSide / c0 : 1;                // blocks side by side
  for (int64_t row = part.first_row; row < part.last_row; row += tall) {
    for (uint64_t block = 0; block < part.blocks; block += step) {
      FractalSource from;
      from.l1 = src.at(columns.offset(row, static_cast<int64_t>(part.first_block + block)));
      from.blocks = static_cast<uint32_t>(std::min(tall, part.last_row - row));
      from.element_bits = place.transposed ? place.size * 8 : 0;
      const auto local_row = static_cast<uint64_t>(row - part.first_row) + part.to_row;
      note_fractal(in, dst.buffer, dst.addr + place.at(local_row, part.to_block + block, 0), from);
    }
  }
}

void move_part(Instruction& in, Local dst, const Source& src, const Columns& columns,
               const Placement& place, const Part& part, uint32_t c0) {
  const uint64_t& padding = in.core().control.load_padding;
  for (int64_t row = part.first_row; row < part.last_row; ++row) {
    for (uint64_t block = 0; block < part.blocks; ++block) {
      const int64_t offset = columns.offset(row, static_cast<int64_t>(part.first_block + block));
      const auto local_row = static_cast<uint64_t>(row - part.first_row) + part.to_row;
      if (!place.transposed && offset >= 0) {
        move_piece(in, dst.buffer, dst.addr + place.at(local_row, part.to_block + block, 0),
                   Buffer::L1, src.at(offset), kBlock);
        continue;
      }
      if (offset >= 0) in.note_move(Buffer::L1, src.at(offset), kBlock);
      for (uint32_t e = 0; e < c0; ++e) {
        const uint64_t to = dst.addr + place.at(local_row, part.to_block + block, e);
        std::byte* element = in.write(dst.buffer, to, place.size);
        if (offset < 0) {
          std::memcpy(element, &padding, place.size);
          continue;
        }
        const uint64_t from = src.at(offset) + uint64_t{e} * place.size;
        std::memcpy(element, in.span(Buffer::L1, from, place.size), place.size);
        in.copy_defined(dst.buffer, to, Buffer::L1, from, place.size);
      }
    }
  }
}

}  // namespace

void load_data_3d(Local dst, Local src, DType type, const Load3dDesc& d) {
  Instruction in(Pipe::MTE1, "LoadData (3D)");
  require_feature(in, Feature::LoadData3Dv2);
  const bool to_l0b = dst.buffer == Buffer::L0B;
  if (src.buffer != Buffer::L1 || (dst.buffer != Buffer::L0A && !to_l0b)) {
    refuse_path(in, dst.buffer, src.buffer);
  }
  require_buffer(in, dst, dst.buffer, "dst");
  const bool plain = type == DType::I16 || type == DType::U16 || type == DType::Bool;
  if (size_of(type) > 4 || plain) {
    in.trap(TrapKind::UnsupportedType, "no 3D load takes %s", type_name(type));
  }
  in.require_aligned(dst.buffer, dst.addr, kFractal, "dst");
  in.require_aligned(src.buffer, src.addr, kBlock, "src");
  const ControlState& control = in.core().control;
  const FeatureMap map = unpack(control.fmatrix_a);
  if (map.h == 0 || map.w == 0 || d.channelSize == 0 || d.kExtension == 0 || d.mExtension == 0 ||
      d.filterW == 0 || d.filterH == 0) {
    return;
  }
  require_limits(in, type, dst.buffer, d);
  const auto stride = static_cast<uint32_t>(control.load3d_repeat & 0xffff);
  const auto repeats = static_cast<uint32_t>(control.load3d_repeat >> 16 & 0xff);
  const bool along_k = (control.load3d_repeat >> 24 & 1) != 0;
  if (repeats == 0) return;

  const uint32_t c0 = c0_of(type);
  const Columns columns(in, map, d);
  const uint64_t all_blocks = ceil_div(d.channelSize, c0) * d.filterH * d.filterW;
  require_extension(in, type, d, columns, all_blocks);
  const uint64_t m_tiles = ceil_div(d.mExtension, kSide), blocks = ceil_div(d.kExtension, c0);
  // Iterations are parts of one matrix, one below or beside the other.
  Placement place;
  place.transposed = to_l0b || d.enTranspose;
  place.to_l0b = to_l0b;
  place.size = size_of(type);
  place.m_tiles = m_tiles * (along_k ? 1 : repeats);
  place.blocks = blocks * (along_k ? repeats : 1);
  place.columns16 = ceil_div(place.blocks * c0, kSide);
  if (along_k && repeats > 1 && m_tiles > 1 && !place.transposed) {
    in.trap(TrapKind::UnsupportedOp,
            "the emulator has no repeats along K of more than 16 rows without transposition");
  }
  const Source source{src.addr, control.load3d_boundary};
  if (source.boundary != 0 && src.addr >= source.boundary) {
    in.trap(TrapKind::IllegalArgument, "src begins at %u, beyond the boundary of %u bytes",
            src.addr, control.load3d_boundary);
  }
  for (uint32_t i = 0; i < repeats; ++i) {
    Part part;
    part.first_row = d.mStartPt + (along_k ? 0 : int64_t{i} * stride * kSide);
    // Rows below the last output position stay as they are: undefined, unless something else wrote.
    part.last_row = std::min<int64_t>(part.first_row + d.mExtension, columns.rows());
    part.first_block = d.kStartPt / c0 + (along_k ? uint64_t{i} * stride : 0);
    part.blocks = blocks;
    part.to_row = along_k ? 0 : uint64_t{i} * m_tiles * kSide;
    part.to_block = along_k ? uint64_t{i} * blocks : 0;
    if (part.first_block + blocks > all_blocks) {
      in.trap(TrapKind::IllegalArgument,
              "kStartPt + kExtension ends at block %llu of %llu blocks of channels",
              static_cast<unsigned long long>(part.first_block + blocks),
              static_cast<unsigned long long>(all_blocks));
    }
    if (in.timing_only()) {
      const auto rows = static_cast<uint64_t>(std::max<int64_t>(part.last_row - part.first_row, 0));
      in.span(dst.buffer, dst.addr, ceil_div(part.to_row + rows, kSide) * place.blocks * kFractal);
      require_bounds(in, source, columns, part);
    } else {
      move_part(in, dst, source, columns, place, part, c0);
    }
    note_layout(in, dst, source, columns, place, map, d, part, type);
  }
  Work w;
  w.kind = WorkKind::Move;
  w.path = to_l0b ? Path::L1ToL0b : Path::L1ToL0a;
  w.dtype = type;
  w.bytes = place.m_tiles * kSide * place.blocks * kBlock;
  in.work(w);
}

void set_fmatrix(bool right, uint32_t l1H, uint32_t l1W, const uint8_t padList[4]) {
  Instruction in(Pipe::S, "SetFmatrix");
  require_feature(in, Feature::LoadData3Dv2);
  in.require_range("l1H", l1H, 0, 32767);
  in.require_range("l1W", l1W, 0, 32767);
  FeatureMap f;
  f.h = l1H;
  f.w = l1W;
  f.left = padList[0];
  f.right = padList[1];
  f.top = padList[2];
  f.bottom = padList[3];
  ControlState& control = in.core().control;
  (right ? control.fmatrix_b : control.fmatrix_a) = pack(f);
}

void set_load_padding(uint64_t value) {
  Instruction in(Pipe::S, "SetLoadDataPaddingValue");
  require_feature(in, Feature::LoadData3Dv2);
  in.core().control.load_padding = value;
}

void set_load3d_boundary(uint32_t bytes) {
  Instruction in(Pipe::S, "SetLoadDataBoundary");
  require_feature(in, Feature::LoadData3Dv2);
  if (bytes != 0) {
    in.require_range("boundaryValue", bytes, 1024, in.core().size_of(Buffer::L1));
    if (bytes % kBlock != 0) {
      in.trap(TrapKind::IllegalArgument, "boundaryValue is %u, no multiple of %u", bytes, kBlock);
    }
  }
  in.core().control.load3d_boundary = bytes;
}

void set_load3d_repeat(uint32_t repeatStride, uint32_t repeatTime, uint32_t repeatMode) {
  Instruction in(Pipe::S, "SetLoadDataRepeat");
  require_feature(in, Feature::LoadData3Dv2);
  in.require_range("repeatStride", repeatStride, 0, 65535);
  in.require_range("repeatTime", repeatTime, 0, 255);
  in.require_range("repeatMode", repeatMode, 0, 1);
  in.core().control.load3d_repeat =
      uint64_t{repeatStride} | uint64_t{repeatTime} << 16 | uint64_t{repeatMode} << 24;
}

}  // namespace dav
