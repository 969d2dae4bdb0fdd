#include "core/layouts.h"

#include <algorithm>

#include "core/chip.h"

namespace dav {
namespace {

template <typename T>
void clear(std::vector<T>& places, uint64_t begin, uint64_t end, uint64_t grain) {
  if (places.empty()) return;
  const auto last =
      static_cast<int64_t>(std::min<uint64_t>((end + grain - 1) / grain, places.size()));
  std::fill(places.begin() + static_cast<int64_t>(begin / grain), places.begin() + last, T{});
}

}  // namespace

uint64_t Layouts::pieces(Buffer buffer, uint64_t grain) const {
  return chip_.size_of(buffer) / grain;
}

void Layouts::forget(Buffer buffer, uint64_t begin, uint64_t end) {
  switch (buffer) {
    case Buffer::L1:
      return clear(l1_, begin, end, kBlock);
    case Buffer::L0A:
      return clear(l0a_, begin, end, kPiece);
    case Buffer::L0B:
      return clear(l0b_, begin, end, kPiece);
    case Buffer::L0C:
      return clear(l0c_, begin, end, kPiece);
    default:
      return;
  }
}

void Layouts::release() {
  std::vector<BlockOrigin>().swap(l1_);
  std::vector<FractalOrigin>().swap(l0a_);
  std::vector<FractalOrigin>().swap(l0b_);
  std::vector<TileOrigin>().swap(l0c_);
}

}  // namespace dav
