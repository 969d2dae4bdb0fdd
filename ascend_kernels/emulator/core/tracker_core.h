// What the tracker keeps for one core. Touched by that core's thread only.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/layouts.h"
#include "core/tracker.h"
#include "core/tracker_cache.h"
#include "core/tracker_cells.h"
#include "core/tracker_clock.h"
#include "core/tracker_faults.h"
#include "core/tracker_flags.h"
#include "core/tracker_global.h"
#include "core/tracker_order.h"
#include "core/tracker_stamp.h"

namespace dav {

class TrackedCore {
 public:
  TrackedCore(const Chip& chip, const CoreId& core, OpTable& table, const TrackerOptions& options);

  // The instruction being executed.
  void begin(Pipe pipe);
  void unit_flag(int value) { op_.unit_flag = static_cast<uint8_t>(value); }
  void cached(Op::Cached kind) { op_.cached = kind; }
  uint32_t clock(Pipe pipe) const { return issued_[static_cast<size_t>(pipe)]; }
  // Whether pipe S knows instruction `clock` of another core's pipe S to be complete.
  bool knows(uint32_t core, uint32_t clock) const {
    return clock <= known_[static_cast<size_t>(Pipe::S)].of(core, Pipe::S);
  }
  // Its viewpoint on `buffer`, after giving it its name.
  const Viewpoint& view(Pipe pipe, const char* name, uint32_t site, Buffer buffer);
  // The compiler's flags are real ones: what they waited for orders later instructions too.
  void settle_auto_waits() {
    if (auto_waits_ != 0) receive_auto_waits();
  }
  Party party() const { return {id, pipe_, op_}; }
  void wrote_l0c(uint64_t bytes) { l0c_bytes_ += bytes; }

  // What the pipe knows, with its own earlier instructions complete.
  Knowledge after(Pipe pipe) const;
  // A wait on `pipe` received this. S issues to every pipe, so what it waited for is complete
  // before anything it issues later.
  void receive(Pipe pipe, const Knowledge& knowledge);
  void receive_parcels(Pipe pipe, uint32_t cores, const std::vector<const Parcel*>& parcels);
  void barrier(Pipe pipe, uint32_t site);

  Cells& cells(Buffer b) {
    std::unique_ptr<Cells>& c = local_[static_cast<size_t>(b)];
    return c ? *c : make_cells(b);
  }
  // The core's own memories are of no interest any more. Launches may have far more blocks than
  // the chip has cores.
  void release_cells() {
    for (std::unique_ptr<Cells>& c : local_) c.reset();
    layouts.release();
  }

  const CoreId id;
  FlagTable flags;
  BarrierLedger ledger;
  Layouts layouts;
  CacheView cache;
  std::optional<Fault> fault;              // the first race, in program order
  std::optional<Fault> undefined;          // the first use of memory without a value
  bool moved_undefined = false;            // the instruction copied GM that has none
  const GlobalSegment* segment = nullptr;  // last one used

 private:
  Cells& make_cells(Buffer b);
  void receive_auto_waits();

  const Chip& chip_;
  Pipe pipe_ = Pipe::S;
  Op op_;
  bool stamped_ = true;
  uint8_t auto_waits_ = 0;
  Viewpoint view_;
  OwnClock issued_{};
  std::array<Knowledge, kPipeCount> known_;
  std::vector<uint32_t> small_mmads_;
  uint64_t l0c_bytes_ = 0;
  OpCache ops_;
  std::array<std::unique_ptr<Cells>, kBufferCount> local_;
};

}  // namespace dav
