// Fill (InitConstValue): one value over L1, L0A or L0B.
#include <cstring>

#include "dav/abi_cube.h"
#include "isa/cube_common.h"

namespace dav {

using namespace cube;

void fill_local(Local dst, DType type, const FillDesc& d) {
  const bool to_l1 = dst.buffer == Buffer::L1;
  Instruction in(to_l1 ? Pipe::MTE2 : Pipe::MTE1, "Fill");
  if (!to_l1 && dst.buffer != Buffer::L0A && dst.buffer != Buffer::L0B) {
    in.trap(TrapKind::UnsupportedPath, "Fill writes L1, L0A and L0B, not %s",
            to_string(dst.buffer));
  }
  require_buffer(in, dst, dst.buffer, "dst");
  const uint32_t size = size_of(type);
  if (size != 2 && size != 4) {
    in.trap(TrapKind::UnsupportedType, "Fill takes no %s", type_name(type));
  }
  in.require_range("repeatTimes", d.repeatTimes, 0, 32767);
  in.require_range("blockNum", d.blockNum, 0, 32767);
  in.require_range("dstGap", d.dstGap, 0, 32767);
  const uint32_t unit = to_l1 ? kBlock : kFractal;
  in.require_aligned(dst.buffer, dst.addr, unit, "dst");
  // The first generation knows repeats of one fractal, back to back, and half only.
  if (is_coupled(in) && type != DType::F16) {
    in.trap(TrapKind::UnsupportedType, "%s fills with half only", in.core().chip().name.c_str());
  }
  const uint64_t bytes = is_coupled(in) ? kFractal : uint64_t{d.blockNum} * unit;
  const uint64_t step = is_coupled(in) ? kFractal : bytes + uint64_t{d.dstGap} * unit;
  if (d.repeatTimes == 0 || bytes == 0) return;
  for (uint32_t i = 0; i < d.repeatTimes; ++i) {
    std::byte* out = in.write(dst.buffer, dst.addr + i * step, bytes);
    if (in.timing_only()) continue;
    for (uint64_t b = 0; b < bytes; b += size) std::memcpy(out + b, &d.value, size);
  }
  Work w;
  w.kind = WorkKind::Move;
  w.path = to_l1 ? Path::GmToL1 : dst.buffer == Buffer::L0A ? Path::L1ToL0a : Path::L1ToL0b;
  w.bytes = bytes * d.repeatTimes;
  w.dtype = type;
  // No byte of GM is touched: the cycle model charges the write port alone.
  w.bursts = 0;
  in.work(w);
}

}  // namespace dav
