#include "core/tracker_order.h"

#include <algorithm>

namespace dav {

void BarrierLedger::add(Pipe pipe, uint32_t clock, uint32_t site, bool anything_new) {
  auto found = std::find_if(sites_.rbegin(), sites_.rend(),
                            [&](const Site& s) { return s.site == site && s.pipe == pipe; });
  if (found == sites_.rend()) {
    sites_.push_back({site, pipe, false, 0});
    found = sites_.rbegin();
  }
  ++found->executions;
  if (pipe == Pipe::ALL) {
    found->useful = found->useful || anything_new;
    return;
  }
  if (!anything_new) return;
  const auto index = static_cast<uint32_t>(&*found - sites_.data());
  marks_[static_cast<size_t>(pipe)].push_back({clock, index});
}

void BarrierLedger::credit(Pipe pipe, uint32_t clock) {
  const std::vector<Mark>& marks = marks_[static_cast<size_t>(pipe)];
  if (marks.empty() || marks.back().clock < clock) return;
  auto first = marks.end() - 1;
  if (marks.size() > 1 && (marks.end() - 2)->clock >= clock) {
    first = std::lower_bound(marks.begin(), marks.end(), clock,
                             [](const Mark& m, uint32_t c) { return m.clock < c; });
  }
  sites_[first->site_index].useful = true;
}

bool Viewpoint::by_cache(Stamp prior, Touch prior_touch, Touch touch) const {
  if (cached == Op::Cached::No || buffer != Buffer::GM || prior.pipe() != Pipe::S) return false;
  const bool polled = cached == Op::Cached::Load && prior_touch == Touch::Write;
  const bool polls = touch == Touch::Write && prior_touch == Touch::Read;
  if (!polled && !polls) return false;
  return ops->at(prior.op()).cached == (polled ? Op::Cached::Store : Op::Cached::Load);
}

bool Viewpoint::by_hardware(Stamp prior, Touch prior_touch, Touch touch) const {
  if (auto_sync) {
    const auto scalar_partner = [](Pipe p) {
      return p == Pipe::V || p == Pipe::MTE2 || p == Pipe::MTE3;
    };
    const bool covered = (pipe == Pipe::V && prior.pipe() == Pipe::V) ||
                         (pipe == Pipe::S && scalar_partner(prior.pipe())) ||
                         (prior.pipe() == Pipe::S && scalar_partner(pipe));
    if (covered) {
      *auto_waits = static_cast<uint8_t>(*auto_waits | 1u << static_cast<int>(prior.pipe()));
      return true;
    }
  }
  if (buffer != Buffer::L0C) return false;
  const uint8_t prior_unit = unit_flag == 0 ? 0 : ops->at(prior.op()).unit_flag;
  if (pipe == Pipe::M && prior.pipe() == Pipe::M) {
    // A unit flag left set by the earlier Mmad holds this one back until a Fixpipe cleared it.
    if (prior_unit == 3) return true;
    return !std::binary_search(small_mmads->begin(), small_mmads->end(), prior.clock());
  }
  // Unit flags (Ascend C reference, UnitFlag): 3 hands the block to the other side when done; an
  // instruction with 2 or 3 waits until the block is its own.
  const bool pair = (pipe == Pipe::FIX && prior.pipe() == Pipe::M) ||
                    (pipe == Pipe::M && prior.pipe() == Pipe::FIX);
  if (!pair || prior_unit == 0) return false;
  if (pipe == Pipe::M) return prior_unit == 3;
  return prior_touch == Touch::Write && touch == Touch::Read && prior_unit == 3;
}

}  // namespace dav
