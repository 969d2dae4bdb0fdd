// Flags, barriers, cross-core flags, and what has to be in balance at the end.
#include <algorithm>
#include <cinttypes>
#include <utility>

#include "core/call_site.h"
#include "core/happens_before.h"

namespace dav {
namespace {

std::string event_name(Pipe src, Pipe dst, int id) {
  return format("<HardEvent::%s_%s>(%d)", pipe_name(src), pipe_name(dst), id);
}

}  // namespace

void HappensBefore::set_flag(const CoreId& id, Pipe src, Pipe dst, int event, uint32_t site) {
  TrackedCore& c = core(id);
  Flag& flag = checked_flag(c, "SetFlag", src, dst, event, site);
  if (flag.set) {
    misuse(c, src, "SetFlag", site,
           "SetFlag" + event_name(src, dst, event) +
               " while the flag is still set; the earlier set has to be waited for first" +
               at("\n  earlier set at", flag.site));
  }
  flag.set = true;
  flag.site = site;
  flag.knowledge = c.after(src);
}

void HappensBefore::wait_flag(const CoreId& id, Pipe src, Pipe dst, int event, uint32_t site) {
  TrackedCore& c = core(id);
  Flag& flag = checked_flag(c, "WaitFlag", src, dst, event, site);
  if (!flag.set) {
    const std::string text =
        "WaitFlag" + event_name(src, dst, event) + " without a SetFlag before it: ";
    misuse(c, dst, "WaitFlag", site,
           flag.site == 0 && flag.wait_site == 0
               ? text + "this flag was never set"
               : text + "the last set was consumed already" + at("\n  last set at", flag.site) +
                     at("\n  consumed by the wait at", flag.wait_site));
  }
  flag.set = false;
  flag.wait_site = site;
  c.receive(dst, flag.knowledge);
  flag.knowledge = Knowledge{};
}

uint64_t HappensBefore::cross_set(const CoreId& id, Pipe pipe, int mode, int flag, uint32_t site) {
  TrackedCore& c = core(id);
  Ticket t;
  t.parcel = {id.index, c.after(pipe)};
  t.setter = {id, pipe, {"CrossCoreSetFlag", site, 0}};
  t.mode = mode;
  t.id = flag;
  t.receivers = receivers(id, mode);
  return tickets_.issue(std::move(t));
}

void HappensBefore::cross_wait(const CoreId& id, Pipe pipe, int mode, int flag,
                               const std::vector<uint64_t>& tickets, uint32_t site) {
  TrackedCore& c = core(id);
  std::vector<std::shared_ptr<const Ticket>> held;
  std::vector<const Parcel*> parcels;
  for (uint64_t number : tickets) {
    std::shared_ptr<const Ticket> t = tickets_.consume(number);
    if (!t) {
      misuse(c, pipe, "CrossCoreWaitFlag", site,
             format("CrossCoreWaitFlag(%d) in mode %d consumes a set that all its receivers "
                    "consumed before",
                    flag, mode));
    }
    parcels.push_back(&t->parcel);
    held.push_back(std::move(t));
  }
  // On 2201 the reference says that mode and pipe of a wait have no effect and that every pipe's
  // later instructions are held back; 3510 holds back the named pipe.
  const bool all = chip_.arch != Arch::Dav3510 || pipe == Pipe::S;
  c.receive_parcels(all ? Pipe::ALL : pipe, static_cast<uint32_t>(cores_.size()), parcels);
}

void HappensBefore::core_end(const CoreId& id) {
  TrackedCore& c = core(id);
  c.flags.each_set([&](Pipe src, Pipe dst, int event, const Flag& flag) {
    misuse(c, src, "SetFlag", flag.site,
           "the kernel ended with SetFlag" + event_name(src, dst, event) +
               " set and never waited for");
  });
  c.release_cells();
  ++ended_;
}

void HappensBefore::launch_end() {
  for (const auto& c : cores_) {
    if (c->fault) throw make_trap(*c->fault, chip_.name, regions_);
  }
  if (const auto race = faults_.race()) throw make_trap(*race, chip_.name, regions_);
  // After the races: what came out of global memory may have no value because of one.
  for (const auto& c : cores_) {
    if (c->undefined) throw make_trap(*c->undefined, chip_.name, regions_);
  }
  // What is still open, or was not written yet, means nothing when cores were stopped midway.
  if (ended_ != cores_.size()) return;
  if (const auto f = faults_.undefined_read()) throw make_trap(*f, chip_.name, regions_);
  if (const auto s = words_.never_cleaned()) {
    refuse(TrapKind::DataRace, "DataRace", s->party,
           format("stores a word at GM 0x%" PRIx64 " and leaves it in its data cache, while %s "
                  "polls it",
                  s->addr, core_name(s->seen_by->core).c_str()) +
               "\n  polled by: " + describe(*s->seen_by) +
               "\n  missing: DataCacheCleanAndInvalid of the word after the store");
  }
  if (const auto t = tickets_.never_waited()) {
    refuse(TrapKind::FlagMisuse, "FlagMisuse", t->setter,
           format("the launch ended with CrossCoreSetFlag<%d, PIPE_%s>(%d) of %s never waited for",
                  t->mode, pipe_name(t->setter.pipe), t->id, core_name(t->setter.core).c_str()));
  }
}

std::vector<std::string> HappensBefore::hints() const {
  std::vector<const BarrierLedger*> ledgers;
  for (const auto& c : cores_) ledgers.push_back(&c->ledger);
  return barrier_hints(ledgers);
}

std::string HappensBefore::at(const char* lead, uint32_t site) {
  const std::string where = describe_site(site);
  return where.empty() ? "" : lead + (" " + where.substr(0, where.find('\n')));
}

void HappensBefore::misuse(const TrackedCore& c, Pipe pipe, const char* name, uint32_t site,
                           const std::string& text) const {
  refuse(TrapKind::FlagMisuse, "FlagMisuse", {c.id, pipe, {name, site, 0}}, text);
}

void HappensBefore::refuse(TrapKind kind, const char* name, const Party& party,
                           const std::string& text) const {
  throw Trap(kind, headline(name, chip_.name, party) + text + "\n  " + describe(party));
}

Flag& HappensBefore::checked_flag(TrackedCore& c, const char* name, Pipe src, Pipe dst, int id,
                                  uint32_t site) {
  const int limit = std::min<int>(kMaxEventIds, static_cast<int>(chip_.event_ids));
  if (id < 0 || id >= limit) {
    misuse(c, src, name, site,
           format("%s%s: event ids of this chip are 0 to %d", name,
                  event_name(src, dst, id).c_str(), limit - 1));
  }
  if (src == Pipe::ALL || dst == Pipe::ALL) {
    misuse(c, src, name, site, std::string(name) + " takes two pipes, not PIPE_ALL");
  }
  return c.flags.at(src, dst, id);
}

uint32_t HappensBefore::receivers(const CoreId& from, int mode) const {
  const CoreKind other = from.kind == CoreKind::AIC ? CoreKind::AIV : CoreKind::AIC;
  switch (mode) {
    case 0:
      return of_kind_.at(from.kind);
    case 1:
      return of_block_.at({from.block, from.kind});
    case 2: {
      const auto found = of_block_.find({from.block, other});
      return found == of_block_.end() ? 1 : found->second;
    }
    default:
      return 1;
  }
}

}  // namespace dav
