#include "core/timeline/unit_order.h"

namespace dav::timeline {

void UnitOrder::issued(uint32_t record, const TraceRecord& r) {
  if (r.pipe == Pipe::M) {
    product_ = r.work.l0c_addr;
    multiplying_.push_back(record);
    return;
  }
  // A Fixpipe may take a part: what it belongs to is the product before it.
  takes_from_.push_back(product_);
  places_[product_].untaken.push_back(record);
}

double UnitOrder::start(uint32_t record, const TraceRecord& r) {
  if (r.pipe == Pipe::M) {
    const Place& place = places_[r.work.l0c_addr];
    const bool held = !place.untaken.empty() && place.untaken.front() < record;
    return held ? -1 : place.taken_at;
  }
  if (!multiplying_.empty() && multiplying_.front() < record) return -1;
  while (multiplied_.size() > 1 && multiplied_[1].first < record) multiplied_.pop_front();
  return multiplied_.empty() || multiplied_.front().first > record ? 0 : multiplied_.front().second;
}

void UnitOrder::ended(uint32_t record, const TraceRecord& r, double time) {
  if (r.pipe == Pipe::M) {
    multiplying_.pop_front();
    multiplied_.emplace_back(record, time);
    return;
  }
  Place& place = places_[takes_from_.front()];
  takes_from_.pop_front();
  place.untaken.pop_front();
  place.taken_at = time;
}

}  // namespace dav::timeline
