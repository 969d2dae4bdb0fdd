// The coupled chip's way out of L0C and back: whole 16x16 fractals, or their first rows, between
// L0C and UB on the vector pipe.
#include <cstring>

#include "dav/abi_cube.h"
#include "isa/cube_common.h"
#include "isa/fixpipe_convert.h"
#include "isa/fractals.h"

namespace dav {
namespace {

using namespace cube;

constexpr uint32_t kLanes = kSide * kSide;

void require_arguments(const Instruction& in, Local l0c, Local ub, const L0cToUbDesc& d) {
  require_feature(in, Feature::L0cToUb);
  if (!is_coupled(in)) {
    in.trap(TrapKind::UnsupportedOp, "%s leaves L0C through Fixpipe",
            in.core().chip().name.c_str());
  }
  require_buffer(in, l0c, Buffer::L0C, "operand in CO1");
  require_buffer(in, ub, Buffer::UB, "operand in CO2");
  in.require_range("blockCount", d.blockCount, 0, kMaxBursts);
  in.require_range("blockLen", d.blockLen, 0, 65535);
  in.require_range("srcStride", d.srcStride, 0, 65535);
  in.require_range("dstStride", d.dstStride, 0, 65535);
  if (d.quantised) {
    in.trap(TrapKind::UnsupportedOp, "the emulator has no deqScale on the way out of L0C");
  }
  in.require_aligned(Buffer::UB, ub.addr, kBlock, "operand in CO2");
}

Work copy_work(DType type, uint64_t bytes) {
  Work w;
  w.kind = WorkKind::Move;
  w.path = Path::L0cToUb;
  w.dtype = type;
  w.bytes = bytes;
  return w;
}

}  // namespace

void l0c_to_ub(Local dst, DType dst_type, Local src, DType src_type, const L0cToUbDesc& d) {
  Instruction in(Pipe::V, "DataCopy (L0C to UB)");
  require_arguments(in, src, dst, d);
  const bool same = dst_type == src_type && (src_type == DType::F16 || src_type == DType::F32 ||
                                             src_type == DType::I32 || src_type == DType::U32);
  const bool narrow = dst_type == DType::F16 && src_type == DType::F32;
  if (!same && !narrow) {
    in.trap(TrapKind::UnsupportedType, "no way from %s in L0C to %s in UB without deqScale",
            type_name(src_type), type_name(dst_type));
  }
  if (src_type == DType::U32 && d.relu) {
    in.trap(TrapKind::UnsupportedType, "isRelu takes no uint32_t");
  }
  const uint64_t fractal = uint64_t{kLanes} * size_of(src_type);
  in.require_aligned(Buffer::L0C, src.addr, static_cast<uint32_t>(fractal), "src");
  // A unit is a fractal, or the first row of one; units of a burst lie fractal after fractal.
  const uint64_t lanes = d.row_mode ? kSide : kLanes;
  const uint64_t in_bytes = lanes * size_of(src_type), out_bytes = lanes * size_of(dst_type);
  require_result_bursts(
      in,
      {src.addr, size_of(src_type), uint64_t{d.blockLen} * kSide,
       d.blockLen == 0 ? 0 : d.blockCount, (uint64_t{d.blockLen} + d.srcStride) * fractal},
      "srcStride");
  uint64_t from = src.addr, to = dst.addr;
  for (uint32_t i = 0; i < d.blockCount && d.blockLen != 0; ++i) {
    for (uint32_t unit = 0; unit < d.blockLen; ++unit, from += fractal, to += out_bytes) {
      if (same && !d.relu) {
        move_piece(in, Buffer::UB, to, Buffer::L0C, from, in_bytes);
        continue;
      }
      // Whole fractals travel, also the lanes that Mmad left undefined.
      const std::byte* data = in.span(Buffer::L0C, from, in_bytes);
      in.note_move(Buffer::L0C, from, in_bytes);
      std::byte* out = in.write(Buffer::UB, to, out_bytes);
      if (src_type == DType::F16) {
        // A set sign bit other than a NaN's is what ReLU clears.
        for (uint64_t e = 0; e < lanes; ++e) {
          uint16_t bits;
          std::memcpy(&bits, data + e * 2, 2);
          const bool nan = (bits & 0x7fff) > 0x7c00;
          if (!nan && (bits & 0x8000) != 0) bits = 0;
          std::memcpy(out + e * 2, &bits, 2);
        }
      } else {
        convert_row(narrow ? Quant::F16 : Quant::None, d.relu, dst_type, src_type, nullptr, data,
                    out, lanes);
      }
    }
    from += uint64_t{d.srcStride} * fractal;
    to += uint64_t{d.dstStride} * kBlock;
  }
  in.work(copy_work(src_type, uint64_t{d.blockCount} * d.blockLen * in_bytes));
}

void ub_to_l0c(Local dst, Local src, DType type, const L0cToUbDesc& d) {
  Instruction in(Pipe::V, "DataCopy (UB to L0C)");
  require_arguments(in, dst, src, d);
  if (type != DType::F16 && type != DType::F32 && type != DType::I32 && type != DType::U32) {
    in.trap(TrapKind::UnsupportedType, "L0C holds no %s", type_name(type));
  }
  const uint64_t fractal = uint64_t{kLanes} * size_of(type);
  in.require_aligned(Buffer::L0C, dst.addr, static_cast<uint32_t>(fractal), "dst");
  const uint64_t bytes = (d.row_mode ? kSide : kLanes) * uint64_t{size_of(type)};
  uint64_t from = src.addr, to = dst.addr;
  for (uint32_t i = 0; i < d.blockCount && d.blockLen != 0; ++i) {
    for (uint32_t unit = 0; unit < d.blockLen; ++unit, from += bytes, to += fractal) {
      move_piece(in, Buffer::L0C, to, Buffer::UB, from, bytes);
    }
    from += uint64_t{d.srcStride} * kBlock;
    to += uint64_t{d.dstStride} * fractal;
  }
  in.work(copy_work(type, uint64_t{d.blockCount} * d.blockLen * bytes));
}

}  // namespace dav
