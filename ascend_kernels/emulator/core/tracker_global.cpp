#include "core/tracker_global.h"

#include <algorithm>
#include <limits>

namespace dav {
namespace {

// Device allocations are padded to this; an access there belongs to no other allocation.
constexpr uint64_t kAllocationGrain = 512;

// Who a byte belongs to when regions overlap: the one that may be written.
int right_to(RegionRole role) {
  switch (role) {
    case RegionRole::Output:
    case RegionRole::InPlace:
      return 3;
    case RegionRole::Workspace:
      return 2;
    case RegionRole::Other:
      return 1;
    default:
      return 0;
  }
}

bool starts_defined(RegionRole role) {
  return role != RegionRole::Output && role != RegionRole::Workspace;
}

}  // namespace

Touch touch_of(Access access) {
  switch (access) {
    case Access::Write:
      return Touch::Write;
    case Access::Atomic:
    case Access::SignalLoad:
    case Access::SignalStore:
      return Touch::Atomic;
    default:
      return Touch::Read;
  }
}

GlobalShadow::Pages::~Pages() {
  for (std::atomic<Page*>& p : table) delete p.load();
}

GlobalShadow::GlobalShadow(const std::vector<Region>& regions) {
  std::vector<uint64_t> cuts;
  for (const Region& r : regions) {
    if (r.bytes == 0) continue;
    cuts.push_back(r.addr);
    cuts.push_back(r.addr + r.bytes);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    GlobalSegment s{cuts[i], cuts[i + 1], kNoRegion, false};
    for (uint32_t n = 0; n < regions.size(); ++n) {
      const Region& r = regions[n];
      if (r.addr > s.begin || r.addr + r.bytes < s.end || r.bytes == 0) continue;
      s.defined = s.defined || starts_defined(r.role);
      if (s.region == kNoRegion || right_to(r.role) > right_to(regions[s.region].role)) {
        s.region = n;
      }
    }
    if (s.region != kNoRegion) segments_.push_back(s);
  }
  for (const GlobalSegment& s : segments_) {
    pages_.push_back(std::make_unique<Pages>((s.end - 1) / kPageBytes - s.begin / kPageBytes + 1));
  }
}

const GlobalSegment* GlobalShadow::find(uint64_t addr) const {
  auto after = std::upper_bound(segments_.begin(), segments_.end(), addr,
                                [](uint64_t a, const GlobalSegment& s) { return a < s.begin; });
  if (after == segments_.begin()) return nullptr;
  const GlobalSegment& s = *(after - 1);
  return addr < s.end ? &s : nullptr;
}

const GlobalSegment* GlobalShadow::just_before(uint64_t addr) const {
  auto after = std::upper_bound(segments_.begin(), segments_.end(), addr,
                                [](uint64_t a, const GlobalSegment& s) { return a < s.begin; });
  if (after == segments_.begin()) return nullptr;
  const GlobalSegment& s = *(after - 1);
  const uint64_t padded = (s.end + kAllocationGrain - 1) / kAllocationGrain * kAllocationGrain;
  return addr >= s.end && addr < padded ? &s : nullptr;
}

uint64_t GlobalShadow::next_begin(uint64_t addr) const {
  auto after = std::upper_bound(segments_.begin(), segments_.end(), addr,
                                [](uint64_t a, const GlobalSegment& s) { return a < s.begin; });
  return after == segments_.end() ? std::numeric_limits<uint64_t>::max() : after->begin;
}

GlobalShadow::Page& GlobalShadow::page(const GlobalSegment* segment, uint64_t number) {
  if (segment == nullptr) {
    Stripe& stripe = stripes_[number % 16];
    std::lock_guard<std::mutex> lock(stripe.mutex);
    std::unique_ptr<Page>& p = stripe.pages[number];
    if (!p) p = std::make_unique<Page>(true);
    return *p;
  }
  Pages& pages = *pages_[static_cast<size_t>(segment - segments_.data())];
  std::atomic<Page*>& place = pages.table[number - segment->begin / kPageBytes];
  Page* p = place.load(std::memory_order_acquire);
  if (p == nullptr) {
    auto fresh = std::make_unique<Page>(segment->defined);
    if (place.compare_exchange_strong(p, fresh.get(), std::memory_order_acq_rel)) {
      p = fresh.release();
    }
  }
  return *p;
}

GlobalShadow::Outcome GlobalShadow::touch(const Viewpoint& v, Access access,
                                          const GlobalSegment* segment, uint64_t addr,
                                          uint64_t bytes) {
  Outcome out;
  const Touch kind = touch_of(access);
  for (uint64_t at = addr, end = addr + bytes; at < end;) {
    const uint64_t number = at / kPageBytes;
    const uint64_t base = number * kPageBytes;
    const uint64_t stop = std::min(end, base + kPageBytes);
    Page& p = page(segment, number);
    {
      std::lock_guard<std::mutex> lock(p.mutex);
      Conflict c = p.cells.touch(v, kind, at - base, stop - base);
      if (c && !out.conflict) {
        c.begin += base;
        c.end += base;
        out.conflict = c;
      }
      const bool value_needed = access == Access::Read || access == Access::Atomic ||
                                access == Access::SignalLoad || access == Access::Move;
      if (value_needed && segment != nullptr && !segment->defined) {
        const uint64_t undefined = p.cells.first_undefined(at - base, stop - base);
        if (undefined != stop - base && !out.any_undefined) {
          out.any_undefined = true;
          out.undefined = base + undefined;
        }
      }
      if (access == Access::Write || access == Access::SignalStore) {
        p.cells.set_defined(at - base, stop - base, true);
      }
    }
    at = stop;
  }
  return out;
}

bool GlobalShadow::defined(uint64_t addr, uint64_t bytes) {
  Cells all((bytes + kCellBytes - 1) / kCellBytes * kCellBytes, true, false);
  copy_defined(all, 0, addr, bytes);
  return all.first_undefined(0, bytes) == bytes;
}

void GlobalShadow::copy_defined(Cells& to, uint64_t to_addr, uint64_t addr, uint64_t bytes) {
  for (uint64_t at = addr, end = addr + bytes; at < end;) {
    const GlobalSegment* segment = find(at);
    const uint64_t limit = std::min(end, segment != nullptr ? segment->end : next_begin(at));
    if (segment == nullptr || segment->defined) {
      at = limit;
      continue;
    }
    const uint64_t number = at / kPageBytes;
    const uint64_t base = number * kPageBytes;
    const uint64_t stop = std::min(limit, base + kPageBytes);
    Page& p = page(segment, number);
    std::lock_guard<std::mutex> lock(p.mutex);
    to.copy_defined(to_addr + (at - addr), p.cells, at - base, stop - at);
    at = stop;
  }
}

}  // namespace dav
