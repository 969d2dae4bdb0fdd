#include "core/tracker.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <utility>

#include "core/call_site.h"
#include "core/chip.h"
#include "core/tracker_core.h"
#include "core/tracker_faults.h"
#include "core/tracker_global.h"
#include "core/tracker_mailbox.h"
#include "core/tracker_report.h"
#include "core/tracker_tickets.h"

namespace dav {
namespace {

std::string format(const char* text, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* text, ...) {
  char buffer[512];
  va_list args;
  va_start(args, text);
  std::vsnprintf(buffer, sizeof buffer, text, args);
  va_end(args);
  return buffer;
}

std::string event_name(Pipe src, Pipe dst, int id) {
  return format("<HardEvent::%s_%s>(%d)", pipe_name(src), pipe_name(dst), id);
}

class HappensBefore final : public Tracker {
 public:
  HappensBefore(const Chip& chip, const std::vector<CoreId>& cores,
                const std::vector<Region>& regions, const TrackerOptions& options)
      : chip_(chip), regions_(regions), global_(regions), ids_(cores) {
    if (cores.size() > Stamp::kMaxCores) {
      throw std::invalid_argument("check mode tracks at most " + std::to_string(Stamp::kMaxCores) +
                                  " cores, the launch has " + std::to_string(cores.size()));
    }
    std::sort(ids_.begin(), ids_.end(),
              [](const CoreId& a, const CoreId& b) { return a.index < b.index; });
    for (const CoreId& id : ids_) {
      cores_.push_back(std::make_unique<TrackedCore>(chip, id, ops_, options));
      ++of_kind_[id.kind];
      ++of_block_[{id.block, id.kind}];
    }
  }

  void begin_instruction(const CoreId& id, Pipe pipe) override { core(id).begin(pipe); }
  void unit_flag(const CoreId& id, int value) override { core(id).unit_flag(value); }

  void access(const CoreId& id, Pipe pipe, const char* name, uint32_t site, Access access,
              Buffer buffer, uint64_t addr, uint64_t bytes) override {
    if (bytes == 0) return;
    TrackedCore& c = core(id);
    const Viewpoint& v = c.view(pipe, name, site, buffer);
    if (buffer == Buffer::GM) {
      if (access == Access::SignalLoad) receive_signal(c, addr);
      global(c, v, access, addr, bytes);
      if (access == Access::SignalStore) signals_.put(addr, {id.index, c.after(Pipe::S)});
    } else {
      local(c, v, access, buffer, addr, bytes);
    }
    c.settle_auto_waits();
  }

  void copy_defined(const CoreId& id, Buffer dst, uint64_t dst_addr, Buffer src, uint64_t src_addr,
                    uint64_t bytes) override {
    if (dst == Buffer::GM || bytes == 0) return;
    TrackedCore& c = core(id);
    if (dst_addr + bytes > c.cells(dst).bytes()) return;  // trapped where it was written
    if (src == Buffer::GM) {
      c.cells(dst).set_defined(dst_addr, dst_addr + bytes, true);
      if (c.moved_undefined) global_.copy_defined(c.cells(dst), dst_addr, src_addr, bytes);
    } else if (src_addr + bytes <= c.cells(src).bytes()) {
      c.cells(dst).copy_defined(dst_addr, c.cells(src), src_addr, bytes);
    }
  }

  uint64_t first_undefined(const CoreId& id, Buffer buffer, uint64_t addr,
                           uint64_t bytes) override {
    const Cells& cells = core(id).cells(buffer);
    return addr + bytes > cells.bytes() ? addr : cells.first_undefined(addr, addr + bytes);
  }
  void set_undefined(const CoreId& id, Buffer buffer, uint64_t addr, uint64_t bytes) override {
    Cells& cells = core(id).cells(buffer);
    if (addr + bytes <= cells.bytes()) cells.set_defined(addr, addr + bytes, false);
  }

  Layouts& layouts(const CoreId& id) override { return core(id).layouts; }

  void set_flag(const CoreId& id, Pipe src, Pipe dst, int event, uint32_t site) override {
    TrackedCore& c = core(id);
    Flag& flag = checked_flag(c, "SetFlag", src, dst, event, site);
    if (flag.set) {
      misuse(c, src, "SetFlag", site,
             "SetFlag" + event_name(src, dst, event) +
                 " while the flag is still set; the earlier set has to be waited for first" +
                 at("\n  earlier set at", flag.site));
    }
    flag.set = true;
    flag.site = site;
    flag.knowledge = c.after(src);
  }

  void wait_flag(const CoreId& id, Pipe src, Pipe dst, int event, uint32_t site) override {
    TrackedCore& c = core(id);
    Flag& flag = checked_flag(c, "WaitFlag", src, dst, event, site);
    if (!flag.set) {
      const std::string text =
          "WaitFlag" + event_name(src, dst, event) + " without a SetFlag before it: ";
      misuse(c, dst, "WaitFlag", site,
             flag.site == 0 && flag.wait_site == 0
                 ? text + "this flag was never set"
                 : text + "the last set was consumed already" + at("\n  last set at", flag.site) +
                       at("\n  consumed by the wait at", flag.wait_site));
    }
    flag.set = false;
    flag.wait_site = site;
    c.receive(dst, flag.knowledge);
    flag.knowledge = Knowledge{};
  }

  void pipe_barrier(const CoreId& id, Pipe pipe, uint32_t site) override {
    core(id).barrier(pipe, site);
  }

  uint64_t cross_set(const CoreId& id, Pipe pipe, int mode, int flag, uint32_t site) override {
    TrackedCore& c = core(id);
    Ticket t;
    t.parcel = {id.index, c.after(pipe)};
    t.setter = {id, pipe, {"CrossCoreSetFlag", site, 0}};
    t.mode = mode;
    t.id = flag;
    t.receivers = receivers(id, mode);
    return tickets_.issue(std::move(t));
  }

  void cross_wait(const CoreId& id, Pipe pipe, int mode, int flag,
                  const std::vector<uint64_t>& tickets, uint32_t site) override {
    TrackedCore& c = core(id);
    std::vector<std::shared_ptr<const Ticket>> held;
    std::vector<const Parcel*> parcels;
    for (uint64_t number : tickets) {
      std::shared_ptr<const Ticket> t = tickets_.consume(number);
      if (!t) {
        misuse(c, pipe, "CrossCoreWaitFlag", site,
               format("CrossCoreWaitFlag(%d) in mode %d consumes a set that all its receivers "
                      "consumed before",
                      flag, mode));
      }
      parcels.push_back(&t->parcel);
      held.push_back(std::move(t));
    }
    // On 2201 the reference says that mode and pipe of a wait have no effect and that every pipe's
    // later instructions are held back; 3510 holds back the named pipe.
    const bool all = chip_.arch != Arch::Dav3510 || pipe == Pipe::S;
    c.receive_parcels(all ? Pipe::ALL : pipe, static_cast<uint32_t>(cores_.size()), parcels);
  }

  void core_end(const CoreId& id) override {
    TrackedCore& c = core(id);
    c.flags.each_set([&](Pipe src, Pipe dst, int event, const Flag& flag) {
      misuse(c, src, "SetFlag", flag.site,
             "the kernel ended with SetFlag" + event_name(src, dst, event) +
                 " set and never waited for");
    });
    c.release_cells();
    ++ended_;
  }

  void launch_end() override {
    for (const auto& c : cores_) {
      if (c->fault) throw make_trap(*c->fault, chip_.name, regions_);
    }
    if (const auto race = faults_.race()) throw make_trap(*race, chip_.name, regions_);
    // After the races: what came out of global memory may have no value because of one.
    for (const auto& c : cores_) {
      if (c->undefined) throw make_trap(*c->undefined, chip_.name, regions_);
    }
    // What is still open, or was not written yet, means nothing when cores were stopped midway.
    if (ended_ != cores_.size()) return;
    if (const auto f = faults_.undefined_read()) throw make_trap(*f, chip_.name, regions_);
    if (const auto t = tickets_.never_waited()) {
      refuse(
          TrapKind::FlagMisuse, "FlagMisuse", t->setter,
          format("the launch ended with CrossCoreSetFlag<%d, PIPE_%s>(%d) of %s never waited for",
                 t->mode, pipe_name(t->setter.pipe), t->id, core_name(t->setter.core).c_str()));
    }
  }

  std::vector<std::string> hints() const override {
    std::vector<const BarrierLedger*> ledgers;
    for (const auto& c : cores_) ledgers.push_back(&c->ledger);
    return barrier_hints(ledgers);
  }

 private:
  TrackedCore& core(const CoreId& id) { return *cores_[id.index]; }

  static std::string at(const char* lead, uint32_t site) {
    const std::string where = describe_site(site);
    return where.empty() ? "" : lead + (" " + where.substr(0, where.find('\n')));
  }

  [[noreturn]] void misuse(const TrackedCore& c, Pipe pipe, const char* name, uint32_t site,
                           const std::string& text) const {
    refuse(TrapKind::FlagMisuse, "FlagMisuse", {c.id, pipe, {name, site, 0}}, text);
  }

  [[noreturn]] void refuse(TrapKind kind, const char* name, const Party& party,
                           const std::string& text) const {
    throw Trap(kind, headline(name, chip_.name, party) + text + "\n  " + describe(party));
  }

  Flag& checked_flag(TrackedCore& c, const char* name, Pipe src, Pipe dst, int id, uint32_t site) {
    const int limit = std::min<int>(kMaxEventIds, static_cast<int>(chip_.event_ids));
    if (id < 0 || id >= limit) {
      misuse(c, src, name, site,
             format("%s%s: event ids of this chip are 0 to %d", name,
                    event_name(src, dst, id).c_str(), limit - 1));
    }
    if (src == Pipe::ALL || dst == Pipe::ALL) {
      misuse(c, src, name, site, std::string(name) + " takes two pipes, not PIPE_ALL");
    }
    return c.flags.at(src, dst, id);
  }

  // How many waits one set is for: mode 0 all cores of the kind, 1 the AIVs of the block, 2 the
  // other kind in the block, 4 (3510) one core of the other kind.
  uint32_t receivers(const CoreId& from, int mode) const {
    const CoreKind other = from.kind == CoreKind::AIC ? CoreKind::AIV : CoreKind::AIC;
    switch (mode) {
      case 0:
        return of_kind_.at(from.kind);
      case 1:
        return of_block_.at({from.block, from.kind});
      case 2: {
        const auto found = of_block_.find({from.block, other});
        return found == of_block_.end() ? 1 : found->second;
      }
      default:
        return 1;
    }
  }

  void local(TrackedCore& c, const Viewpoint& v, Access access, Buffer buffer, uint64_t addr,
             uint64_t bytes) {
    Cells& cells = c.cells(buffer);
    const uint64_t size = chip_.bytes[static_cast<size_t>(buffer)];
    const uint64_t end = addr + bytes;
    if (end > size || end < addr) {
      refuse(TrapKind::OutOfBounds, "OutOfBounds", c.party(),
             "touches " + local_range(buffer, addr, end) +
                 format(", the buffer has 0x%" PRIx64 " bytes", size));
    }
    const Conflict conflict = cells.touch(v, touch_of(access), addr, end);
    if (conflict && !c.fault) {
      c.fault = race(c, touch_of(access), conflict);
      c.fault->buffer = buffer;
    }
    if (access == Access::Write) {
      cells.set_defined(addr, end, true);
      c.layouts.forget(buffer, addr, end);
      if (buffer == Buffer::L0C && v.pipe == Pipe::M) c.wrote_l0c(bytes);
    } else if (access != Access::Move && !c.undefined) {
      const uint64_t undefined = cells.first_undefined(addr, end);
      if (undefined == end) return;
      c.undefined =
          Fault{TrapKind::UninitialisedRead, {}, {}, c.party(), buffer, 0, undefined, end};
    }
  }

  void receive_signal(TrackedCore& c, uint64_t addr) {
    const auto parcel = signals_.take(addr);
    if (parcel) c.receive_parcels(Pipe::S, static_cast<uint32_t>(cores_.size()), {&*parcel});
  }

  void global(TrackedCore& c, const Viewpoint& v, Access access, uint64_t addr, uint64_t bytes) {
    for (uint64_t at = addr, end = addr + bytes; at < end;) {
      if (c.segment == nullptr || at < c.segment->begin || at >= c.segment->end) {
        c.segment = global_.find(at);
      }
      const GlobalSegment* s = c.segment;
      if (s == nullptr) refuse_overrun(c, addr, bytes, at);
      const uint64_t stop = std::min(end, s ? s->end : global_.next_begin(at));
      piece(c, v, access, s, at, stop - at);
      at = stop;
    }
  }

  // Memory that belongs to no argument but starts where one ends.
  void refuse_overrun(const TrackedCore& c, uint64_t addr, uint64_t bytes, uint64_t at) const {
    const GlobalSegment* s = global_.just_before(at);
    if (s == nullptr) return;
    const Region& r = regions_[s->region];
    refuse(TrapKind::OutOfBounds, "OutOfBounds", c.party(),
           format("touches %" PRIu64 " bytes at byte %" PRIu64 " of ", bytes, addr - r.addr) +
               (r.role == RegionRole::Workspace ? "the workspace '" : "'") + r.name +
               format("', which has %" PRIu64, r.bytes));
  }

  void piece(TrackedCore& c, const Viewpoint& v, Access access, const GlobalSegment* s,
             uint64_t addr, uint64_t bytes) {
    if (s != nullptr) {
      const Region& r = regions_[s->region];
      if (r.role == RegionRole::Input || r.role == RegionRole::Tiling) {
        if (access != Access::Write && access != Access::Atomic && access != Access::SignalStore) {
          return;
        }
        refuse(TrapKind::WriteToInput, "WriteToInput", c.party(),
               format("writes %" PRIu64 " bytes at byte %" PRIu64 " of '", bytes, addr - r.addr) +
                   r.name + "'");
      }
    }
    const GlobalShadow::Outcome out = global_.touch(v, access, s, addr, bytes);
    if (!out.conflict && !out.any_undefined) return;
    const uint64_t base = s ? regions_[s->region].addr : 0;
    Fault f;
    if (out.conflict) {
      f = race(c, touch_of(access), out.conflict);
      place(f, s, out.conflict.begin - base);
      faults_.add(f);
    }
    if (out.any_undefined && access == Access::Move) {
      c.moved_undefined = true;
    } else if (out.any_undefined) {
      f = Fault{TrapKind::UninitialisedRead, {}, {}, c.party(), Buffer::GM, 0, 0, 0};
      place(f, s, out.undefined - base);
      faults_.add(f);
    }
  }

  static void place(Fault& f, const GlobalSegment* s, uint64_t offset) {
    f.buffer = Buffer::GM;
    f.region = s ? s->region : GlobalShadow::kNoRegion;
    f.begin = f.end = offset;
  }

  // Names the two sides in the order the kernel must have meant. In one core that is program
  // order. Between cores nothing says so, least of all which ran first here: a read counts as of
  // the value being written unless an earlier write was handed to the reader, in which case the
  // writer should have waited for the reader.
  Fault race(const TrackedCore& c, Touch touch, const Conflict& conflict) const {
    Fault f;
    const Stamp p = conflict.prior;
    const Party prior{ids_[p.core()], p.pipe(), ops_.at(p.op())};
    const Party now = c.party();
    const bool cross = prior.core.index != now.core.index;
    const bool reading = touch == Touch::Read;
    f.first = prior;
    f.second = now;
    if (!reading && conflict.prior_touch != Touch::Read) {
      f.race = RaceKind::WriteAfterWrite;
      if (cross && now.core.index < prior.core.index) std::swap(f.first, f.second);
    } else if (!cross) {
      f.race = reading ? RaceKind::ReadAfterWrite : RaceKind::WriteAfterRead;
    } else {
      f.race = conflict.after_write ? RaceKind::WriteAfterRead : RaceKind::ReadAfterWrite;
      if (reading == conflict.after_write) std::swap(f.first, f.second);
    }
    f.begin = conflict.begin;
    f.end = conflict.end;
    return f;
  }

  const Chip& chip_;
  const std::vector<Region> regions_;
  OpTable ops_;
  GlobalShadow global_;
  GlobalFaults faults_;
  TicketOffice tickets_;
  Mailbox signals_;
  std::vector<CoreId> ids_;
  std::map<CoreKind, uint32_t> of_kind_;
  std::map<std::pair<uint32_t, CoreKind>, uint32_t> of_block_;
  std::vector<std::unique_ptr<TrackedCore>> cores_;
  std::atomic<size_t> ended_{0};
};

}  // namespace

std::unique_ptr<Tracker> make_tracker(const Chip& chip, const std::vector<CoreId>& cores,
                                      const std::vector<Region>& regions,
                                      const TrackerOptions& options) {
  return std::make_unique<HappensBefore>(chip, cores, regions, options);
}

}  // namespace dav
