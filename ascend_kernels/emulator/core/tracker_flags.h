// The in-core flags of one core: one bit per source pipe, destination pipe and event id, each with
// what the setting pipe had completed.
#pragma once

#include <array>
#include <cstdint>

#include "core/tracker_clock.h"
#include "dav/types.h"

namespace dav {

constexpr int kMaxEventIds = 8;

struct Flag {
  bool set = false;
  uint32_t site = 0;       // of the last set
  uint32_t wait_site = 0;  // of the last wait
  Knowledge knowledge;
};

class FlagTable {
 public:
  Flag& at(Pipe src, Pipe dst, int id) {
    return flags_[static_cast<size_t>(src)][static_cast<size_t>(dst)][static_cast<size_t>(id)];
  }

  // f(src, dst, id, flag) for every flag that is set.
  template <class F>
  void each_set(F f) const {
    for (int s = 0; s < kPipeCount; ++s) {
      for (int d = 0; d < kPipeCount; ++d) {
        for (int id = 0; id < kMaxEventIds; ++id) {
          const Flag& flag =
              flags_[static_cast<size_t>(s)][static_cast<size_t>(d)][static_cast<size_t>(id)];
          if (flag.set) f(static_cast<Pipe>(s), static_cast<Pipe>(d), id, flag);
        }
      }
    }
  }

 private:
  std::array<std::array<std::array<Flag, kMaxEventIds>, kPipeCount>, kPipeCount> flags_{};
};

}  // namespace dav
