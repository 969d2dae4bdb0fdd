// The strict instrument: happens-before tracking, definedness and flag discipline of one launch.
// Present only in check mode. Results never depend on the order in which cores happened to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dav/api.h"
#include "dav/types.h"

namespace dav {

struct Chip;
class Layouts;

enum class Access : uint8_t {
  Read,
  Write,
  Move,    // read that need not be defined
  Atomic,  // read-modify-write in GM; atomics do not race with each other
  // Scalar accesses to GM past the data cache (ReadGmByPassDCache, WriteGmByPassDCache), by which
  // cores poll each other: they do not race with each other, and a load of the very word comes
  // after all that its last store's core had completed on pipe S. Note a store before its value
  // is written and a load after its value was read.
  SignalLoad,
  SignalStore,
};

// A core as the tracker and its reports see it.
struct CoreId {
  CoreKind kind = CoreKind::AIC;
  uint32_t block = 0;
  uint32_t sub_block = 0;
  uint32_t index = 0;  // dense, unique within the launch
};

// InPlace is an output that is an input as well: written, but defined from the start.
enum class RegionRole : uint8_t { Input, Output, InPlace, Workspace, Tiling, Other };

// A piece of global memory the launch may touch.
struct Region {
  uint64_t addr = 0;
  uint64_t bytes = 0;
  RegionRole role = RegionRole::Other;
  std::string name;  // argument name, for reports
};

struct TrackerOptions {
  // The kernel was compiled with the compiler's automatic synchronisation. It covers, on cores with
  // a vector unit, V after V and S against V, MTE2, MTE3; nothing on an AIC, and no overlapping
  // transfers within MTE2 or MTE3 (Ascend C reference, "synchronisation control", key features).
  bool auto_sync = false;
};

// Every function may throw Trap. `site` is a call-site number from core/call_site.h.
class Tracker {
 public:
  virtual ~Tracker() = default;

  // A new instruction starts: the accesses up to the next begin belong to it and do not race with
  // each other. Scalar accesses to memory are instructions too, on pipe S.
  virtual void begin_instruction(const CoreId& core, Pipe pipe) = 0;
  // The instruction just begun is an Mmad or Fixpipe whose unitFlag is 2 or 3: the hardware orders
  // the pair on each L0C block without M_FIX and FIX_M flags.
  virtual void unit_flag(const CoreId& core, int value) = 0;

  virtual void access(const CoreId& core, Pipe pipe, const char* name, uint32_t site, Access access,
                      Buffer buffer, uint64_t addr, uint64_t bytes) = 0;
  // Gives dst the definedness of src, after the access that wrote dst. GM is defined
  // where the kernel or, for inputs, the host gave it a value.
  virtual void copy_defined(const CoreId& core, Buffer dst, uint64_t dst_addr, Buffer src,
                            uint64_t src_addr, uint64_t bytes) = 0;

  // First byte of a local range that has no value, the range's end when all have one.
  virtual uint64_t first_undefined(const CoreId& core, Buffer buffer, uint64_t addr,
                                   uint64_t bytes) = 0;
  // Takes away the value of what the instruction wrote, as it was computed from undefined bytes.
  virtual void set_undefined(const CoreId& core, Buffer buffer, uint64_t addr, uint64_t bytes) = 0;

  // Scalar accesses to GM, which go through the core's data cache; `memory` is where the bytes at
  // `addr` are. A load of what was invalidated may see an older value (core/tracker_cache.h).
  virtual void cached_store(const CoreId& core, const char* name, uint32_t site, uint64_t addr,
                            uint32_t bytes, std::byte* memory, uint64_t value) = 0;
  virtual uint64_t cached_load(const CoreId& core, const char* name, uint32_t site, uint64_t addr,
                               uint32_t bytes, const std::byte* memory) = 0;
  // Cleans and invalidates [addr, addr + bytes) of the data cache, all of it for 0 bytes.
  virtual void clean_cache(const CoreId& core, uint64_t addr, uint64_t bytes) = 0;

  // What the core's cube buffers were written with. Every write forgets it; an instruction that
  // knows better says so after its writes.
  virtual Layouts& layouts(const CoreId& core) = 0;

  virtual void set_flag(const CoreId& core, Pipe src, Pipe dst, int id, uint32_t site) = 0;
  // A wait on S, which issues to all pipes, holds back everything later on every pipe.
  virtual void wait_flag(const CoreId& core, Pipe src, Pipe dst, int id, uint32_t site) = 0;
  // pipe may be ALL.
  virtual void pipe_barrier(const CoreId& core, Pipe pipe, uint32_t site) = 0;

  // A cross-core set, before it becomes visible to any receiver. The returned ticket travels with
  // the counter increment and is handed to cross_wait by each receiver that consumes it.
  // Thread-safe like everything here; the receivers are found from mode and the list of cores.
  virtual uint64_t cross_set(const CoreId& core, Pipe pipe, int mode, int id, uint32_t site) = 0;
  // Arch 2201 holds back all pipes whatever `pipe` says; 3510 the given one (S and ALL: every one).
  virtual void cross_wait(const CoreId& core, Pipe pipe, int mode, int id,
                          const std::vector<uint64_t>& tickets, uint32_t site) = 0;

  // A core's entry returned: its in-core flags and event ids must be balanced.
  virtual void core_end(const CoreId& core) = 0;
  // The launch is over. Races through global memory and reads of global memory nobody wrote are
  // collected while cores run and thrown here, the same one whatever the order of execution was.
  // Call it also when a core trapped or all were blocked: what it throws is the cause of that.
  virtual void launch_end() = 0;
  // Remarks that are no errors (a barrier that orders nothing), one line each.
  virtual std::vector<std::string> hints() const = 0;
};

DAV_API std::unique_ptr<Tracker> make_tracker(const Chip& chip, const std::vector<CoreId>& cores,
                                              const std::vector<Region>& regions,
                                              const TrackerOptions& options);

}  // namespace dav
