#include "core/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/call_site.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace dav {
namespace {

// Wider than the frames of kernels, which may touch no more than their lowest end.
constexpr size_t kGuard = 256 * 1024;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kStack = 2048 * 1024;
#else
constexpr size_t kStack = 512 * 1024;
#endif

__attribute__((tls_model("initial-exec"))) thread_local Fiber* t_fiber = nullptr;

struct StackPool {
  std::mutex mutex;
  std::vector<std::byte*> free;
};

StackPool& stacks() {
  static StackPool* p = new StackPool;  // leaked, as cores may outlive static destruction
  return *p;
}

std::byte* take_stack() {
  {
    std::lock_guard<std::mutex> lock(stacks().mutex);
    if (!stacks().free.empty()) {
      std::byte* s = stacks().free.back();
      stacks().free.pop_back();
      return s;
    }
  }
  void* p = mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  mprotect(p, kGuard, PROT_NONE);
  return static_cast<std::byte*>(p);
}

}  // namespace

Fiber* current_fiber() { return t_fiber; }

Fiber::Fiber(std::function<void()> body, std::function<void(const Crash&)> crashed)
    : body_(std::move(body)), crashed_(std::move(crashed)), stack_(take_stack()) {
  getcontext(&own_);
  own_.uc_stack.ss_sp = stack_ + kGuard;
  own_.uc_stack.ss_size = kStack;
  own_.uc_link = nullptr;
  const auto self = reinterpret_cast<uint64_t>(this);
  makecontext(&own_, reinterpret_cast<void (*)()>(&Fiber::entry), 2,
              static_cast<unsigned>(self & 0xffffffffu), static_cast<unsigned>(self >> 32));
#if defined(__SANITIZE_THREAD__)
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(tsan_fiber_);
#endif
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(stack_ + kGuard, kStack);
#endif
  std::lock_guard<std::mutex> lock(stacks().mutex);
  stacks().free.push_back(stack_);
}

void Fiber::entry(unsigned low, unsigned high) {
  reinterpret_cast<Fiber*>(static_cast<uint64_t>(high) << 32 | low)->main();
}

void Fiber::main() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &worker_stack_, &worker_stack_bytes_);
#endif
  if (sigsetjmp(base_, 0) == 0) {
    body_();
  } else {
    crashed_(crash_);
  }
  done_ = true;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(nullptr, worker_stack_, worker_stack_bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(tsan_worker_, 0);
#endif
  setcontext(&worker_);
}

void Fiber::resume() {
  auto* globals = reinterpret_cast<EhGlobals*>(abi::__cxa_get_globals());
  const EhGlobals mine = *globals;
  *globals = eh_;
  Fiber* outer = std::exchange(t_fiber, this);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&worker_fake_stack_, stack_ + kGuard, kStack);
#endif
#if defined(__SANITIZE_THREAD__)
  tsan_worker_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_fiber_, 0);
#endif
  set_call_stack(stack_ + kGuard, stack_ + kGuard + kStack);
  swapcontext(&worker_, &own_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(worker_fake_stack_, nullptr, nullptr);
#endif
  t_fiber = outer;
  if (outer == nullptr) {
    set_call_stack(nullptr, nullptr);
  } else {
    set_call_stack(outer->stack_ + kGuard, outer->stack_ + kGuard + kStack);
  }
  eh_ = *globals;
  *globals = mine;
}

void Fiber::suspend() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&own_fake_stack_, worker_stack_, worker_stack_bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(tsan_worker_, 0);
#endif
  swapcontext(&own_, &worker_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(own_fake_stack_, &worker_stack_, &worker_stack_bytes_);
#endif
}

void Fiber::abandon(const Crash& crash) {
  crash_ = crash;
  siglongjmp(base_, 1);
}

bool Fiber::in_guard(uint64_t address) const {
  const auto guard = reinterpret_cast<uint64_t>(stack_);
  return address >= guard && address < guard + kGuard;
}

}  // namespace dav
