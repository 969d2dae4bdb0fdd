#include "core/timeline/bandwidth.h"

#include <algorithm>
#include <limits>

namespace dav::timeline {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double fit(double sum, double cap) { return cap > 0 && sum > cap ? cap / sum : 1.0; }

}  // namespace

SharedBandwidth::SharedBandwidth(const Costs& costs, uint32_t groups)
    : costs_(costs),
      group_read_(groups),
      group_write_(groups),
      group_hbm_(groups),
      next_end_(kNever) {}

void SharedBandwidth::advance(double now) {
  const double elapsed = now - now_;
  now_ = now;
  if (elapsed <= 0) return;
  for (Active& a : active_) a.left = std::max(0.0, a.left - a.rate * elapsed);
}

void SharedBandwidth::start(double now, const Flow& flow) {
  advance(now);
  const auto place =
      std::lower_bound(active_.begin(), active_.end(), flow.owner,
                       [](const Active& a, uint32_t owner) { return a.flow.owner < owner; });
  const double bytes = std::max(flow.bytes, 1e-9);
  active_.insert(place, Active{flow, bytes, 0, flow.fetched / bytes,
                               (flow.fetched + flow.background) / bytes});
  share();
}

uint32_t SharedBandwidth::finish() {
  advance(next_end_);
  const uint32_t owner = active_[next_].flow.owner;
  active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(next_));
  share();
  return owner;
}

// Every cap scales the flows that press on it in proportion. What a flow held back by a later cap
// leaves unused in an earlier one is not handed out again: slightly pessimistic under contention.
void SharedBandwidth::share() {
  std::fill(group_read_.begin(), group_read_.end(), 0.0);
  std::fill(group_write_.begin(), group_write_.end(), 0.0);
  std::fill(group_hbm_.begin(), group_hbm_.end(), 0.0);
  for (Active& a : active_) {
    a.rate = a.flow.rate_cap;
    (a.flow.write ? group_write_ : group_read_)[a.flow.group] += a.rate;
  }
  double read = 0;
  for (Active& a : active_) {
    a.rate *= a.flow.write ? fit(group_write_[a.flow.group], costs_.l2_write_group)
                           : fit(group_read_[a.flow.group], costs_.l2_read_group);
    if (!a.flow.write) read += a.rate;
  }
  const double read_fit = fit(read, costs_.l2_read_total);
  for (Active& a : active_) {
    if (!a.flow.write) a.rate *= read_fit;
    group_hbm_[a.flow.group] += a.rate * a.fetched_share;
  }
  double hbm = 0;
  for (Active& a : active_) {
    if (a.fetched_share > 0) a.rate *= fit(group_hbm_[a.flow.group], costs_.ddr_group);
    hbm += a.rate * a.hbm_share;
  }
  const double hbm_fit = fit(hbm, costs_.hbm_total * costs_.hbm_efficiency);
  next_end_ = kNever;
  for (size_t i = 0; i < active_.size(); ++i) {
    Active& a = active_[i];
    if (a.hbm_share > 0) a.rate *= hbm_fit;
    const double end = now_ + a.left / a.rate;
    if (end < next_end_) {
      next_end_ = end;
      next_ = i;
    }
  }
}

}  // namespace dav::timeline
