// The chip's shared L2: which bytes of a transfer hit, miss, or push dirty data out to HBM.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/work.h"
#include "dav/api.h"

namespace dav::timeline {

struct L2Traffic {
  uint64_t read_hit = 0;    // bytes
  uint64_t read_miss = 0;   // bytes, fetched from HBM
  uint64_t written = 0;     // bytes
  uint64_t write_back = 0;  // bytes of dirty lines evicted to HBM

  uint64_t hbm() const { return read_miss + write_back; }
  void add(const L2Traffic& o);
};

// An atomic store to a line that is not there fetches it: the sum needs the old value. Any other
// store leaves the rest of the line to be merged later.
//
// Fully associative, least recently used, write-back and write-allocate. Associativity and hashing
// of the real cache are not published; full associativity also keeps the figure independent of
// where the host's allocator put a buffer.
class DAV_API L2Cache {
 public:
  L2Cache(uint64_t bytes, uint32_t line_bytes);

  // One Move to or from global memory, burst by burst.
  L2Traffic access(const Work& work, bool write);

 private:
  struct Line {
    uint64_t tag;
    uint32_t prev, next;
    bool dirty;
  };

  // Touches one line; true on a hit.
  bool touch(uint64_t tag, bool write, L2Traffic& traffic);
  void unlink(uint32_t slot);
  void push_front(uint32_t slot);

  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t line_bytes_;
  uint32_t capacity_;
  std::vector<Line> lines_;
  std::unordered_map<uint64_t, uint32_t> index_;
  uint32_t head_ = kNone, tail_ = kNone;
};

}  // namespace dav::timeline
