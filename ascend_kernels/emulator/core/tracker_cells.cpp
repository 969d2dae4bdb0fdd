#include "core/tracker_cells.h"

#include <algorithm>

namespace dav {
namespace {

uint32_t mask_of(uint64_t from, uint64_t to) {  // bytes [from, to) of a cell, to > from
  return (kWholeCell >> (kCellBytes - (to - from))) << from;
}

// Calls f(cell, mask) for each cell of [begin, end).
template <class F>
void for_cells(uint64_t begin, uint64_t end, F f) {
  for (uint64_t at = begin; at < end;) {
    const uint64_t cell = at / kCellBytes;
    const uint64_t stop = std::min(end, (cell + 1) * kCellBytes);
    f(cell, mask_of(at - cell * kCellBytes, stop - cell * kCellBytes));
    at = stop;
  }
}

}  // namespace

Cells::Cells(uint64_t bytes, bool defined, bool keep_first)
    : cells_((bytes + kCellBytes - 1) / kCellBytes),
      defined_(cells_.size(), defined ? kWholeCell : 0),
      first_write_(keep_first ? cells_.size() : 0) {}

Conflict Cells::touch(const Viewpoint& v, Touch touch, uint64_t begin, uint64_t end) {
  Conflict conflict;
  const uint64_t first = (begin + kCellBytes - 1) / kCellBytes;
  const uint64_t last = end / kCellBytes;
  if (touch == Touch::Atomic || first >= last) {
    for_cells(begin, end,
              [&](uint64_t cell, uint32_t mask) { touch_part(v, touch, cell, mask, conflict); });
    return conflict;
  }
  const auto part = [&](uint64_t cell, uint32_t mask) {
    touch_part(v, touch, cell, mask, conflict);
  };
  for_cells(begin, first * kCellBytes, part);
  if (touch == Touch::Write) {
    write_whole(v, first, last, conflict);
  } else {
    read_whole(v, first, last, conflict);
  }
  for_cells(last * kCellBytes, end, part);
  return conflict;
}

void Cells::write_whole(const Viewpoint& v, uint64_t first, uint64_t last, Conflict& conflict) {
  // Neighbours mostly carry the same stamps: judge those once.
  uint64_t good_write = 0;
  uint64_t good_read = 0;
  const Cell mine{v.now.bits(), 0};
  for (uint64_t i = first; i < last; ++i) {
    Cell& cell = cells_[i];
    if (!first_write_.empty()) note_first(i, v.now);
    if (cell.write & Stamp::kTopBit) {
      touch_part(v, Touch::Write, i, kWholeCell, conflict);
      continue;
    }
    if (cell.write != good_write) {
      const Stamp prior = Stamp::from_bits(cell.write);
      if (prior && !v.ordered(prior, Touch::Write, Touch::Write)) {
        check(v, Touch::Write, i, kWholeCell, {prior, kWholeCell, Touch::Write}, conflict);
      } else {
        good_write = cell.write;
      }
    }
    if (cell.read != good_read) {
      const Stamp prior = Stamp::from_bits(cell.read);
      if (prior && !v.ordered(prior, Touch::Read, Touch::Write)) {
        check(v, Touch::Write, i, kWholeCell, {prior, kWholeCell, Touch::Read}, conflict);
      } else {
        good_read = cell.read;
      }
    }
    cell = mine;
  }
}

void Cells::read_whole(const Viewpoint& v, uint64_t first, uint64_t last, Conflict& conflict) {
  uint64_t good_write = 0;
  uint64_t dominated = 0;
  for (uint64_t i = first; i < last; ++i) {
    Cell& cell = cells_[i];
    if (cell.write & Stamp::kTopBit) {
      touch_part(v, Touch::Read, i, kWholeCell, conflict);
      continue;
    }
    if (cell.write != good_write) {
      const Stamp prior = Stamp::from_bits(cell.write);
      if (prior && !v.ordered(prior, Touch::Write, Touch::Read)) {
        check(v, Touch::Read, i, kWholeCell, {prior, kWholeCell, Touch::Write}, conflict);
      } else {
        good_write = cell.write;
      }
    }
    // Only a write that some other core may still race with matters for `handed`.
    const Stamp now = cell.write ? v.now.with_handed() : v.now;
    if (cell.read != dominated) {
      const Stamp prior = Stamp::from_bits(cell.read);
      if (prior && !v.knows(prior)) {
        expand(i).push_back({now, kWholeCell, Touch::Read});
        continue;
      }
      dominated = cell.read;
    }
    cell.read = now.bits();
  }
}

void Cells::touch_part(const Viewpoint& v, Touch touch, uint64_t cell, uint32_t mask,
                       Conflict& conflict) {
  if (touch != Touch::Read && !first_write_.empty()) note_first(cell, v.now);
  Detail& detail = expand(cell);
  Stamp now = v.now;
  for (Entry& entry : detail) {
    const uint32_t shared = entry.mask & mask;
    if (shared == 0) continue;
    const bool conflicting = (touch != Touch::Read || entry.touch != Touch::Read) &&
                             !(touch == Touch::Atomic && entry.touch == Touch::Atomic);
    if (conflicting && !v.ordered(entry.stamp, entry.touch, touch)) {
      check(v, touch, cell, shared, entry, conflict);
    }
    if (touch == Touch::Read && entry.touch != Touch::Read) now = now.with_handed();
    // A write replaces all before it. A read or an atomic replaces its like when whatever comes
    // after it also comes after the one replaced.
    if (touch == Touch::Write || (touch == entry.touch && v.knows(entry.stamp))) {
      entry.mask &= ~mask;
    }
  }
  detail.erase(
      std::remove_if(detail.begin(), detail.end(), [](const Entry& e) { return e.mask == 0; }),
      detail.end());
  const auto same = std::find_if(detail.begin(), detail.end(), [&](const Entry& e) {
    return e.touch == touch && e.stamp.bits() == now.bits();
  });
  if (same != detail.end()) {
    same->mask |= mask;
  } else {
    detail.push_back({now, mask, touch});
  }
  collapse(cell);
}

void Cells::check(const Viewpoint& v, Touch touch, uint64_t cell, uint32_t mask, const Entry& entry,
                  Conflict& conflict) const {
  const uint64_t begin = cell * kCellBytes + __builtin_ctz(mask);
  const uint64_t end = cell * kCellBytes + kCellBytes - __builtin_clz(mask);
  // Where a reader and a writer were both overtaken, the flag from the reader mends both.
  const bool better = conflict && conflict.begin == begin && entry.touch == Touch::Read &&
                      conflict.prior_touch != Touch::Read;
  if (!conflict || better) {
    conflict.prior = entry.stamp;
    conflict.prior_touch = entry.touch;
    conflict.begin = begin;
    conflict.end = end;
    conflict.after_write = touch == Touch::Read ? after_known_write(v, cell) : entry.stamp.handed();
  } else if (conflict.prior.same_instruction(entry.stamp) && conflict.prior_touch == entry.touch &&
             begin <= conflict.end) {
    conflict.end = std::max(conflict.end, end);
  }
}

void Cells::note_first(uint64_t cell, Stamp now) {
  if (first_write_[cell] == 0) first_write_[cell] = now.bits();
}

bool Cells::after_known_write(const Viewpoint& v, uint64_t cell) const {
  if (first_write_.empty() || first_write_[cell] == 0) return false;
  return v.knows(Stamp::from_bits(first_write_[cell]));
}

Cells::Detail& Cells::expand(uint64_t index) {
  Cell& cell = cells_[index];
  if (cell.write & Stamp::kTopBit) return details_[cell.write & ~Stamp::kTopBit];
  uint32_t slot;
  if (free_details_.empty()) {
    slot = static_cast<uint32_t>(details_.size());
    details_.emplace_back();
  } else {
    slot = free_details_.back();
    free_details_.pop_back();
  }
  Detail& detail = details_[slot];
  if (cell.write) detail.push_back({Stamp::from_bits(cell.write), kWholeCell, Touch::Write});
  if (cell.read) detail.push_back({Stamp::from_bits(cell.read), kWholeCell, Touch::Read});
  cell = {Stamp::kTopBit | slot, 0};
  return detail;
}

void Cells::collapse(uint64_t index) {
  Cell& cell = cells_[index];
  const auto slot = static_cast<uint32_t>(cell.write & ~Stamp::kTopBit);
  Detail& detail = details_[slot];
  if (detail.size() > 2) return;
  Cell plain;
  for (const Entry& e : detail) {
    if (e.mask != kWholeCell || e.touch == Touch::Atomic) return;
    uint64_t& place = e.touch == Touch::Write ? plain.write : plain.read;
    if (place != 0) return;
    place = e.stamp.bits();
  }
  detail.clear();
  free_details_.push_back(slot);
  cell = plain;
}

uint64_t Cells::first_undefined(uint64_t begin, uint64_t end) const {
  const uint64_t whole = (begin + kCellBytes - 1) / kCellBytes;
  const uint64_t stop = end / kCellBytes;
  if (whole < stop && whole * kCellBytes == begin && stop * kCellBytes == end) {
    uint32_t all = kWholeCell;
    for (uint64_t i = whole; i < stop; ++i) all &= defined_[i];
    if (all == kWholeCell) return end;
  }
  uint64_t found = end;
  for_cells(begin, end, [&](uint64_t cell, uint32_t mask) {
    const uint32_t missing = ~defined_[cell] & mask;
    if (missing != 0 && found == end) found = cell * kCellBytes + __builtin_ctz(missing);
  });
  return found;
}

void Cells::set_defined(uint64_t begin, uint64_t end, bool defined) {
  if (begin % kCellBytes == 0 && end % kCellBytes == 0) {
    std::fill(defined_.begin() + static_cast<int64_t>(begin / kCellBytes),
              defined_.begin() + static_cast<int64_t>(end / kCellBytes), defined ? kWholeCell : 0);
    return;
  }
  for_cells(begin, end, [&](uint64_t cell, uint32_t mask) {
    defined_[cell] = defined ? defined_[cell] | mask : defined_[cell] & ~mask;
  });
}

void Cells::copy_defined(uint64_t begin, const Cells& from, uint64_t from_begin, uint64_t bytes) {
  if (begin % kCellBytes == 0 && from_begin % kCellBytes == 0 && bytes % kCellBytes == 0) {
    std::copy_n(from.defined_.begin() + static_cast<int64_t>(from_begin / kCellBytes),
                bytes / kCellBytes, defined_.begin() + static_cast<int64_t>(begin / kCellBytes));
    return;
  }
  for (uint64_t i = 0; i < bytes; ++i) {
    const uint64_t s = from_begin + i;
    const uint64_t d = begin + i;
    const uint32_t bit = from.defined_[s / kCellBytes] >> (s % kCellBytes) & 1;
    uint32_t& cell = defined_[d / kCellBytes];
    cell = (cell & ~(1u << (d % kCellBytes))) | bit << (d % kCellBytes);
  }
}

}  // namespace dav
