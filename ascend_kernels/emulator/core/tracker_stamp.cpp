#include "core/tracker_stamp.h"

namespace dav {

uint32_t OpTable::number(const Op& op) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = numbers_.find(op);
  if (found != numbers_.end()) return found->second;
  if (ops_.size() >= Stamp::kMaxOps) return 0;
  const auto number = static_cast<uint32_t>(ops_.size());
  ops_.push_back(op);
  numbers_.emplace(op, number);
  return number;
}

Op OpTable::at(uint32_t number) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return ops_[number];
}

}  // namespace dav
