// What a kernel does to itself must not end the process: crashes, foreign exceptions and endless
// loops become traps.
#pragma once

#include <cstddef>

#include "core/fiber.h"
#include "core/trap.h"

namespace dav {

class Core;

// Process-wide signal and terminate handlers; those found before are called for whatever does not
// come from a kernel. Cheap when already in place.
void install_containment();

// Per worker thread: the alternate signal stack (a kernel may overflow its own) and the watchdog.
class ThreadContainment {
 public:
  ThreadContainment();
  ~ThreadContainment();
  ThreadContainment(const ThreadContainment&) = delete;
  ThreadContainment& operator=(const ThreadContainment&) = delete;

 private:
  void* stack_ = nullptr;
  void* previous_stack_ = nullptr;
  size_t previous_bytes_ = 0;
  int previous_flags_ = 0;
  void* timer_ = nullptr;
  bool armed_ = false;
};

Trap crash_trap(const Core& core, const Crash& crash);
Trap foreign_exception(const Core& core, const char* what);

}  // namespace dav
