// Vector clocks. The threads of the model are the pipes of every core; a component counts the
// instructions of one pipe that are known to be complete.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "dav/types.h"

namespace dav {

using OwnClock = std::array<uint32_t, kPipeCount>;
// Components of all cores, kPipeCount each; those of the holder's own core are unused. Shared and
// never changed, because in-core flags pass it on far more often than cross-core flags renew it.
using ForeignClock = std::shared_ptr<const std::vector<uint32_t>>;

// What a pipe knows to be complete before its next instruction starts.
struct Knowledge {
  OwnClock own{};
  ForeignClock foreign;

  uint32_t of(uint32_t core, Pipe pipe) const {
    return foreign ? (*foreign)[core * kPipeCount + static_cast<size_t>(pipe)] : 0;
  }
  void join(const Knowledge& other) {
    join_own(other);
    join_foreign(other);
  }
  void join_own(const Knowledge& other);
  void join_foreign(const Knowledge& other);
};

// What one cross-core set hands over: its core and what the setting pipe knew, itself included.
struct Parcel {
  uint32_t core = 0;
  Knowledge knowledge;
};

// Joins parcels of other cores (and of the core itself, which a barrier-like mode hands back) into
// `into`, a clock of core `self` in a launch of `cores` cores.
void join_parcels(Knowledge& into, uint32_t self, uint32_t cores,
                  const std::vector<const Parcel*>& parcels);

}  // namespace dav
