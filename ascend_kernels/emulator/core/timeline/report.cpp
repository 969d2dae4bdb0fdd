#include "core/timeline/report.h"

#include <algorithm>
#include <cstdio>

namespace dav::timeline {
namespace {

// Below this, launch and ramp decide, for which the published anchors scatter by 30 %.
constexpr double kShortKernelUs = 1000;
constexpr double kShortKernelBand = 0.30;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

// Writes "key": value pairs with the commas between them.
class Object {
 public:
  Object& raw(const std::string& key, const std::string& value) {
    text_ += (text_.size() > 1 ? ", " : "") + json_string(key) + ": " + value;
    return *this;
  }
  Object& add(const std::string& key, double value) { return raw(key, number(value)); }
  Object& add(const std::string& key, uint64_t value) { return raw(key, std::to_string(value)); }
  Object& add(const std::string& key, uint32_t value) { return raw(key, std::to_string(value)); }
  Object& add(const std::string& key, const std::string& value) {
    return raw(key, json_string(value));
  }
  std::string done() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

}  // namespace

const char* core_kind_name(CoreKind kind) {
  switch (kind) {
    case CoreKind::AIC:
      return "AIC";
    case CoreKind::AIV:
      return "AIV";
    default:
      return "AICore";
  }
}

Summary summarise(const std::string& name, const std::string& soc, const Timeline& timeline,
                  const Costs& costs) {
  Summary s;
  s.name = name;
  s.soc = soc;
  s.cycles = timeline.cycles;
  s.clock_mhz = costs.clock_mhz;
  s.kernel_us = costs.microseconds(timeline.cycles);
  s.launch_us = timeline.launch_us;
  s.predicted_us = s.kernel_us + s.launch_us;
  s.error_band = costs.error_band;
  if (s.predicted_us < kShortKernelUs) s.error_band = std::max(s.error_band, kShortKernelBand);
  s.groups = timeline.groups;
  s.chip_groups = costs.groups;
  s.l2 = timeline.l2;
  double steps = 0;
  for (const CoreTimeline& core : timeline.cores) {
    steps += core.cube_steps;
    for (int p = 0; p < kPathCount; ++p) {
      if (core.bytes[p] > 0) s.bytes[path_name(static_cast<Path>(p))] += core.bytes[p];
    }
    for (int p = 0; p < kPipeCount; ++p) {
      const PipeUse& use = core.pipes[p];
      if (use.instructions == 0) continue;
      PipeShare& share =
          s.pipes[std::string(core_kind_name(core.kind)) + "." + pipe_name(static_cast<Pipe>(p))];
      ++share.cores;
      share.instructions += use.instructions;
      if (timeline.cycles <= 0) continue;
      const double busy = use.busy / timeline.cycles;
      share.busy += busy;
      share.busy_max = std::max(share.busy_max, busy);
      share.wait += use.wait / timeline.cycles;
    }
  }
  double busiest = -1;
  for (auto& [key, share] : s.pipes) {
    share.busy /= share.cores;
    share.wait /= share.cores;
    if (share.busy > busiest) {
      busiest = share.busy;
      s.limit = key;
    }
  }
  const double peak_cycles = s.predicted_us * costs.clock_mhz * costs.groups;
  if (peak_cycles > 0) s.cube_utilisation = steps / peak_cycles;
  return s;
}

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned char>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string to_json(const Summary& s) {
  Object object;
  object.add("name", s.name).add("soc", s.soc).add("source", std::string("prediction"));
  if (!s.error.empty()) return object.add("error", s.error).done();
  object.add("predicted_us", s.predicted_us)
      .add("kernel_us", s.kernel_us)
      .add("launch_us", s.launch_us)
      .add("cycles", s.cycles)
      .add("clock_mhz", s.clock_mhz)
      .add("error_band", s.error_band)
      .add("groups", s.groups)
      .add("chip_groups", s.chip_groups)
      .add("cube_utilisation", s.cube_utilisation)
      .add("limit", s.limit);
  Object pipes;
  for (const auto& [key, share] : s.pipes) {
    pipes.raw(key, Object()
                       .add("cores", share.cores)
                       .add("busy", share.busy)
                       .add("busy_max", share.busy_max)
                       .add("wait", share.wait)
                       .add("instructions", share.instructions)
                       .done());
  }
  Object bytes;
  for (const auto& [path, count] : s.bytes) bytes.add(path, count);
  const std::string l2 = Object()
                             .add("read_hit", s.l2.read_hit)
                             .add("read_miss", s.l2.read_miss)
                             .add("written", s.l2.written)
                             .add("write_back", s.l2.write_back)
                             .add("hbm", s.l2.hbm())
                             .done();
  return object.raw("pipes", pipes.done()).raw("bytes", bytes.done()).raw("l2", l2).done();
}

}  // namespace dav::timeline
