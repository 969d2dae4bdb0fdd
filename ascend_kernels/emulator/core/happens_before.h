// The tracker: vector clocks, shadow cells and flags of one launch, see core/tracker.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/chip.h"
#include "core/tracker.h"
#include "core/tracker_cache.h"
#include "core/tracker_core.h"
#include "core/tracker_faults.h"
#include "core/tracker_global.h"
#include "core/tracker_mailbox.h"
#include "core/tracker_report.h"
#include "core/tracker_tickets.h"

namespace dav {

class HappensBefore final : public Tracker {
 public:
  HappensBefore(const Chip& chip, const std::vector<CoreId>& cores,
                const std::vector<Region>& regions, const TrackerOptions& options);

  void begin_instruction(const CoreId& id, Pipe pipe) override { core(id).begin(pipe); }
  void unit_flag(const CoreId& id, int value) override { core(id).unit_flag(value); }

  void access(const CoreId& id, Pipe pipe, const char* name, uint32_t site, Access access,
              Buffer buffer, uint64_t addr, uint64_t bytes) override;

  void copy_defined(const CoreId& id, Buffer dst, uint64_t dst_addr, Buffer src, uint64_t src_addr,
                    uint64_t bytes) override;

  uint64_t first_undefined(const CoreId& id, Buffer buffer, uint64_t addr, uint64_t bytes) override;
  void set_undefined(const CoreId& id, Buffer buffer, uint64_t addr, uint64_t bytes) override;

  void cached_store(const CoreId& id, const char* name, uint32_t site, uint64_t addr,
                    uint32_t bytes, std::byte* memory, uint64_t value) override;

  uint64_t cached_load(const CoreId& id, const char* name, uint32_t site, uint64_t addr,
                       uint32_t bytes, const std::byte* memory) override;

  void clean_cache(const CoreId& id, uint64_t addr, uint64_t bytes) override;

  Layouts& layouts(const CoreId& id) override { return core(id).layouts; }

  void set_flag(const CoreId& id, Pipe src, Pipe dst, int event, uint32_t site) override;

  void wait_flag(const CoreId& id, Pipe src, Pipe dst, int event, uint32_t site) override;

  void pipe_barrier(const CoreId& id, Pipe pipe, uint32_t site) override;

  uint64_t cross_set(const CoreId& id, Pipe pipe, int mode, int flag, uint32_t site) override;

  void cross_wait(const CoreId& id, Pipe pipe, int mode, int flag,
                  const std::vector<uint64_t>& tickets, uint32_t site) override;

  void core_end(const CoreId& id) override;

  void launch_end() override;

  std::vector<std::string> hints() const override;

 private:
  TrackedCore& core(const CoreId& id) { return *cores_[id.index]; }

  static std::string at(const char* lead, uint32_t site);

  [[noreturn]] void misuse(const TrackedCore& c, Pipe pipe, const char* name, uint32_t site,
                           const std::string& text) const;

  [[noreturn]] void refuse(TrapKind kind, const char* name, const Party& party,
                           const std::string& text) const;

  Flag& checked_flag(TrackedCore& c, const char* name, Pipe src, Pipe dst, int id, uint32_t site);

  // How many waits one set is for: mode 0 all cores of the kind, 1 the AIVs of the block, 2 the
  // other kind in the block, 4 (3510) one core of the other kind.
  uint32_t receivers(const CoreId& from, int mode) const;

  void local(TrackedCore& c, const Viewpoint& v, Access access, Buffer buffer, uint64_t addr,
             uint64_t bytes);

  void receive_signal(TrackedCore& c, uint64_t addr);

  void global(TrackedCore& c, const Viewpoint& v, Access access, uint64_t addr, uint64_t bytes);

  // Memory that belongs to no argument but starts where one ends.
  void refuse_overrun(const TrackedCore& c, uint64_t addr, uint64_t bytes, uint64_t at) const;

  void piece(TrackedCore& c, const Viewpoint& v, Access access, const GlobalSegment* s,
             uint64_t addr, uint64_t bytes);

  // Nobody wrote the byte of global memory at addr, which the core reads.
  void undefined(const TrackedCore& c, const GlobalSegment* s, uint64_t addr);

  static CachedWords::Knows knowledge_of(const TrackedCore& c);

  static void place(Fault& f, const GlobalSegment* s, uint64_t offset);

  const Chip& chip_;
  const std::vector<Region> regions_;
  OpTable ops_;
  GlobalShadow global_;
  GlobalFaults faults_;
  TicketOffice tickets_;
  Mailbox signals_;
  CachedWords words_;
  std::vector<CoreId> ids_;
  std::map<CoreKind, uint32_t> of_kind_;
  std::map<std::pair<uint32_t, CoreKind>, uint32_t> of_block_;
  std::vector<std::unique_ptr<TrackedCore>> cores_;
  std::atomic<size_t> ended_{0};
};

}  // namespace dav
