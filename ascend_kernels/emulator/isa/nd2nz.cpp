// DataCopy with Nd2NzParams: rows of a matrix in GM to columns of 32-byte blocks in L1.
#include <algorithm>
#include <cstring>

#include "dav/abi_cube.h"
#include "isa/cube_common.h"
#include "isa/fractals.h"

namespace dav {
namespace {

using namespace cube;

void require_limits(const Instruction& in, const Nd2NzDesc& d) {
  in.require_range("ndNum", d.ndNum, 0, 4095);
  in.require_range("nValue", d.nValue, 0, 16384);
  in.require_range("dValue", d.dValue, 0, 65535);
  in.require_range("srcDValue", static_cast<int64_t>(d.srcDValue), 1, 65535);
  in.require_range("dstNzC0Stride", d.dstNzC0Stride, 1, 16384);
  in.require_range("dstNzNStride", d.dstNzNStride, 1, 16384);
  // The strides between matrices mean nothing when there is one.
  if (d.ndNum <= 1) return;
  in.require_range("srcNdMatrixStride", static_cast<int64_t>(d.srcNdMatrixStride), 0, 65535);
  in.require_range("dstNzMatrixStride", d.dstNzMatrixStride, 0, 16384);
}

}  // namespace

void nd_to_nz(Local dst, uint64_t src, DType type, const Nd2NzDesc& d) {
  Instruction in(Pipe::MTE2, "DataCopy (ND to NZ)");
  require_feature(in, Feature::HardwareNd2Nz);
  if (dst.buffer != Buffer::L1) refuse_path(in, dst.buffer, Buffer::GM);
  require_buffer(in, dst, Buffer::L1, "dst");
  const uint32_t size = size_of(type);
  if (size > 4) {
    in.trap(TrapKind::UnsupportedType, "ND to NZ takes no %s", type_name(type));
  }
  in.require_aligned(Buffer::L1, dst.addr, kBlock, "dst");
  if (d.ndNum == 0 || d.nValue == 0 || d.dValue == 0) return;
  require_limits(in, d);

  const uint64_t row_bytes = uint64_t{d.dValue} * size;
  const uint64_t columns = ceil_div(row_bytes, kBlock);
  const uint64_t whole = row_bytes / kBlock;
  const uint64_t rest = row_bytes % kBlock;
  const uint64_t column_step = uint64_t{d.dstNzC0Stride} * kBlock;
  const uint64_t row_step = uint64_t{d.dstNzNStride} * kBlock;
  // From the first to the last block of a column.
  const uint64_t column_bytes = (d.nValue - 1) * row_step + kBlock;
  for (uint64_t matrix = 0; matrix < d.ndNum; ++matrix) {
    const uint64_t from = src + matrix * d.srcNdMatrixStride * size;
    const uint64_t to = dst.addr + matrix * d.dstNzMatrixStride * size;
    in.require_aligned(Buffer::L1, to, kBlock, "start of a matrix in dst");
    std::byte* out = in.span(Buffer::L1, to, (columns - 1) * column_step + column_bytes);
    // Rows without gaps are one access to track.
    const bool dense = d.srcDValue == d.dValue;
    if (dense) in.read(Buffer::GM, from, row_bytes * d.nValue);
    for (uint64_t n = 0; n < d.nValue; ++n) {
      const uint64_t row_addr = from + n * d.srcDValue * size;
      const std::byte* row = dense ? in.span(Buffer::GM, row_addr, row_bytes)
                                   : in.read(Buffer::GM, row_addr, row_bytes);
      if (in.timing_only()) continue;
      std::byte* block = out + n * row_step;
      for (uint64_t j = 0; j < whole; ++j) {
        std::memcpy(block + j * column_step, row + j * kBlock, kBlock);
      }
      if (rest != 0) {
        std::byte* last = block + whole * column_step;
        std::memcpy(last, row + whole * kBlock, rest);
        std::memset(last + rest, 0, kBlock - rest);
      }
    }
    if (!in.checking()) continue;
    for (uint64_t j = 0; j < columns; ++j) {
      const uint64_t column = to + j * column_step;
      if (d.dstNzNStride == 1) {
        in.note_write(Buffer::L1, column, column_bytes);
        continue;
      }
      for (uint64_t n = 0; n < d.nValue; ++n) {
        in.note_write(Buffer::L1, column + n * row_step, kBlock);
      }
    }
    note_nz(in, {to, d.nValue, columns, row_step, column_step});
  }
  Work w;
  w.kind = WorkKind::Move;
  w.path = Path::GmToL1;
  w.dtype = type;
  w.bytes = row_bytes * d.nValue * d.ndNum;
  w.bursts = d.srcDValue == d.dValue ? d.ndNum : d.nValue * d.ndNum;
  w.gm_addr = src;
  w.gm_stride = d.srcDValue == d.dValue ? d.srcNdMatrixStride * size : d.srcDValue * size;
  in.work(w);
}

}  // namespace dav
