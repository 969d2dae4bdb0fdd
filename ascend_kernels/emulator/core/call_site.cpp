#include "core/call_site.h"

#include <pthread.h>

#include <array>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/symbols.h"

namespace dav {
namespace {

constexpr size_t kDepth = 8;         // kernel frames kept
constexpr size_t kInnerFrames = 16;  // emulator frames that may lie inside of them

struct Stack {
  std::array<uintptr_t, kDepth> pc{};
  bool operator==(const Stack& o) const { return pc == o.pc; }
};

uint64_t hash_of(const Stack& s) {
  uint64_t h = 0;
  for (uintptr_t pc : s.pc) h = (h ^ pc) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

// Every stack ever seen; number n is entry n - 1.
class Sites {
 public:
  uint32_t number(const Stack& s, uint64_t hash) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto [first, last] = by_hash_.equal_range(hash);
    for (; first != last; ++first) {
      if (stacks_[first->second - 1] == s) return first->second;
    }
    stacks_.push_back(s);
    const auto number = static_cast<uint32_t>(stacks_.size());
    by_hash_.emplace(hash, number);
    return number;
  }
  bool find(uint32_t number, Stack* s) const {
    std::lock_guard<std::mutex> lock(mutex_);
    if (number == 0 || number > stacks_.size()) return false;
    *s = stacks_[number - 1];
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Stack> stacks_;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
};

Sites& sites() {
  static Sites* const s = new Sites;  // outlives every thread
  return *s;
}

struct Bounds {
  uintptr_t low = 0;
  uintptr_t high = 0;
};

Bounds thread_bounds() {
  Bounds b;
  pthread_attr_t attr;
  if (pthread_getattr_np(pthread_self(), &attr) != 0) return b;
  void* low = nullptr;
  size_t size = 0;
  if (pthread_attr_getstack(&attr, &low, &size) == 0) {
    b.low = reinterpret_cast<uintptr_t>(low);
    b.high = b.low + size;
  }
  pthread_attr_destroy(&attr);
  return b;
}

struct Slot {
  Stack stack;
  uint32_t number = 0;
};

thread_local Bounds own_bounds;
thread_local Bounds fiber_bounds;
// On the heap: a library opened at run time has to share a few hundred bytes of static TLS.
thread_local std::vector<Slot> recent(512);

const Bounds& bounds() {
  if (fiber_bounds.high != 0) return fiber_bounds;
  if (own_bounds.high == 0) own_bounds = thread_bounds();
  return own_bounds;
}

// A frame: the caller's frame pointer and the return address into the caller.
struct Frame {
  uintptr_t next;
  uintptr_t pc;
};

}  // namespace

void set_call_stack(const void* low, const void* high) {
  fiber_bounds = {reinterpret_cast<uintptr_t>(low), reinterpret_cast<uintptr_t>(high)};
}

__attribute__((noinline)) uint32_t capture_site() {
  const Bounds& stack_bounds = bounds();
  static const AddressRange emulator = text_of_this_library();
  Stack stack;
  size_t kept = 0;
  auto fp = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  for (size_t steps = 0; kept < kDepth && steps < kDepth + kInnerFrames; ++steps) {
    if (fp < stack_bounds.low || fp + sizeof(Frame) > stack_bounds.high ||
        fp % alignof(Frame) != 0) {
      break;
    }
    Frame frame;
    std::memcpy(&frame, reinterpret_cast<const void*>(fp), sizeof frame);
    if (frame.pc == 0) break;
    const bool ours = frame.pc - emulator.begin < emulator.end - emulator.begin;
    // The kernel's frames lie between those of the instruction and those of the launcher.
    if (ours && kept != 0) break;
    if (!ours) stack.pc[kept++] = frame.pc;
    if (frame.next <= fp) break;
    fp = frame.next;
  }
  if (kept == 0) return 0;
  const uint64_t hash = hash_of(stack);
  Slot& slot = recent[hash % recent.size()];
  if (slot.number == 0 || !(slot.stack == stack)) {
    slot.stack = stack;
    slot.number = sites().number(stack, hash);
  }
  return slot.number;
}

std::string describe_site(uint32_t site) {
  Stack stack;
  if (!sites().find(site, &stack)) return "";
  std::vector<CodeLine> code;
  for (uintptr_t pc : stack.pc) {
    if (pc == 0) break;
    // A return address is past its call, and may be past the line or even the function.
    const std::vector<CodeLine> lines = symbolize(pc - 1);
    code.insert(code.end(), lines.begin(), lines.end());
  }
  std::string text;
  for (const bool kernel : {true, false}) {
    for (const CodeLine& line : code) {
      if (line.kernel != kernel) continue;
      if (!text.empty()) text += '\n';
      text += line.text;
    }
    if (!text.empty()) break;
  }
  return text;
}

}  // namespace dav
