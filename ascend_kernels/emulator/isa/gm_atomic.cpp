#include "isa/gm_atomic.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <mutex>

#include "core/core.h"
#include "dav/abi_cube.h"
#include "dav/float16.h"
#include "isa/cube_common.h"

namespace dav {
namespace cube {
namespace {

// Elements within one line share a lock, so that a burst takes it once per line.
constexpr uint64_t kLine = 512;
constexpr size_t kLocks = 256;

std::mutex& lock_of(uint64_t addr) {
  static std::array<std::mutex, kLocks> locks;
  return locks[addr / kLine % kLocks];
}

// Which element types GM atomics take (Ascend C reference, SetAtomicAdd, SetAtomicMax).
bool atomic_takes(const Chip& chip, Atomic op, DType type) {
  if (chip.arch == Arch::Dav1001) return op == Atomic::Add && type == DType::F32;
  switch (type) {
    case DType::F32:
    case DType::F16:
    case DType::BF16:
    case DType::I32:
    case DType::I16:
    case DType::I8:
      return true;
    default:
      return false;
  }
}

void require_atomic(const Instruction& in, Atomic op, DType type) {
  if (atomic_takes(in.core().chip(), op, type)) return;
  in.trap(TrapKind::UnsupportedType, "%s has no such atomic store of %s",
          in.core().chip().name.c_str(), type_name(type));
}

// Integer sums saturate like the vector unit's; halves round once per store.
template <typename T>
T combine(Atomic op, T old, T value) {
  if (op == Atomic::Max) return value > old ? value : old;
  if (op == Atomic::Min) return value < old ? value : old;
  if constexpr (std::is_integral<T>::value) {
    const int64_t sum = static_cast<int64_t>(old) + static_cast<int64_t>(value);
    return static_cast<T>(
        std::clamp<int64_t>(sum, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else {
    return T(static_cast<float>(old) + static_cast<float>(value));
  }
}

template <typename T>
void combine_row(Atomic op, std::byte* memory, const std::byte* data, uint64_t bytes) {
  for (uint64_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T old, value;
    std::memcpy(&old, memory + i, sizeof(T));
    std::memcpy(&value, data + i, sizeof(T));
    old = combine(op, old, value);
    std::memcpy(memory + i, &old, sizeof(T));
  }
}

void combine_bytes(DType type, Atomic op, std::byte* memory, const std::byte* data,
                   uint64_t bytes) {
  switch (type) {
    case DType::F32:
      return combine_row<float>(op, memory, data, bytes);
    case DType::F16:
      return combine_row<Half>(op, memory, data, bytes);
    case DType::BF16:
      return combine_row<Bfloat16>(op, memory, data, bytes);
    case DType::I32:
      return combine_row<int32_t>(op, memory, data, bytes);
    case DType::I16:
      return combine_row<int16_t>(op, memory, data, bytes);
    default:
      return combine_row<int8_t>(op, memory, data, bytes);
  }
}

}  // namespace

void atomic_store(Instruction& in, uint64_t addr, const std::byte* data, uint64_t bytes) {
  const ControlState& control = in.core().control;
  require_atomic(in, control.atomic, control.atomic_type);
  const uint32_t size = size_of(control.atomic_type);
  in.require_aligned(Buffer::GM, addr, size, "dst of an atomic store");
  if (bytes % size != 0) {
    in.trap(TrapKind::IllegalArgument, "%llu bytes are no whole number of %s elements",
            static_cast<unsigned long long>(bytes), type_name(control.atomic_type));
  }
  std::byte* memory = in.span(Buffer::GM, addr, bytes);
  note_atomic(in, addr, bytes);
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t part = std::min(bytes - done, kLine - (addr + done) % kLine);
    const std::lock_guard<std::mutex> hold(lock_of(addr + done));
    combine_bytes(control.atomic_type, control.atomic, memory + done, data + done, part);
    done += part;
  }
}

}  // namespace cube

void set_atomic_type(DType type) {
  Instruction in(Pipe::S, "SetAtomicType");
  if (cube::is_coupled(in)) {
    in.trap(TrapKind::UnsupportedOp, "%s lacks this instruction", in.core().chip().name.c_str());
  }
  in.core().control.atomic_type = type;
}

}  // namespace dav
