// What the ASC compiler driver turns `kernel<<<blocks, l2, stream>>>(args)` into. The driver
// includes this file in front of every source, in the host pass and in the passes for the cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace dav::asc {

// Written by the driver into the object of a source, with the kernel images of its launches.
struct Module {
  uint32_t architecture;
  uint32_t auto_sync;  // the compiler was asked to order what it can see, which is its default
  const unsigned char* aic_begin;
  const unsigned char* aic_end;
  const unsigned char* aiv_begin;
  const unsigned char* aiv_end;
};

// The kernel types a launch can have, as dav::KernelType counts them.
enum class Type : uint32_t { AivOnly, AicOnly, MixAic11, MixAic12, MixAiv10, MixAic10, Coupled };

struct Argument {
  const void* value;
  size_t bytes;
};

struct Request {
  const Module* module;
  const char* name;  // for reports
  // These three name the entry in the image. The driver numbers the launches of a source, and a
  // launch in a template has an entry for each instantiation.
  uint64_t launch;
  const char* callable;
  const char* types;
  Type type;
  uint32_t blocks;
  void* stream;
  const Argument* arguments;
  size_t argument_count;
};

using Entry = void (*)(void** args);

// An entry as a kernel image lists it.
struct Record {
  uint64_t launch;
  const char* callable;
  const char* arguments;
  Entry entry;
  const Record* next;
};

}  // namespace dav::asc

extern "C" {
// Queues the launch on the stream. What is wrong becomes the stream's error and is printed.
__attribute__((visibility("default"))) void dav_asc_launch(const dav::asc::Request* request);
}

namespace dav::asc {

template <typename...>
struct Types {};

#ifdef DAV_ASC_DEVICE

// Every launch of the source that the compiler instantiates adds its entry here.
inline const Record* records = nullptr;

template <uint64_t number, typename Callable, typename... Args>
struct Listed {
  template <size_t... I>
  static void call(void** args, std::index_sequence<I...>) {
    // A lambda without captures; it has no state that a call could read.
    alignas(Callable) static const char nothing[sizeof(Callable)] = {};
    (*reinterpret_cast<const Callable*>(nothing))(*static_cast<Args*>(args[I])...);
  }
  static void entry(void** args) { call(args, std::index_sequence_for<Args...>{}); }

  Record record;
  Listed()
      : record{number, typeid(Callable).name(), typeid(Types<Args...>).name(), &Listed::entry,
               records} {
    records = &record;
  }
  static Listed instance;
};
template <uint64_t number, typename Callable, typename... Args>
Listed<number, Callable, Args...> Listed<number, Callable, Args...>::instance;

template <uint64_t number, typename Callable>
struct Launcher {
  template <typename... Args>
  void operator()(Args...) const {
    (void)&Listed<number, Callable, Args...>::instance;
  }
};

// Another core's kernel: this image has no entry for it.
struct Elsewhere {
  template <typename... Args>
  void operator()(Args...) const {}
};
template <uint64_t number, typename Callable>
Launcher<number, Callable> launch(const Module*, Type, const char*, Callable, uint32_t,
                                  const volatile void* = nullptr, void* = nullptr) {
  return {};
}
template <typename Callable>
Elsewhere launch_elsewhere(const Module*, Type, const char*, Callable, uint32_t,
                           const volatile void* = nullptr, void* = nullptr) {
  return {};
}

#else

template <typename Callable>
class Launcher {
 public:
  explicit Launcher(const Request& request) : request_(request) {}

  template <typename... Args>
  void operator()(Args... args) {
    static_assert((std::is_trivially_copyable<Args>::value && ...),
                  "kernel arguments are copied byte by byte");
    const Argument list[sizeof...(Args) + 1] = {{&args, sizeof(args)}..., {nullptr, 0}};
    request_.types = typeid(Types<Args...>).name();
    request_.arguments = list;
    request_.argument_count = sizeof...(Args);
    dav_asc_launch(&request_);
  }

 private:
  Request request_;
};

template <uint64_t number, typename Callable>
Launcher<Callable> launch(const Module* module, Type type, const char* name, Callable,
                          uint32_t blocks, const volatile void* = nullptr, void* stream = nullptr) {
  return Launcher<Callable>(Request{module, name, number, typeid(Callable).name(), nullptr, type,
                                    blocks, stream, nullptr, 0});
}

#endif

}  // namespace dav::asc
