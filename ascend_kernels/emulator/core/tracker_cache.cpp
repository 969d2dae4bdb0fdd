#include "core/tracker_cache.h"

#include <algorithm>
#include <utility>

namespace dav {
namespace {

uint64_t bits_of(uint64_t addr, uint64_t bytes) {  // of its line
  const uint64_t from = addr % kCacheLine;
  const uint64_t count = std::min(bytes, kCacheLine - from);
  return (count == kCacheLine ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << from;
}

}  // namespace

bool CacheView::fetches(uint64_t addr, uint64_t bytes) {
  const uint64_t line = addr / kCacheLine, bits = bits_of(addr, bytes);
  const auto found = loaded_.find(line);
  if (found == loaded_.end()) {
    if (everything_) loaded_[line] = bits;
    return everything_;
  }
  const bool fetched = (found->second & bits) == 0;
  found->second |= bits;
  return fetched;
}

void CacheView::invalidate(uint64_t begin, uint64_t end) {
  const uint64_t line = begin / kCacheLine;
  if (everything_ && loaded_.count(line) == 0) return;
  const auto found = loaded_.emplace(line, ~uint64_t{0}).first;
  found->second &= ~bits_of(begin, end - begin);
}

void CacheView::invalidate_all() {
  everything_ = true;
  loaded_.clear();
}

bool CacheView::note_store(uint64_t addr) {
  if (stored_.size() >= kFollowed && stored_.count(addr) == 0) return false;
  stored_.insert(addr);
  return true;
}

std::vector<uint64_t> CacheView::take_stored(uint64_t begin, uint64_t end) {
  const auto first = stored_.lower_bound(begin), last = stored_.lower_bound(end);
  std::vector<uint64_t> words(first, last);
  stored_.erase(first, last);
  return words;
}

void CachedWords::store(Store store, const Knows& knows) {
  Word& word = words_[store.addr];
  for (const auto& [core, reader] : word.readers) {
    if (core == store.core || reader.clock == 0 || knows(core, reader.clock)) continue;
    store.seen_by = reader.party;
    break;
  }
  word.stores.push_back(std::move(store));
}

void CachedWords::clean(uint64_t addr, uint32_t core) {
  const auto found = words_.find(addr);
  if (found == words_.end()) return;
  for (auto s = found->second.stores.rbegin(); s != found->second.stores.rend(); ++s) {
    if (s->core != core) continue;
    if (s->cleaned) return;
    s->cleaned = true;
  }
}

CachedWords::Look CachedWords::look(uint64_t addr, uint32_t core, uint32_t site,
                                    const Knows& knows) {
  Look look;
  const auto found = words_.find(addr);
  if (found == words_.end()) return look;
  std::vector<Store>& stores = found->second.stores;
  Reader& reader = found->second.readers[core];
  const auto known = [&](const Store& s) { return s.core == core || knows(s.core, s.clock); };
  while (reader.seen < stores.size() && known(stores[reader.seen])) ++reader.seen;
  if (reader.seen == stores.size()) return look;
  std::vector<uint32_t>& places = reader.waits_at;
  if (std::find(places.begin(), places.end(), site) == places.end()) {
    places.push_back(site);
    look.stale = &stores[reader.seen];
    return look;
  }
  places.clear();
  reader.seen = stores.size();
  if (!known(stores.back())) look.taken = &stores.back();
  return look;
}

void CachedWords::looked(uint64_t addr, uint32_t core, uint32_t clock, const Party& party) {
  Word& word = words_[addr];
  Reader& reader = word.readers[core];
  reader.clock = clock;
  reader.party = party;
  for (Store& s : word.stores) {
    if (s.core == core) continue;
    if (!s.seen_by || core < s.seen_by->core.index) s.seen_by = party;
  }
}

std::optional<CachedWords::Store> CachedWords::never_cleaned() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [addr, word] : words_) {
    const Store* lowest = nullptr;
    for (const Store& s : word.stores) {
      if (s.cleaned || !s.seen_by) continue;
      if (lowest == nullptr || s.core < lowest->core) lowest = &s;
    }
    if (lowest != nullptr) return *lowest;
  }
  return std::nullopt;
}

}  // namespace dav
