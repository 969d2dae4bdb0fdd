// A flow of control with its own stack, switched by hand. A fiber lives and dies on one thread.
#pragma once

#include <ucontext.h>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace dav {

// What ended a fiber's body other than by returning or throwing.
struct Crash {
  int signal = 0;  // 0: std::terminate
  uint64_t address = 0;
  uint64_t pc = 0;
};

class Fiber {
 public:
  // `body` must not throw; `crashed` runs on the fiber in its place when the body is abandoned.
  Fiber(std::function<void()> body, std::function<void(const Crash&)> crashed);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // From the worker: runs the fiber until it suspends or ends.
  void resume();
  // From the fiber: back to the worker.
  void suspend();
  bool done() const { return done_; }

  // From a signal or terminate handler on this fiber: abandons the body. Does not return.
  [[noreturn]] void abandon(const Crash& crash);
  // Whether an address is in the guard below the stack.
  bool in_guard(uint64_t address) const;

 private:
  static void entry(unsigned low, unsigned high);
  void main();

  std::function<void()> body_;
  std::function<void(const Crash&)> crashed_;
  std::byte* stack_ = nullptr;  // begins with the guard
  ucontext_t own_{}, worker_{};
  sigjmp_buf base_{};
  Crash crash_{};
  bool done_ = false;
  // The C++ run time's exception bookkeeping, one per thread, here made one per fiber.
  struct EhGlobals {
    void* caught = nullptr;
    unsigned uncaught = 0;
  } eh_;
  // Sanitizers follow stack switches only when told.
  const void* worker_stack_ = nullptr;
  size_t worker_stack_bytes_ = 0;
  void* own_fake_stack_ = nullptr;
  void* worker_fake_stack_ = nullptr;
  void* tsan_fiber_ = nullptr;
  void* tsan_worker_ = nullptr;
};

// The fiber running on this thread, or null.
Fiber* current_fiber();

}  // namespace dav
