#include "core/tracker.h"

#include <algorithm>
#include <cinttypes>
#include <stdexcept>

#include "core/happens_before.h"

namespace dav {

HappensBefore::HappensBefore(const Chip& chip, const std::vector<CoreId>& cores,
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

void HappensBefore::access(const CoreId& id, Pipe pipe, const char* name, uint32_t site,
                           Access access, Buffer buffer, uint64_t addr, uint64_t bytes) {
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

void HappensBefore::copy_defined(const CoreId& id, Buffer dst, uint64_t dst_addr, Buffer src,
                                 uint64_t src_addr, uint64_t bytes) {
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

uint64_t HappensBefore::first_undefined(const CoreId& id, Buffer buffer, uint64_t addr,
                                        uint64_t bytes) {
  const Cells& cells = core(id).cells(buffer);
  return addr + bytes > cells.bytes() ? addr : cells.first_undefined(addr, addr + bytes);
}

void HappensBefore::set_undefined(const CoreId& id, Buffer buffer, uint64_t addr, uint64_t bytes) {
  Cells& cells = core(id).cells(buffer);
  if (addr + bytes <= cells.bytes()) cells.set_defined(addr, addr + bytes, false);
}

void HappensBefore::pipe_barrier(const CoreId& id, Pipe pipe, uint32_t site) {
  core(id).barrier(pipe, site);
}

void HappensBefore::local(TrackedCore& c, const Viewpoint& v, Access access, Buffer buffer,
                          uint64_t addr, uint64_t bytes) {
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
    c.fault = make_race(ids_, ops_, c.party(), touch_of(access), conflict);
    c.fault->buffer = buffer;
  }
  if (access == Access::Write) {
    cells.set_defined(addr, end, true);
    c.layouts.forget(buffer, addr, end);
    if (buffer == Buffer::L0C && v.pipe == Pipe::M) c.wrote_l0c(bytes);
  } else if (access != Access::Move && !c.undefined) {
    const uint64_t undefined = cells.first_undefined(addr, end);
    if (undefined == end) return;
    c.undefined = Fault{TrapKind::UninitialisedRead, {}, {}, c.party(), buffer, 0, undefined, end};
  }
}

void HappensBefore::receive_signal(TrackedCore& c, uint64_t addr) {
  const auto parcel = signals_.take(addr);
  if (parcel) c.receive_parcels(Pipe::S, static_cast<uint32_t>(cores_.size()), {&*parcel});
}

void HappensBefore::global(TrackedCore& c, const Viewpoint& v, Access access, uint64_t addr,
                           uint64_t bytes) {
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

void HappensBefore::refuse_overrun(const TrackedCore& c, uint64_t addr, uint64_t bytes,
                                   uint64_t at) const {
  const GlobalSegment* s = global_.just_before(at);
  if (s == nullptr) return;
  const Region& r = regions_[s->region];
  refuse(TrapKind::OutOfBounds, "OutOfBounds", c.party(),
         format("touches %" PRIu64 " bytes at byte %" PRIu64 " of ", bytes, addr - r.addr) +
             (r.role == RegionRole::Workspace ? "the workspace '" : "'") + r.name +
             format("', which has %" PRIu64, r.bytes));
}

void HappensBefore::piece(TrackedCore& c, const Viewpoint& v, Access access, const GlobalSegment* s,
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
    f = make_race(ids_, ops_, c.party(), touch_of(access), out.conflict);
    place(f, s, out.conflict.begin - base);
    faults_.add(f);
  }
  if (out.any_undefined && access == Access::Move) {
    c.moved_undefined = true;
  } else if (out.any_undefined) {
    undefined(c, s, out.undefined);
  }
}

void HappensBefore::undefined(const TrackedCore& c, const GlobalSegment* s, uint64_t addr) {
  Fault f{TrapKind::UninitialisedRead, {}, {}, c.party(), Buffer::GM, 0, 0, 0};
  place(f, s, addr - (s ? regions_[s->region].addr : 0));
  faults_.add(f);
}

void HappensBefore::place(Fault& f, const GlobalSegment* s, uint64_t offset) {
  f.buffer = Buffer::GM;
  f.region = s ? s->region : GlobalShadow::kNoRegion;
  f.begin = f.end = offset;
}

std::unique_ptr<Tracker> make_tracker(const Chip& chip, const std::vector<CoreId>& cores,
                                      const std::vector<Region>& regions,
                                      const TrackerOptions& options) {
  return std::make_unique<HappensBefore>(chip, cores, regions, options);
}

}  // namespace dav
