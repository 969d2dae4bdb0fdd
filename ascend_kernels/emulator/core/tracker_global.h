// Global memory of one launch as the tracker sees it: which region an address belongs to, and the
// shadow of everything that is written while the kernel runs. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/tracker.h"
#include "core/tracker_cells.h"

namespace dav {

// How an access enters the shadow.
Touch touch_of(Access access);

// A stretch of one region that no other region overlaps, or overlaps with less right to it: an
// output that shares memory with an input is that output, and defined from the start.
struct GlobalSegment {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t region = 0;
  bool defined = false;
};

class GlobalShadow {
 public:
  static constexpr uint64_t kPageBytes = 64 * 1024;
  static constexpr uint32_t kNoRegion = ~0u;

  explicit GlobalShadow(const std::vector<Region>& regions);

  // The segment with addr in it, or null for memory the launch's arguments do not describe.
  const GlobalSegment* find(uint64_t addr) const;
  // The segment that ends at or before addr within the padding of an allocation, or null.
  const GlobalSegment* just_before(uint64_t addr) const;
  // Start of the next segment after addr, or the largest address.
  uint64_t next_begin(uint64_t addr) const;

  // Result of one access: absolute addresses, the first of each that matters.
  struct Outcome {
    Conflict conflict;
    uint64_t undefined = 0;  // first byte read that nobody wrote; valid when any_undefined
    bool any_undefined = false;
  };
  // segment may be null. [addr, addr + bytes) lies within it.
  Outcome touch(const Viewpoint& v, Access access, const GlobalSegment* segment, uint64_t addr,
                uint64_t bytes);
  // Whether every byte has a value.
  bool defined(uint64_t addr, uint64_t bytes);
  // Gives local cells the definedness of [addr, addr + bytes).
  void copy_defined(Cells& to, uint64_t to_addr, uint64_t addr, uint64_t bytes);

 private:
  struct Page {
    explicit Page(bool defined) : cells(kPageBytes, defined, true) {}
    std::mutex mutex;
    Cells cells;
  };
  struct Pages {
    explicit Pages(size_t n) : table(n) {}
    ~Pages();
    std::vector<std::atomic<Page*>> table;
  };
  struct Stripe {
    std::mutex mutex;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  };

  Page& page(const GlobalSegment* segment, uint64_t number);

  std::vector<GlobalSegment> segments_;        // sorted, disjoint
  std::vector<std::unique_ptr<Pages>> pages_;  // one per segment
  Stripe stripes_[16];
};

}  // namespace dav
