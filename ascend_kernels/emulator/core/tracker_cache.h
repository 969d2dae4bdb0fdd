// Hand-shakes through the scalar unit's data cache: one core stores a word and cleans its cache,
// another invalidates its own and loads until it sees the value. What the storing core had
// completed before its store is then complete for the other one.
//
// Which value a load sees is a matter of timing, but no report may be. So a load first sees the
// value from before the earliest store nothing orders before it, as the hardware may show it; only
// the next load at the same place of the kernel sees the last one and takes up what its core had
// completed. A kernel that does not look again never takes it up, however fast the other core was.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/tracker_clock.h"
#include "core/tracker_report.h"

namespace dav {

constexpr uint64_t kCacheLine = 64;

// One core's data cache, as far as it matters: which bytes it may still hold from before. Touched
// by that core only.
class CacheView {
 public:
  // Whether a load of these bytes fetches them: they were invalidated and not loaded since.
  bool fetches(uint64_t addr, uint64_t bytes);
  void invalidate(uint64_t begin, uint64_t end);  // within one line
  void invalidate_all();

  // Words this core stored and has not cleaned. What exceeds the limit is not followed.
  bool note_store(uint64_t addr);
  std::vector<uint64_t> take_stored(uint64_t begin, uint64_t end);

 private:
  static constexpr size_t kFollowed = 65536;

  bool everything_ = false;  // was invalidated: lines not listed are fetched
  // By line, bytes that may be in the cache. What was never invalidated is not listed.
  std::unordered_map<uint64_t, uint64_t> loaded_;
  std::set<uint64_t> stored_;
};

// The words of one launch. Thread-safe where the caller holds mutex().
class CachedWords {
 public:
  std::mutex& mutex() { return mutex_; }

  struct Store {
    uint64_t addr = 0;
    uint32_t bytes = 0;
    uint32_t core = 0;
    uint32_t clock = 0;  // on pipe S
    uint64_t before = 0;
    bool was_defined = true;
    bool cleaned = false;
    Parcel parcel;
    Party party;
    std::optional<Party> seen_by;  // a core that may have looked for it
  };
  // Whether the asking core knows instruction `clock` of pipe S of `core` to be complete.
  using Knows = std::function<bool(uint32_t core, uint32_t clock)>;

  void store(Store store, const Knows& knows);
  void clean(uint64_t addr, uint32_t core);

  struct Look {
    const Store* stale = nullptr;  // the load sees what was there before this one
    const Store* taken = nullptr;  // it sees this one, which nothing else orders before it
  };
  // Pointers are valid while the mutex is held.
  Look look(uint64_t addr, uint32_t core, uint32_t site, const Knows& knows);
  void looked(uint64_t addr, uint32_t core, uint32_t clock, const Party& party);

  // A store another core looked for and that never left its core's cache; of several the one at
  // the lowest address and of the lowest core.
  std::optional<Store> never_cleaned();

 private:
  struct Reader {
    size_t seen = 0;                 // stores it has taken up or knew
    std::vector<uint32_t> waits_at;  // where it has seen an old value since
    uint32_t clock = 0;              // of its last look
    Party party;
  };
  struct Word {
    std::vector<Store> stores;
    std::map<uint32_t, Reader> readers;
  };

  std::mutex mutex_;
  std::map<uint64_t, Word> words_;
};

}  // namespace dav
