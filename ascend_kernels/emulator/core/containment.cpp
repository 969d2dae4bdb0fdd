#include "core/containment.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>

#include "core/call_site.h"
#include "core/core.h"
#include "core/division.h"
#include "core/settings.h"
#include "core/symbols.h"

namespace dav {
namespace {

constexpr int kCrashSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr size_t kSignalStack = 64 * 1024;

struct sigaction g_previous[65];
std::terminate_handler g_previous_terminate = nullptr;

uint64_t program_counter(const void* context) {
#if defined(__x86_64__)
  return static_cast<uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}

void on_crash(int signal, siginfo_t* info, void* context) {
  if (Fiber* fiber = current_fiber()) {
    if (signal == SIGFPE && info->si_code == FPE_INTDIV && step_over_division(context)) return;
    Crash crash;
    crash.signal = signal;
    crash.address = reinterpret_cast<uint64_t>(info->si_addr);
    crash.pc = program_counter(context);
    fiber->abandon(crash);
  }
  const struct sigaction& previous = g_previous[signal];
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    // The faulting instruction runs again and meets the default action.
    ::signal(signal, SIG_DFL);
  }
}

// An exception met a noexcept function, often a destructor: the core ends, the process does not.
void on_terminate() {
  if (Fiber* fiber = current_fiber()) fiber->abandon(Crash{});
  if (g_previous_terminate != nullptr) g_previous_terminate();
  std::abort();
}

int watchdog_signal() { return SIGRTMIN + 6; }

// Processor seconds of this thread during which the running core issued nothing.
__attribute__((tls_model("initial-exec"))) thread_local struct {
  const Core* core;
  uint64_t budget_left;
  uint32_t seconds;
  uint32_t limit;
} t_watch;

void on_watchdog(int, siginfo_t*, void* context) {
  Core* core = core_or_null();
  Fiber* fiber = current_fiber();
  if (core == nullptr || fiber == nullptr) return;
  if (core != t_watch.core || core->budget_left != t_watch.budget_left || core->in_instruction) {
    t_watch.core = core;
    t_watch.budget_left = core->budget_left;
    t_watch.seconds = 0;
    return;
  }
  if (++t_watch.seconds < t_watch.limit) return;
  t_watch.seconds = 0;
  Crash crash;
  crash.signal = watchdog_signal();
  crash.pc = program_counter(context);
  fiber->abandon(crash);
}

void install(int signal, void (*handler)(int, siginfo_t*, void*), int extra) {
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == handler) return;
  g_previous[signal] = now;
  struct sigaction mine {};
  mine.sa_sigaction = handler;
  // Not deferred: the handler leaves by a long jump that does not restore the signal mask.
  mine.sa_flags = SA_SIGINFO | SA_NODEFER | extra;
  sigemptyset(&mine.sa_mask);
  sigaction(signal, &mine, nullptr);
}

std::string symbol_at(uint64_t pc) {
  Dl_info info{};
  if (pc == 0 || dladdr(reinterpret_cast<void*>(pc), &info) == 0) return "";
  const char* file = info.dli_fname == nullptr ? "?" : info.dli_fname;
  if (const char* slash = std::strrchr(file, '/')) file = slash + 1;
  char text[512];
  const auto base = reinterpret_cast<uint64_t>(info.dli_fbase);
  std::snprintf(text, sizeof text, " (in %s+0x%" PRIx64 "%s%s)", file, pc - base,
                info.dli_sname != nullptr ? ", " : "",
                info.dli_sname != nullptr ? info.dli_sname : "");
  return text;
}

}  // namespace

void install_containment() {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  for (int signal : kCrashSignals) install(signal, on_crash, SA_ONSTACK);
  install(watchdog_signal(), on_watchdog, SA_ONSTACK | SA_RESTART);
  if (std::get_terminate() != on_terminate) g_previous_terminate = std::set_terminate(on_terminate);
}

ThreadContainment::ThreadContainment() {
  stack_t previous{};
  sigaltstack(nullptr, &previous);
  previous_stack_ = previous.ss_sp;
  previous_bytes_ = previous.ss_size;
  previous_flags_ = previous.ss_flags;
  stack_ = mmap(nullptr, kSignalStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t mine{};
  mine.ss_sp = stack_;
  mine.ss_size = kSignalStack;
  sigaltstack(&mine, nullptr);

  t_watch = {};
  t_watch.limit = setting_watchdog();
  if (t_watch.limit == 0) return;
  clockid_t clock;
  if (pthread_getcpuclockid(pthread_self(), &clock) != 0) return;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = watchdog_signal();
#if defined(sigev_notify_thread_id)
  event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
#else
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
#endif
  timer_t timer;
  if (timer_create(clock, &event, &timer) != 0) return;
  itimerspec every{};
  every.it_interval.tv_sec = 1;
  every.it_value.tv_sec = 1;
  timer_settime(timer, 0, &every, nullptr);
  timer_ = timer;
  armed_ = true;
}

ThreadContainment::~ThreadContainment() {
  if (armed_) timer_delete(static_cast<timer_t>(timer_));
  stack_t previous{};
  previous.ss_sp = previous_stack_;
  previous.ss_size = previous_bytes_;
  previous.ss_flags = previous_stack_ == nullptr ? SS_DISABLE : previous_flags_;
  sigaltstack(&previous, nullptr);
  munmap(stack_, kSignalStack);
}

namespace {

Trap terminate_trap(const Core& core) {
  std::string message = "std::terminate in kernel code";
  std::exception_ptr caught = std::current_exception();
  // The run time had begun to catch what met the noexcept function; nobody else will end that.
  if (caught != nullptr) abi::__cxa_end_catch();
  // A destructor on the way out of a trap waited for a flag nobody will set any more.
  if (core.cause != nullptr) return *core.cause;
  try {
    if (caught != nullptr) std::rethrow_exception(caught);
  } catch (const Trap& trap) {
    return trap;
  } catch (const std::exception& e) {
    message += std::string(": ") + e.what();
  } catch (...) {
    message += ": an exception that is no std::exception";
  }
  return Trap(TrapKind::KernelException,
              trap_report(TrapKind::KernelException, core, Pipe::S, "kernel code", 0, message));
}

}  // namespace

Trap crash_trap(const Core& core, const Crash& crash) {
  const std::string where = symbol_at(crash.pc);
  char text[128];
  TrapKind kind = TrapKind::KernelException;
  if (crash.signal == 0) return terminate_trap(core);
  if (crash.signal == watchdog_signal()) {
    kind = TrapKind::BudgetExceeded;
    std::snprintf(text, sizeof text,
                  "no instruction for %u s of processor time: an endless scalar loop",
                  t_watch.limit);
  } else if (crash.signal == SIGSEGV && core.fiber().in_guard(crash.address)) {
    std::snprintf(text, sizeof text, "the kernel's stack overflowed");
  } else {
    std::snprintf(text, sizeof text, "%s at address 0x%" PRIx64,
                  crash.signal == SIGSEGV  ? "SIGSEGV: invalid memory access"
                  : crash.signal == SIGBUS ? "SIGBUS: invalid memory access"
                  : crash.signal == SIGFPE ? "SIGFPE: arithmetic"
                                           : "SIGILL: illegal instruction",
                  crash.address);
  }
  std::string message = text + where;
  for (const CodeLine& line : symbolize(crash.pc)) message += "\n  at " + line.text;
  return Trap(kind, trap_report(kind, core, Pipe::S, "kernel code", 0, message));
}

Trap foreign_exception(const Core& core, const char* what) {
  return Trap(TrapKind::KernelException,
              trap_report(TrapKind::KernelException, core, Pipe::S, "kernel code", 0,
                          std::string("the kernel threw an exception: ") + what));
}

}  // namespace dav
