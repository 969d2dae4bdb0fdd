// DataCopy in bursts of 32-byte blocks.
#include <cstring>

#include "dav/abi_cube.h"
#include "dav/float16.h"
#include "isa/cube_common.h"

namespace dav {
namespace {

using namespace cube;

void require_limits(const Instruction& in, const BurstDesc& d) {
  in.require_range("blockCount", d.blockCount, 0, kMaxBursts);
  in.require_range("blockLen", d.blockLen, 0, 65535);
  in.require_range("srcGap", d.srcGap, 0, 65535);
  in.require_range("dstGap", d.dstGap, 0, 65535);
}

Work move_work(Path path, const BurstDesc& d, uint64_t gm_addr, uint32_t gm_gap) {
  Work w;
  w.kind = WorkKind::Move;
  w.path = path;
  w.bytes = uint64_t{d.blockCount} * d.blockLen * kBlock;
  w.bursts = gm_gap == 0 ? 1 : d.blockCount;
  w.gm_addr = gm_addr;
  w.gm_stride = (uint64_t{d.blockLen} + gm_gap) * kBlock;
  return w;
}

Pieces pieces_of(const BurstDesc& d) {
  Pieces p;
  p.count = d.blockCount;
  p.bytes = uint64_t{d.blockLen} * kBlock;
  p.src_step = p.bytes + uint64_t{d.srcGap} * kBlock;
  p.dst_step = p.bytes + uint64_t{d.dstGap} * kBlock;
  return p;
}

// A bias row, 64 bytes of L1 per unit. half widens to the float the table holds.
void copy_to_bias_table(Local dst, DType dst_type, Local src, DType src_type, const BurstDesc& d) {
  Instruction in(Pipe::MTE1, "DataCopy");
  require_feature(in, Feature::MmadBias);
  require_limits(in, d);
  in.require_aligned(dst.buffer, dst.addr, 64, "dst");
  in.require_aligned(src.buffer, src.addr, kBlock, "src");
  const bool widen = dst_type == DType::F32 && src_type == DType::F16;
  if (!widen && !(dst_type == src_type && (dst_type == DType::F32 || dst_type == DType::I32))) {
    in.trap(TrapKind::UnsupportedType, "the bias table takes no %s from %s", type_name(dst_type),
            type_name(src_type));
  }
  if (d.blockCount == 0 || d.blockLen == 0) return;
  // The length counts what is read (catlass's biased product passes n halves over 32); twice the
  // bytes are written when they widen.
  const uint64_t in_bytes = uint64_t{d.blockLen} * 64;
  const uint64_t out_bytes = widen ? in_bytes * 2 : in_bytes;
  for (uint32_t i = 0; i < d.blockCount; ++i) {
    const uint64_t from = src.addr + i * (in_bytes + uint64_t{d.srcGap} * kBlock);
    const uint64_t to = dst.addr + i * (out_bytes + uint64_t{d.dstGap} * 64);
    if (!widen) {
      move_piece(in, dst.buffer, to, src.buffer, from, out_bytes);
      continue;
    }
    const std::byte* halves = in.read(src.buffer, from, in_bytes);
    std::byte* floats = in.write(dst.buffer, to, out_bytes);
    for (uint64_t e = 0; e < in_bytes / 2; ++e) {
      Half h;
      std::memcpy(&h, halves + e * 2, 2);
      const float f = h;
      std::memcpy(floats + e * 4, &f, 4);
    }
  }
  Work w;
  w.kind = WorkKind::Move;
  w.path = Path::L1ToBt;
  w.bytes = out_bytes * d.blockCount;
  in.work(w);
}

// Quantisation factors, 128 bytes per unit; both gaps run from start to start.
void copy_to_fixpipe_buffer(Local dst, DType type, Local src, const BurstDesc& d) {
  Instruction in(Pipe::FIX, "DataCopy");
  require_limits(in, d);
  in.require_aligned(dst.buffer, dst.addr, 128, "dst");
  in.require_aligned(src.buffer, src.addr, kBlock, "src");
  if (type != DType::U64) {
    in.trap(TrapKind::UnsupportedType, "the Fixpipe buffer holds uint64_t, not %s",
            type_name(type));
  }
  if (d.blockCount == 0 || d.blockLen == 0) return;
  const uint64_t bytes = uint64_t{d.blockLen} * 128;
  for (uint32_t i = 0; i < d.blockCount; ++i) {
    move_piece(in, dst.buffer, dst.addr + uint64_t{i} * d.dstGap * 128, src.buffer,
               src.addr + uint64_t{i} * d.srcGap * kBlock, bytes);
  }
  Work w;
  w.kind = WorkKind::Move;
  w.path = Path::L1ToFb;
  w.bytes = bytes * d.blockCount;
  in.work(w);
}

}  // namespace

void data_copy_in(Local dst, uint64_t src, DType type, const BurstDesc& d) {
  Instruction in(Pipe::MTE2, "DataCopy");
  if (dst.buffer != Buffer::UB && dst.buffer != Buffer::L1) {
    refuse_path(in, dst.buffer, Buffer::GM);
  }
  require_buffer(in, dst, dst.buffer, "dst");
  require_limits(in, d);
  in.require_aligned(dst.buffer, dst.addr, kBlock, "dst");
  // Into L1 any byte address will do, into UB it has to be an element's.
  if (dst.buffer == Buffer::UB) in.require_aligned(Buffer::GM, src, size_of(type), "src");
  if (d.blockCount == 0 || d.blockLen == 0) return;
  move_pieces(in, dst.buffer, dst.addr, Buffer::GM, src, pieces_of(d));
  in.work(move_work(dst.buffer == Buffer::UB ? Path::GmToUb : Path::GmToL1, d, src, d.srcGap));
}

void data_copy_out(uint64_t dst, Local src, DType type, const BurstDesc& d) {
  Instruction in(Pipe::MTE3, "DataCopy");
  const bool from_l1 = src.buffer == Buffer::L1 && !is_coupled(in);
  if (src.buffer != Buffer::UB && !from_l1) refuse_path(in, Buffer::GM, src.buffer);
  require_buffer(in, src, src.buffer, "src");
  require_limits(in, d);
  in.require_aligned(src.buffer, src.addr, kBlock, "src");
  in.require_aligned(Buffer::GM, dst, size_of(type), "dst");
  if (d.blockCount == 0 || d.blockLen == 0) return;
  const Pieces p = pieces_of(d);
  const bool joined = p.src_step == p.bytes && p.dst_step == p.bytes;
  const uint64_t count = joined ? 1 : p.count;
  const uint64_t bytes = joined ? p.bytes * p.count : p.bytes;
  for (uint64_t i = 0; i < count; ++i) {
    store_gm(in, dst + i * p.dst_step, in.read(src.buffer, src.addr + i * p.src_step, bytes),
             bytes);
  }
  Work w = move_work(src.buffer == Buffer::UB ? Path::UbToGm : Path::L1ToGm, d, dst, d.dstGap);
  w.atomic = stores_combine(in);
  in.work(w);
}

void data_copy_local(Local dst, DType dst_type, Local src, DType src_type, const BurstDesc& d) {
  if (dst.buffer == Buffer::BT && src.buffer == Buffer::L1) {
    copy_to_bias_table(dst, dst_type, src, src_type, d);
    return;
  }
  if (dst.buffer == Buffer::FB && src.buffer == Buffer::L1) {
    copy_to_fixpipe_buffer(dst, dst_type, src, d);
    return;
  }
  const bool to_l1 = dst.buffer == Buffer::L1;
  Instruction in(to_l1 ? Pipe::MTE3 : Pipe::V, "DataCopy");
  if (src.buffer != Buffer::UB || (dst.buffer != Buffer::UB && !to_l1)) {
    refuse_path(in, dst.buffer, src.buffer);
  }
  if (to_l1 && !in.core().chip().has(Feature::UbToL1)) refuse_path(in, dst.buffer, src.buffer);
  require_buffer(in, src, src.buffer, "src");
  require_buffer(in, dst, dst.buffer, "dst");
  if (dst_type != src_type) {
    in.trap(TrapKind::UnsupportedType, "this path converts no %s to %s", type_name(src_type),
            type_name(dst_type));
  }
  require_limits(in, d);
  in.require_aligned(src.buffer, src.addr, kBlock, "src");
  in.require_aligned(dst.buffer, dst.addr, kBlock, "dst");
  if (d.blockCount == 0 || d.blockLen == 0) return;
  move_pieces(in, dst.buffer, dst.addr, src.buffer, src.addr, pieces_of(d));
  in.work(move_work(to_l1 ? Path::UbToL1 : Path::UbToUb, d, 0, 0));
}

}  // namespace dav
