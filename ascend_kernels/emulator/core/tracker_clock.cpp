#include "core/tracker_clock.h"

#include <algorithm>

namespace dav {
namespace {

void join_into(uint32_t* into, const uint32_t* other, size_t n) {
  for (size_t i = 0; i < n; ++i) into[i] = std::max(into[i], other[i]);
}

bool covers(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  bool less = false;
  for (size_t i = 0; i < a.size(); ++i) less |= a[i] < b[i];
  return !less;
}

}  // namespace

void Knowledge::join_own(const Knowledge& other) {
  join_into(own.data(), other.own.data(), own.size());
}

void Knowledge::join_foreign(const Knowledge& other) {
  if (foreign == other.foreign || !other.foreign) return;
  // A flag set before the last cross-core wait brings an older clock, one set after it a newer
  // one; keeping one of the two keeps the pipes on a shared clock.
  if (!foreign || covers(*other.foreign, *foreign)) {
    foreign = other.foreign;
    return;
  }
  if (covers(*foreign, *other.foreign)) return;
  auto joined = std::make_shared<std::vector<uint32_t>>(*foreign);
  join_into(joined->data(), other.foreign->data(), joined->size());
  foreign = std::move(joined);
}

void join_parcels(Knowledge& into, uint32_t self, uint32_t cores,
                  const std::vector<const Parcel*>& parcels) {
  auto joined = into.foreign
                    ? std::make_shared<std::vector<uint32_t>>(*into.foreign)
                    : std::make_shared<std::vector<uint32_t>>(size_t{cores} * kPipeCount, 0);
  for (const Parcel* parcel : parcels) {
    const Knowledge& k = parcel->knowledge;
    if (k.foreign) {
      join_into(joined->data(), k.foreign->data(), joined->size());
      join_into(into.own.data(), k.foreign->data() + size_t{self} * kPipeCount, kPipeCount);
    }
    if (parcel->core == self) {
      join_into(into.own.data(), k.own.data(), kPipeCount);
    } else {
      join_into(joined->data() + size_t{parcel->core} * kPipeCount, k.own.data(), kPipeCount);
    }
  }
  into.foreign = std::move(joined);
}

}  // namespace dav
