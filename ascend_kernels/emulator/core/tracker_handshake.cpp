// Scalar accesses to global memory, by which cores wait for each other.
#include <cstring>
#include <mutex>
#include <utility>

#include "core/happens_before.h"

namespace dav {

void HappensBefore::cached_store(const CoreId& id, const char* name, uint32_t site, uint64_t addr,
                                 uint32_t bytes, std::byte* memory, uint64_t value) {
  TrackedCore& c = core(id);
  std::lock_guard<std::mutex> lock(words_.mutex());
  c.cached(Op::Cached::Store);
  CachedWords::Store s;
  s.was_defined = global_.defined(addr, bytes);
  access(id, Pipe::S, name, site, Access::Write, Buffer::GM, addr, bytes);
  std::memcpy(&s.before, memory, bytes);
  std::memcpy(memory, &value, bytes);
  if (!c.cache.note_store(addr)) return;
  s.addr = addr;
  s.bytes = bytes;
  s.core = id.index;
  s.clock = c.clock(Pipe::S);
  s.parcel = {id.index, c.after(Pipe::S)};
  s.party = c.party();
  words_.store(std::move(s), knowledge_of(c));
}

uint64_t HappensBefore::cached_load(const CoreId& id, const char* name, uint32_t site,
                                    uint64_t addr, uint32_t bytes, const std::byte* memory) {
  TrackedCore& c = core(id);
  uint64_t value = 0;
  if (!c.cache.fetches(addr, bytes)) {
    access(id, Pipe::S, name, site, Access::Read, Buffer::GM, addr, bytes);
    std::memcpy(&value, memory, bytes);
    return value;
  }
  std::lock_guard<std::mutex> lock(words_.mutex());
  c.cached(Op::Cached::Load);
  const CachedWords::Look look = words_.look(addr, id.index, site, knowledge_of(c));
  if (look.taken != nullptr) {
    c.receive_parcels(Pipe::S, static_cast<uint32_t>(cores_.size()), {&look.taken->parcel});
  }
  const bool stale = look.stale != nullptr && look.stale->bytes == bytes;
  access(id, Pipe::S, name, site, stale ? Access::Move : Access::Read, Buffer::GM, addr, bytes);
  std::memcpy(&value, memory, bytes);
  if (stale) {
    value = look.stale->before;
    if (!look.stale->was_defined) undefined(c, global_.find(addr), addr);
  }
  words_.looked(addr, id.index, c.clock(Pipe::S), c.party());
  return value;
}

void HappensBefore::clean_cache(const CoreId& id, uint64_t addr, uint64_t bytes) {
  TrackedCore& c = core(id);
  std::lock_guard<std::mutex> lock(words_.mutex());
  if (bytes == 0) {
    c.cache.invalidate_all();
  } else {
    c.cache.invalidate(addr, addr + bytes);
  }
  const uint64_t end = bytes == 0 ? ~uint64_t{0} : addr + bytes;
  for (const uint64_t word : c.cache.take_stored(bytes == 0 ? 0 : addr, end)) {
    words_.clean(word, id.index);
  }
}

CachedWords::Knows HappensBefore::knowledge_of(const TrackedCore& c) {
  return [&c](uint32_t core, uint32_t clock) { return c.knows(core, clock); };
}

}  // namespace dav
