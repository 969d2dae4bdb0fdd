// Loads and stores of the scalar unit.
#include <cinttypes>
#include <cstring>

#include "core/call_site.h"
#include "core/core.h"
#include "core/instruction.h"
#include "core/launch_state.h"
#include "dav/abi_scalar.h"
#include "dav/abi_sync.h"

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
  if (buffer == Buffer::GM && in.checking()) {
    return in.core().tracker->cached_load(in.core().id(), in.name(), in.site(), addr, bytes,
                                          in.span(buffer, addr, bytes));
  }
  uint64_t value = 0;
  std::memcpy(&value, in.read(buffer, addr, bytes), bytes);
  return value;
}

void scalar_store(Buffer buffer, uint64_t addr, uint32_t bytes, uint64_t value) {
  Instruction in(Pipe::S, "SetValue");
  require_scalar_port(in, buffer, addr, bytes);
  if (buffer == Buffer::GM && in.checking()) {
    in.core().tracker->cached_store(in.core().id(), in.name(), in.site(), addr, bytes,
                                    in.span(buffer, addr, bytes), value);
    return;
  }
  std::memcpy(in.write(buffer, addr, bytes), &value, bytes);
}

namespace {

// Memory that other threads poll: whole values, in order.
uint64_t atomic_load(const std::byte* at, uint32_t bytes) {
  switch (bytes) {
    case 1:
      return __atomic_load_n(reinterpret_cast<const uint8_t*>(at), __ATOMIC_ACQUIRE);
    case 2:
      return __atomic_load_n(reinterpret_cast<const uint16_t*>(at), __ATOMIC_ACQUIRE);
    case 4:
      return __atomic_load_n(reinterpret_cast<const uint32_t*>(at), __ATOMIC_ACQUIRE);
    default:
      return __atomic_load_n(reinterpret_cast<const uint64_t*>(at), __ATOMIC_ACQUIRE);
  }
}

void atomic_store(std::byte* at, uint32_t bytes, uint64_t value) {
  switch (bytes) {
    case 1:
      return __atomic_store_n(reinterpret_cast<uint8_t*>(at), static_cast<uint8_t>(value),
                              __ATOMIC_RELEASE);
    case 2:
      return __atomic_store_n(reinterpret_cast<uint16_t*>(at), static_cast<uint16_t>(value),
                              __ATOMIC_RELEASE);
    case 4:
      return __atomic_store_n(reinterpret_cast<uint32_t*>(at), static_cast<uint32_t>(value),
                              __ATOMIC_RELEASE);
    default:
      return __atomic_store_n(reinterpret_cast<uint64_t*>(at), value, __ATOMIC_RELEASE);
  }
}

void note_signal(const Instruction& in, Access access, uint64_t addr, uint32_t bytes) {
  const Core& core = in.core();
  if (core.tracker == nullptr) return;
  core.tracker->access(core.id(), Pipe::S, in.name(), capture_site(), access, Buffer::GM, addr,
                       bytes);
}

}  // namespace

uint64_t signal_load(uint64_t addr, uint32_t bytes) {
  poll();
  Instruction in(Pipe::S, "ReadGmByPassDCache");
  require_scalar_port(in, Buffer::GM, addr, bytes);
  const uint64_t value = atomic_load(in.span(Buffer::GM, addr, bytes), bytes);
  note_signal(in, Access::SignalLoad, addr, bytes);
  return value;
}

void signal_store(uint64_t addr, uint32_t bytes, uint64_t value) {
  Instruction in(Pipe::S, "WriteGmByPassDCache");
  require_scalar_port(in, Buffer::GM, addr, bytes);
  std::byte* at = in.span(Buffer::GM, addr, bytes);
  note_signal(in, Access::SignalStore, addr, bytes);
  atomic_store(at, bytes, value);
}

}  // namespace dav
