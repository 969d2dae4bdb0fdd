// DataCopyPad: bursts of any length in bytes, each starting on a 32-byte block of UB.
#include <cstring>

#include "dav/abi_cube.h"
#include "isa/cube_common.h"

namespace dav {
namespace {

using namespace cube;

constexpr int64_t kMaxPadBurst = 2097151;  // 21 bits
constexpr int64_t kMaxStride = 0xffffffff;

void require_limits(const Instruction& in, DType type, const PadBurstDesc& d) {
  in.require_range("blockCount", d.blockCount, 0, kMaxBursts);
  in.require_range("blockLen", d.blockLen, 0, kMaxPadBurst);
  in.require_range("srcStride", static_cast<int64_t>(d.srcStride), 0, kMaxStride);
  in.require_range("dstStride", static_cast<int64_t>(d.dstStride), 0, kMaxStride);
  if (d.blockLen % size_of(type) != 0) {
    in.trap(TrapKind::IllegalArgument, "blockLen is %u bytes, no whole number of %s elements",
            d.blockLen, type_name(type));
  }
}

void fill(std::byte* at, uint64_t bytes, const std::byte* element, uint32_t size) {
  for (uint64_t i = 0; i < bytes; ++i) at[i] = element[i % size];
}

Work pad_work(Path path, const PadBurstDesc& d, uint64_t gm_addr, uint64_t gm_gap) {
  Work w;
  w.kind = WorkKind::Move;
  w.path = path;
  w.bytes = uint64_t{d.blockCount} * d.blockLen;
  w.bursts = gm_gap == 0 ? 1 : d.blockCount;
  w.gm_addr = gm_addr;
  w.gm_stride = d.blockLen + gm_gap;
  return w;
}

}  // namespace

void data_copy_pad_in(Local dst, uint64_t src, DType type, const PadBurstDesc& d,
                      const PadDesc& pad) {
  Instruction in(Pipe::MTE2, "DataCopyPad");
  require_feature(in, Feature::DataCopyPad);
  if (dst.buffer != Buffer::UB) refuse_path(in, dst.buffer, Buffer::GM);
  require_buffer(in, dst, Buffer::UB, "dst");
  require_limits(in, type, d);
  in.require_aligned(Buffer::UB, dst.addr, kBlock, "dst");
  const uint32_t size = size_of(type);
  const uint32_t left = pad.leftPadding * size, right = pad.rightPadding * size;
  in.require_range("leftPadding in bytes", left, 0, kBlock);
  in.require_range("rightPadding in bytes", right, 0, kBlock);
  if (size == 8 && pad.isPad && pad.paddingValue != 0) {
    in.trap(TrapKind::IllegalArgument, "paddingValue of 64-bit elements has to be 0");
  }
  if (d.blockCount == 0 || d.blockLen == 0) return;

  // The library writes the value to the register that SetPadValue writes, where it stays.
  if (pad.isPad) {
    in.core().control.pad_value = pad.paddingValue;
    in.core().pad_value_set = true;
  }
  const uint64_t value = in.core().control.pad_value;
  // Elements of eight bytes travel as two of four.
  const uint32_t unit = size == 8 ? 4 : size;
  const uint64_t used = left + d.blockLen + right;
  const uint64_t padded = round_up(used, kBlock);
  for (uint64_t i = 0; i < d.blockCount; ++i) {
    const uint64_t from = src + i * (d.blockLen + d.srcStride);
    const uint64_t to = dst.addr + i * (padded + d.dstStride * kBlock);
    const std::byte* data = in.read(Buffer::GM, from, d.blockLen);
    std::byte* out = in.write(Buffer::UB, to, padded);
    if (in.timing_only()) continue;
    std::memcpy(out + left, data, d.blockLen);
    std::byte element[8];
    std::memcpy(element, &value, sizeof element);
    fill(out, left, element, unit);
    // Without padding asked for, what completes the last block repeats the burst's first element.
    const bool dummy = left == 0 && right == 0;
    if (dummy) std::memcpy(element, data, unit);
    fill(out + left + d.blockLen, padded - left - d.blockLen, element, unit);
    if (dummy || in.core().pad_value_set) continue;
    if (left != 0) in.set_undefined(Buffer::UB, to, left);
    in.set_undefined(Buffer::UB, to + left + d.blockLen, padded - left - d.blockLen);
  }
  in.work(pad_work(Path::GmToUb, d, src, d.srcStride));
}

void data_copy_pad_out(uint64_t dst, Local src, DType type, const PadBurstDesc& d) {
  Instruction in(Pipe::MTE3, "DataCopyPad");
  require_feature(in, Feature::DataCopyPad);
  if (src.buffer != Buffer::UB) refuse_path(in, Buffer::GM, src.buffer);
  require_buffer(in, src, Buffer::UB, "src");
  require_limits(in, type, d);
  in.require_aligned(Buffer::UB, src.addr, kBlock, "src");
  if (d.blockCount == 0 || d.blockLen == 0) return;
  const uint64_t padded = round_up(d.blockLen, kBlock);
  for (uint64_t i = 0; i < d.blockCount; ++i) {
    const uint64_t from = src.addr + i * (padded + d.srcStride * kBlock);
    store_gm(in, dst + i * (d.blockLen + d.dstStride), in.read(Buffer::UB, from, d.blockLen),
             d.blockLen);
  }
  Work w = pad_work(Path::UbToGm, d, dst, d.dstStride);
  w.atomic = stores_combine(in);
  in.work(w);
}

void set_pad_value(uint64_t value) {
  Instruction in(Pipe::S, "SetPadValue");
  require_feature(in, Feature::DataCopyPad);
  in.core().control.pad_value = value;
  in.core().pad_value_set = true;
}

}  // namespace dav
