#include "core/timeline/l2.h"

#include <algorithm>

namespace dav::timeline {

void L2Traffic::add(const L2Traffic& o) {
  read_hit += o.read_hit;
  read_miss += o.read_miss;
  written += o.written;
  write_back += o.write_back;
}

L2Cache::L2Cache(uint64_t bytes, uint32_t line_bytes)
    : line_bytes_(line_bytes),
      capacity_(static_cast<uint32_t>(std::max<uint64_t>(1, bytes / line_bytes))) {}

void L2Cache::unlink(uint32_t slot) {
  const Line& line = lines_[slot];
  (line.prev == kNone ? head_ : lines_[line.prev].next) = line.next;
  (line.next == kNone ? tail_ : lines_[line.next].prev) = line.prev;
}

void L2Cache::push_front(uint32_t slot) {
  lines_[slot].prev = kNone;
  lines_[slot].next = head_;
  (head_ == kNone ? tail_ : lines_[head_].prev) = slot;
  head_ = slot;
}

bool L2Cache::touch(uint64_t tag, bool write, L2Traffic& traffic) {
  const auto found = index_.find(tag);
  if (found != index_.end()) {
    const uint32_t slot = found->second;
    lines_[slot].dirty |= write;
    if (slot != head_) {
      unlink(slot);
      push_front(slot);
    }
    return true;
  }
  uint32_t slot;
  if (lines_.size() < capacity_) {
    slot = static_cast<uint32_t>(lines_.size());
    lines_.push_back({});
  } else {
    slot = tail_;
    if (lines_[slot].dirty) traffic.write_back += line_bytes_;
    index_.erase(lines_[slot].tag);
    unlink(slot);
  }
  lines_[slot].tag = tag;
  lines_[slot].dirty = write;
  index_.emplace(tag, slot);
  push_front(slot);
  return false;
}

L2Traffic L2Cache::access(const Work& work, bool write) {
  L2Traffic traffic;
  const uint64_t bursts = std::max<uint32_t>(1, work.bursts);
  const uint64_t burst_bytes = work.bytes / bursts;
  // Bursts that lie end to end are one piece, which walks each line once.
  const bool dense = bursts == 1 || work.gm_stride == burst_bytes;
  const uint64_t pieces = dense ? 1 : bursts;
  uint64_t rest = work.bytes;
  for (uint64_t i = 0; i < pieces && rest > 0; ++i) {
    uint64_t at = work.gm_addr + i * work.gm_stride;
    // The last piece takes what an uneven division leaves.
    uint64_t left = i + 1 == pieces ? rest : burst_bytes;
    rest -= left;
    while (left > 0) {
      const uint64_t in_line = std::min<uint64_t>(left, line_bytes_ - at % line_bytes_);
      const bool hit = touch(at / line_bytes_, write, traffic);
      (write ? traffic.written : hit ? traffic.read_hit : traffic.read_miss) += in_line;
      if (write && work.atomic && !hit) traffic.read_miss += in_line;
      at += in_line;
      left -= in_line;
    }
  }
  return traffic;
}

}  // namespace dav::timeline
