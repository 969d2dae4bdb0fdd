#include "core/tracker_report.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <utility>

#include "core/call_site.h"

namespace dav {
namespace {

struct Verbs {
  const char* title;
  const char* first;
  const char* second;
};

Verbs verbs(RaceKind kind) {
  switch (kind) {
    case RaceKind::ReadAfterWrite:
      return {"read after write (RAW)", "writes", "reads"};
    case RaceKind::WriteAfterRead:
      return {"write after read (WAR)", "reads", "overwrites"};
    default:
      return {"write after write (WAW)", "writes", "overwrites"};
  }
}

std::string quoted(const Party& p) { return std::string(pipe_name(p.pipe)) + " " + p.op.name; }

std::string cross_core(const Party& first, const Party& second) {
  const std::string set_pipe = std::string("PIPE_") + pipe_name(first.pipe);
  const auto pair = [&](const char* mode) {
    return "CrossCoreSetFlag<" + std::string(mode) + ", " + set_pipe + ">(id) on " +
           core_name(first.core) + " after its " + quoted(first) + ", CrossCoreWaitFlag(id) on " +
           core_name(second.core) + " before its " + quoted(second);
  };
  const bool same_block = first.core.block == second.core.block;
  const bool same_kind = first.core.kind == second.core.kind;
  if (first.core.kind == CoreKind::Coupled) {
    return "an order between the cores; this chip has no cross-core flags, so each core has to "
           "keep to its own memory or use SyncAll with a workspace";
  }
  if (same_block && !same_kind) return pair("2");
  if (same_block) return pair("1");
  if (same_kind) return pair("0") + " (all cores of the kind take part), or SyncAll";
  return "an order between blocks: SyncAll<false>, or flags in modes 2 and 0 one after the other";
}

}  // namespace

std::string format(const char* text, ...) {
  char buffer[512];
  va_list args;
  va_start(args, text);
  std::vsnprintf(buffer, sizeof buffer, text, args);
  va_end(args);
  return buffer;
}

const char* pipe_name(Pipe pipe) {
  static const char* const names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"};
  return names[static_cast<size_t>(pipe)];
}

const char* buffer_name(Buffer buffer) {
  static const char* const names[] = {"GM", "L1", "L0A", "L0B", "L0C", "UB", "BT", "FB"};
  return names[static_cast<size_t>(buffer)];
}

std::string core_name(const CoreId& core) {
  const std::string block = std::to_string(core.block);
  switch (core.kind) {
    case CoreKind::AIC:
      return "AIC " + block;
    case CoreKind::AIV:
      return "AIV " + block + "." + std::to_string(core.sub_block);
    default:
      return "AICore " + block;
  }
}

std::string describe(const Party& party) {
  std::string text = core_name(party.core) + ", " + quoted(party);
  const std::string stack = describe_site(party.op.site);
  if (stack.empty()) return text;
  text += " at";
  for (size_t at = 0; at < stack.size();) {
    const size_t end = std::min(stack.find('\n', at), stack.size());
    if (end > at) text += "\n      " + stack.substr(at, end - at);
    at = end + 1;
  }
  return text;
}

std::string headline(const char* kind, const std::string& chip, const Party& party) {
  return std::string(kind) + " on " + chip + ", " + core_name(party.core) + ", pipe " +
         pipe_name(party.pipe) + ", " + party.op.name + ": ";
}

std::string local_range(Buffer buffer, uint64_t begin, uint64_t end) {
  char text[64];
  std::snprintf(text, sizeof text, "%s[0x%" PRIx64 ", 0x%" PRIx64 ")", buffer_name(buffer), begin,
                end);
  return text;
}

std::string missing_sync(const Party& first, const Party& second) {
  if (first.core.index != second.core.index) return cross_core(first, second);
  const std::string a = pipe_name(first.pipe);
  const std::string b = pipe_name(second.pipe);
  if (a == b) {
    return "PipeBarrier<PIPE_" + a + ">() between " + first.op.name + " and " + second.op.name;
  }
  const std::string event = "Flag<HardEvent::" + a + "_" + b + ">(id)";
  return "Set" + event + " after " + quoted(first) + " and Wait" + event + " before " +
         quoted(second);
}

std::string race_report(const std::string& chip, RaceKind kind, const Party& first,
                        const Party& second, const std::string& where) {
  const Verbs v = verbs(kind);
  return headline("DataRace", chip, second) + v.title + ": " + core_name(first.core) + " " +
         quoted(first) + " " + v.first + " " + where + ", " + core_name(second.core) + " " +
         quoted(second) + " " + v.second +
         " it, and nothing orders the two\n  first:  " + describe(first) +
         "\n  second: " + describe(second) + "\n  missing: " + missing_sync(first, second);
}

std::vector<std::string> barrier_hints(const std::vector<const BarrierLedger*>& ledgers) {
  std::map<std::pair<uint32_t, Pipe>, BarrierLedger::Site> sites;
  for (const BarrierLedger* ledger : ledgers) {
    for (const BarrierLedger::Site& s : ledger->sites()) {
      BarrierLedger::Site& sum = sites[{s.site, s.pipe}];
      sum.useful = sum.useful || s.useful;
      sum.executions += s.executions;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [key, s] : sites) {
    if (s.useful) continue;
    std::string line = std::string("PipeBarrier<PIPE_") + pipe_name(key.second) +
                       "> ordered nothing in " + std::to_string(s.executions) + " executions";
    const std::string where = describe_site(key.first);
    if (!where.empty()) line += ": " + where.substr(0, where.find('\n'));
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace dav
