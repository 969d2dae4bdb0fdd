#include "core/gm.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <mutex>

#include "dav/launch.h"

namespace dav {
namespace {

struct Registry {
  std::mutex mutex;
  std::shared_ptr<const GmAllocations> list = std::make_shared<GmAllocations>();
};

Registry& registry() {
  // Leaked on purpose: streams may still free memory while the process ends.
  static Registry* r = new Registry;
  return *r;
}

// aclrtMalloc rounds up to 32 bytes and appends 32 more.
constexpr uint64_t kAppended = 64;

bool begins_before(const GmRange& a, uint64_t addr) { return a.begin < addr; }

std::string hex(uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, v);
  return text;
}

std::string extent(uint64_t begin, uint64_t end) {
  return "[" + hex(begin) + ", " + hex(end) + "), " + std::to_string(end - begin) + " bytes";
}

// The allocation that holds addr, or null.
const GmRange* holder(const GmAllocations& list, uint64_t addr) {
  auto it = std::lower_bound(list.begin(), list.end(), addr + 1, begins_before);
  if (it == list.begin()) return nullptr;
  --it;
  return addr < it->end ? &*it : nullptr;
}

}  // namespace

void gm_register(void* addr, uint64_t bytes) {
  if (bytes == 0) return;
  Registry& r = registry();
  const auto begin = reinterpret_cast<uint64_t>(addr);
  std::lock_guard<std::mutex> lock(r.mutex);
  auto next = std::make_shared<GmAllocations>(*r.list);
  auto it = std::lower_bound(next->begin(), next->end(), begin, begins_before);
  next->insert(it, GmRange{begin, begin + bytes});
  r.list = std::move(next);
}

void gm_unregister(void* addr) {
  Registry& r = registry();
  const auto begin = reinterpret_cast<uint64_t>(addr);
  std::lock_guard<std::mutex> lock(r.mutex);
  auto next = std::make_shared<GmAllocations>(*r.list);
  auto it = std::lower_bound(next->begin(), next->end(), begin, begins_before);
  if (it == next->end() || it->begin != begin) return;
  next->erase(it);
  r.list = std::move(next);
}

std::shared_ptr<const GmAllocations> gm_allocations() {
  Registry& r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  return r.list;
}

GmView::GmView(const std::vector<Region>& regions) : regions_(regions) {}

const Region* GmView::containing(uint64_t addr, uint64_t bytes) const {
  for (const Region& r : regions_) {
    if (addr >= r.addr && bytes <= r.bytes && addr - r.addr <= r.bytes - bytes) return &r;
  }
  return nullptr;
}

const Region* GmView::overlapping(uint64_t addr, uint64_t bytes) const {
  for (const Region& r : regions_) {
    if (addr < r.addr + r.bytes && r.addr < addr + bytes) return &r;
  }
  return nullptr;
}

bool GmView::find(uint64_t addr, uint64_t bytes, GmRange* range, std::string* reason) const {
  if (addr + bytes < addr) {
    *reason = "address " + hex(addr) + " plus " + std::to_string(bytes) + " bytes wraps around";
    return false;
  }
  // Regions are exact and may alias each other; memory outside all of them is judged by its
  // allocation, because a kernel may reach it through pointers held in memory.
  if (const Region* r = containing(addr, bytes)) {
    *range = GmRange{r->addr, r->addr + r->bytes};
    return true;
  }
  if (const Region* r = overlapping(addr, bytes)) {
    *reason = extent(addr, addr + bytes) + " leaves '" + r->name + "' " +
              extent(r->addr, r->addr + r->bytes);
    return false;
  }
  const auto list = gm_allocations();
  const GmRange* a = holder(*list, addr);
  if (a == nullptr) {
    *reason = extent(addr, addr + bytes) + " lies in no device allocation";
    for (const Region& r : regions_) {
      if (addr >= r.addr + r.bytes && addr - (r.addr + r.bytes) < 4096)
        *reason += "; it begins " + std::to_string(addr - (r.addr + r.bytes)) + " bytes behind '" +
                   r.name + "'";
    }
    return false;
  }
  if (bytes > a->end - addr) {
    *reason = extent(addr, addr + bytes) + " leaves the allocation " + extent(a->begin, a->end);
    return false;
  }
  // The part of the allocation that no region covers; regions keep their own limits.
  GmRange gap = *a;
  for (const Region& r : regions_) {
    const uint64_t end = r.addr + r.bytes;
    if (end <= addr) gap.begin = std::max(gap.begin, end);
    if (r.addr >= addr + bytes) gap.end = std::min(gap.end, r.addr);
  }
  // What aclrtMalloc appends to an allocation is nobody's, however the argument before it ends.
  if (gap.end == a->end && gap.end - gap.begin < kAppended) {
    for (const Region& r : regions_) {
      if (r.addr + r.bytes != gap.begin) continue;
      *reason =
          extent(addr, addr + bytes) + " lies behind '" + r.name + "' " + extent(r.addr, gap.begin);
      return false;
    }
  }
  *range = gap;
  return true;
}

}  // namespace dav
