// Fixpipe: results out of L0C, converted on the way, as rows of a matrix or as NZ.
#include <algorithm>
#include <cstring>
#include <vector>

#include "dav/abi_cube.h"
#include "isa/cube_common.h"
#include "isa/fixpipe_convert.h"
#include "isa/fractals.h"

namespace dav {
namespace {

using namespace cube;

constexpr uint32_t kElement = 4;  // bytes of an element of L0C
constexpr uint32_t kRow = kSide * kElement;

struct Target {
  Buffer buffer = Buffer::GM;
  uint64_t addr = 0;
  DType type = DType::F32;
};

void require_arguments(const Instruction& in, const Target& dst, Local src, DType src_type,
                       const FixpipeDesc& d) {
  require_buffer(in, src, Buffer::L0C, "src");
  if (dst.buffer != Buffer::GM && dst.buffer != Buffer::L1) {
    refuse_path(in, dst.buffer, Buffer::L0C);
  }
  require_conversion(in, d.quant, dst.type, src_type, dst.buffer == Buffer::L1);
  in.require_aligned(Buffer::L0C, src.addr, 64, "src");
  in.require_range("nSize", d.nSize, 0, 4095);
  in.require_range("mSize", d.mSize, 0, d.nz2nd ? 8192 : 65535);
  in.require_range("srcStride", d.srcStride, 0, 65535);
  if (d.nSize == 0 || d.mSize == 0) return;
  in.require_range("dstStride", d.dstStride, 1, 0xffffffff);
  if (d.nz2nd) {
    in.require_range("ndNum", d.ndNum, 0, 65535);
    if (d.ndNum > 1) in.require_range("srcNdStride", d.srcNdStride, 0, 512);
    if (d.ndNum > 1) in.require_range("dstNdStride", d.dstNdStride, 0, 65535);
    if (d.channelSplit) {
      in.trap(TrapKind::IllegalArgument, "channelSplit and NZ to ND exclude each other");
    }
    return;
  }
  in.require_aligned(dst.buffer, dst.addr, kBlock, "dst");
  const uint32_t multiple = d.channelSplit ? 8 : kSide;
  if (d.nSize % multiple != 0) {
    in.trap(TrapKind::IllegalArgument, "nSize is %u, NZ output takes multiples of %u", d.nSize,
            multiple);
  }
  if (!d.channelSplit) return;
  if (dst.type != DType::F32 || src_type != DType::F32 || dst.buffer != Buffer::GM ||
      d.unitFlag != 0) {
    in.trap(TrapKind::IllegalArgument, "channelSplit takes float to float in GM, without unitFlag");
  }
}

// The quantisation words: one, or one per column.
std::vector<uint64_t> load_factors(Instruction& in, const FixpipeDesc& d) {
  std::vector<uint64_t> factors(1, d.quant_scalar);
  if (takes_vector(d.quant)) {
    factors.resize(d.nSize);
    const uint64_t bytes = uint64_t{d.nSize} * 8;
    std::memcpy(factors.data(), in.read(d.quant_vector.buffer, d.quant_vector.addr, bytes), bytes);
  }
  if (in.timing_only() || !(takes_vector(d.quant) || takes_scalar(d.quant))) return factors;
  for (size_t i = 0; i < factors.size(); ++i) {
    // Bits 13 to 31 are the scale's: 10 of its mantissa below 8 of its exponent.
    const uint64_t exponent = factors[i] >> 23 & 0xff, mantissa = factors[i] >> 13 & 0x3ff;
    if (exponent != 255 && (exponent != 0 || mantissa == 0)) continue;
    in.trap(TrapKind::IllegalArgument, "quantisation factor %zu is infinite, NaN or subnormal", i);
  }
  return factors;
}

void store(Instruction& in, const Target& dst, uint64_t addr, const std::byte* data,
           uint64_t bytes) {
  if (dst.buffer == Buffer::GM) {
    store_gm(in, addr, data, bytes);
    return;
  }
  std::byte* to = in.write(dst.buffer, addr, bytes);
  if (!in.timing_only() && data != nullptr) std::memcpy(to, data, bytes);
}

// Row after row; the columns of fractals of a row are srcStride rows apart in L0C.
void write_rows(Instruction& in, const Target& dst, Local src, DType src_type,
                const FixpipeDesc& d) {
  const uint32_t size = size_of(dst.type);
  const uint32_t tiles = static_cast<uint32_t>(ceil_div(d.nSize, kSide));
  const uint64_t column_step = uint64_t{d.srcStride} * kRow;
  const std::vector<uint64_t> factors = load_factors(in, d);
  const bool converts = d.quant != Quant::None || d.relu;
  const bool saturated = d.quant != Quant::None && saturates(in);
  std::vector<std::byte> row(uint64_t{d.nSize} * size), gathered(uint64_t{tiles} * kRow);
  for (uint32_t nd = 0; nd < d.ndNum; ++nd) {
    const uint64_t from = src.addr + uint64_t{nd} * d.srcNdStride * kSide * kRow;
    const uint64_t to = dst.addr + uint64_t{nd} * d.dstNdStride * size;
    for (uint32_t tile = 0; tile < tiles; ++tile) {
      const uint64_t lanes = std::min<uint32_t>(kSide, d.nSize - tile * kSide);
      const uint64_t column = from + tile * column_step;
      in.span(Buffer::L0C, column, (d.mSize - 1) * uint64_t{kRow} + lanes * kElement);
      if (!in.checking()) continue;
      if (lanes == kSide) {
        in.note_read(Buffer::L0C, column, uint64_t{d.mSize} * kRow);
        continue;
      }
      for (uint32_t r = 0; r < d.mSize; ++r) {
        in.note_read(Buffer::L0C, column + uint64_t{r} * kRow, lanes * kElement);
      }
    }
    const std::byte* base = in.span(Buffer::L0C, from, 0);
    for (uint32_t r = 0; r < d.mSize; ++r) {
      if (in.timing_only()) {
        store(in, dst, to + uint64_t{r} * d.dstStride * size, nullptr, row.size());
        continue;
      }
      for (uint32_t tile = 0; tile < tiles; ++tile) {
        std::memcpy(gathered.data() + tile * kRow, base + tile * column_step + uint64_t{r} * kRow,
                    std::min<uint64_t>(kSide, d.nSize - tile * kSide) * kElement);
      }
      const std::byte* data = gathered.data();
      if (converts) {
        convert_row(d.quant, d.relu, dst.type, src_type, factors.data(), data, row.data(), d.nSize);
        if (saturated) saturate_row(dst.type, row.data(), d.nSize);
        data = row.data();
      }
      store(in, dst, to + uint64_t{r} * d.dstStride * size, data, row.size());
    }
  }
}

// Columns of 32-byte blocks (64 where float stays whole, 16 for a last lone column of bytes),
// dstStride blocks apart. Bytes pair two columns of fractals, channelSplit halves one.
void write_nz(Instruction& in, const Target& dst, Local src, DType src_type, const FixpipeDesc& d) {
  const uint32_t size = size_of(dst.type);
  const uint32_t width = d.channelSplit ? 8 : size == 1 ? 2 * kSide : kSide;
  const uint64_t column_step = uint64_t{d.srcStride} * kRow;
  const std::vector<uint64_t> factors = load_factors(in, d);
  const bool vector = takes_vector(d.quant);
  const bool saturated = d.quant != Quant::None && saturates(in);
  std::vector<std::byte> column(uint64_t{d.mSize} * width * size);
  for (uint32_t first = 0, index = 0; first < d.nSize; first += width, ++index) {
    const uint32_t lanes = std::min(width, d.nSize - first);
    for (uint32_t done = 0; done < lanes;) {
      const uint32_t lane = first + done;
      const uint32_t part = std::min({lanes - done, kSide - lane % kSide, kSide});
      const uint64_t from =
          src.addr + lane / kSide * column_step + uint64_t{lane % kSide} * kElement;
      const uint64_t extent = (d.mSize - 1) * uint64_t{kRow} + uint64_t{part} * kElement;
      const std::byte* base = in.span(Buffer::L0C, from, extent);
      // Lanes that Mmad left undefined may travel: NZ output takes whole fractals.
      if (in.checking()) in.note_move(Buffer::L0C, from, extent);
      for (uint32_t r = 0; r < d.mSize && !in.timing_only(); ++r) {
        convert_row(d.quant, d.relu, dst.type, src_type, factors.data() + (vector ? lane : 0),
                    base + uint64_t{r} * kRow, column.data() + (uint64_t{r} * lanes + done) * size,
                    part);
      }
      done += part;
    }
    if (saturated) saturate_row(dst.type, column.data(), uint64_t{d.mSize} * lanes);
    store(in, dst, dst.addr + uint64_t{index} * d.dstStride * kBlock, column.data(),
          uint64_t{d.mSize} * lanes * size);
  }
  if (dst.buffer != Buffer::L1 || width * size != kBlock || d.nSize % width != 0) return;
  note_nz(in, {dst.addr, d.mSize, d.nSize / width, kBlock, uint64_t{d.dstStride} * kBlock});
}

void run(Instruction& in, const Target& dst, Local src, DType src_type, const FixpipeDesc& d) {
  require_feature(in, Feature::Fixpipe);
  if (in.core().chip().arch != Arch::Dav2201) {
    in.trap(TrapKind::UnsupportedOp, "the emulator has arch 2201's Fixpipe only");
  }
  require_arguments(in, dst, src, src_type, d);
  if (d.nSize == 0 || d.mSize == 0 || (d.nz2nd && d.ndNum == 0)) return;
  use_unit_flag(in, d.unitFlag);
  for (uint32_t nd = 0; nd < (d.nz2nd ? d.ndNum : 1); ++nd) {
    const uint64_t matrix = src.addr + uint64_t{nd} * d.srcNdStride * kSide * kRow;
    require_results(in,
                    {d.nz2nd ? matrix : src.addr, kElement, d.mSize, ceil_div(d.nSize, kSide),
                     uint64_t{d.srcStride} * kRow},
                    "srcStride");
  }
  if (d.nz2nd) {
    write_rows(in, dst, src, src_type, d);
  } else {
    write_nz(in, dst, src, src_type, d);
  }
  const uint32_t size = size_of(dst.type);
  const uint32_t matrices = d.nz2nd ? d.ndNum : 1;
  Work w;
  w.kind = WorkKind::Move;
  w.path = dst.buffer == Buffer::GM ? Path::L0cToGm : Path::L0cToL1;
  w.dtype = dst.type;
  w.unit_flag = static_cast<uint8_t>(d.unitFlag);
  w.l0c_addr = src.addr;
  w.bytes = uint64_t{d.mSize} * d.nSize * size * matrices;
  if (dst.buffer == Buffer::GM) {
    w.gm_addr = dst.addr;
    const uint32_t columns = static_cast<uint32_t>(ceil_div(d.nSize, kSide));
    w.bursts = d.nz2nd ? (d.dstStride == d.nSize ? matrices : d.mSize * matrices) : columns;
    w.gm_stride = d.nz2nd ? uint64_t{d.dstStride} * size : uint64_t{d.dstStride} * kBlock;
    w.atomic = stores_combine(in);
  }
  in.work(w);
}

uint64_t nd_registers(uint32_t number, uint32_t src_stride, uint32_t dst_stride) {
  return uint64_t{number} | uint64_t{src_stride} << 16 | uint64_t{dst_stride} << 32;
}

// Fixpipe leaves its factor in the register that DataCopy out of L0C reads, and takes the place of
// a vector of factors from there.
FixpipeDesc through_registers(ControlState& control, FixpipeDesc d) {
  if (takes_scalar(d.quant)) control.fixpipe_quant = d.quant_scalar;
  d.quant_vector = {Buffer::FB, static_cast<uint32_t>(control.fixpipe_quant_addr)};
  return d;
}

// Parameters that DataCopy out of L0C keeps in registers.
FixpipeDesc with_registers(const ControlState& control, FixpipeDesc d) {
  d.ndNum = static_cast<uint32_t>(control.fixpipe_nz2nd & 0xffff);
  d.srcNdStride = static_cast<uint32_t>(control.fixpipe_nz2nd >> 16 & 0xffff);
  d.dstNdStride = static_cast<uint32_t>(control.fixpipe_nz2nd >> 32 & 0xffff);
  d.quant_scalar = control.fixpipe_quant;
  d.quant_vector = {Buffer::FB, static_cast<uint32_t>(control.fixpipe_quant_addr)};
  return d;
}

}  // namespace

void fixpipe_to_gm(uint64_t dst, DType dst_type, Local src, DType src_type, const FixpipeDesc& d) {
  Instruction in(Pipe::FIX, "Fixpipe");
  ControlState& control = in.core().control;
  if (d.nz2nd) control.fixpipe_nz2nd = nd_registers(d.ndNum, d.srcNdStride, d.dstNdStride);
  run(in, {Buffer::GM, dst, dst_type}, src, src_type, through_registers(control, d));
}

void fixpipe_to_l1(Local dst, DType dst_type, Local src, DType src_type, const FixpipeDesc& d) {
  Instruction in(Pipe::FIX, "Fixpipe");
  FixpipeDesc nz = through_registers(in.core().control, d);
  nz.nz2nd = false;  // has no effect on this path
  run(in, {dst.buffer, dst.addr, dst_type}, src, src_type, nz);
}

void l0c_copy_to_gm(uint64_t dst, DType dst_type, Local src, DType src_type, const FixpipeDesc& d) {
  Instruction in(Pipe::FIX, "DataCopy");
  const FixpipeDesc full = with_registers(in.core().control, d);
  if (full.nz2nd && full.ndNum == 0) {
    in.trap(TrapKind::IllegalArgument, "SetFixpipeNz2ndFlag has to come before nz2ndEn");
  }
  run(in, {Buffer::GM, dst, dst_type}, src, src_type, full);
}

void l0c_copy_to_l1(Local dst, DType dst_type, Local src, DType src_type, const FixpipeDesc& d) {
  Instruction in(Pipe::FIX, "DataCopy");
  FixpipeDesc full = with_registers(in.core().control, d);
  full.nz2nd = false;
  run(in, {dst.buffer, dst.addr, dst_type}, src, src_type, full);
}

void set_fixpipe_nz2nd(uint32_t ndNum, uint32_t srcNdStride, uint32_t dstNdStride) {
  Instruction in(Pipe::S, "SetFixpipeNz2ndFlag");
  require_feature(in, Feature::Fixpipe);
  in.require_range("ndNum", ndNum, 1, 65535);
  if (ndNum > 1) in.require_range("srcNdStride", srcNdStride, 1, 512);
  if (ndNum > 1) in.require_range("dstNdStride", dstNdStride, 1, 65535);
  in.core().control.fixpipe_nz2nd = nd_registers(ndNum, srcNdStride, dstNdStride);
}

void set_fixpipe_quant_scalar(uint64_t scalar) {
  Instruction in(Pipe::S, "SetFixpipePreQuantFlag");
  require_feature(in, Feature::Fixpipe);
  in.core().control.fixpipe_quant = scalar;
}

void set_fixpipe_quant_vector(Local vector) {
  Instruction in(Pipe::S, "SetFixPipeConfig");
  require_feature(in, Feature::Fixpipe);
  require_buffer(in, vector, Buffer::FB, "quantPre");
  in.core().control.fixpipe_quant_addr = vector.addr;
}

}  // namespace dav
