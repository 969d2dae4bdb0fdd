// Loads and stores of the scalar unit.
#include <cinttypes>
#include <cstring>

#include "core/core.h"
#include "core/instruction.h"
#include "core/launch_state.h"
#include "dav/abi_scalar.h"

namespace dav {
namespace {

// The scalar unit reaches GM, UB, and, on the cube side, L1; L0A, L0B, L0C and the parameter
// buffers have no scalar port.
void require_scalar_port(const Instruction& in, Buffer buffer, uint64_t addr, uint32_t bytes) {
  if (buffer != Buffer::GM && buffer != Buffer::UB && buffer != Buffer::L1) {
    in.trap(TrapKind::UnsupportedPath, "the scalar unit cannot reach %s", to_string(buffer));
  }
  in.require_aligned(buffer, addr, bytes, "element");
}

// Whether the host filled this memory before the launch and the kernel leaves it alone.
bool given(const Instruction& in, Buffer buffer, uint64_t addr) {
  if (buffer != Buffer::GM) return false;
  for (const Region& r : in.core().launch().spec().regions) {
    if (addr < r.addr || addr - r.addr >= r.bytes) continue;
    return r.role == RegionRole::Input || r.role == RegionRole::Tiling;
  }
  return false;
}

}  // namespace

uint64_t scalar_load(Buffer buffer, uint64_t addr, uint32_t bytes) {
  Instruction in(Pipe::S, "GetValue");
  require_scalar_port(in, buffer, addr, bytes);
  if (in.timing_only() && !given(in, buffer, addr)) in.require_data("the element read");
  uint64_t value = 0;
  std::memcpy(&value, in.read(buffer, addr, bytes), bytes);
  return value;
}

void scalar_store(Buffer buffer, uint64_t addr, uint32_t bytes, uint64_t value) {
  Instruction in(Pipe::S, "SetValue");
  require_scalar_port(in, buffer, addr, bytes);
  std::memcpy(in.write(buffer, addr, bytes), &value, bytes);
}

}  // namespace dav
