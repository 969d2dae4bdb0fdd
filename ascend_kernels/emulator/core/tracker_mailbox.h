// Words of global memory through which cores signal each other: a scalar store past the data cache
// hands over what its core has completed, a scalar load past it takes that up. Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/tracker_clock.h"

namespace dav {

class Mailbox {
 public:
  void put(uint64_t addr, Parcel parcel) {
    std::lock_guard<std::mutex> lock(mutex_);
    words_[addr] = std::move(parcel);
  }
  // What the last store to the word handed over.
  std::optional<Parcel> take(uint64_t addr) const {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = words_.find(addr);
    if (found == words_.end()) return std::nullopt;
    return found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, Parcel> words_;
};

}  // namespace dav
