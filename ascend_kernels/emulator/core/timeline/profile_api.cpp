#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "core/timeline/chrome_trace.h"
#include "core/timeline/profile_session.h"
#include "core/timeline/replay.h"
#include "core/timeline/report.h"
#include "dav/profile.h"

namespace dav {
namespace {

using namespace timeline;

struct Launch {
  Summary summary;
  std::vector<CoreTrace> traces;  // dropped, with the spans, once too many are kept
  Timeline timeline;
};

// Records kept for pictures over the whole session: some 2 GiB.
constexpr size_t kMaxRecords = 16'000'000;

struct Session {
  std::vector<std::pair<std::string, double>> parameters;
  ReplayOptions options;
  bool timing_only = false;
  size_t records = 0;
  std::vector<std::unique_ptr<Launch>> launches;
};

std::atomic<bool> active{false};
std::atomic<bool> timing_only{false};
std::mutex mutex;  // guards session; held during replays, so launches keep their order
Session session;
thread_local std::string last_error;

int fail(const std::string& why) {
  last_error = why;
  return -1;
}

Session parse(const char* options) {
  Session parsed;
  Costs probe = costs_of(chip_by_name("Ascend910B3"));
  std::string rest = options == nullptr ? "" : options;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string item = rest.substr(0, comma);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    const size_t equals = item.find('=');
    char* end = nullptr;
    const char* text = equals == std::string::npos ? "" : item.c_str() + equals + 1;
    const double value = std::strtod(text, &end);
    if (end == text || *end != '\0') {
      throw std::invalid_argument("profile option '" + item + "' is not of the form name=number");
    }
    const std::string name = item.substr(0, equals);
    if (name == "warm_l2") {
      parsed.options.warm_l2 = value != 0;
    } else if (name == "timing_only") {
      parsed.timing_only = value != 0;
    } else {
      set_parameter(probe, name, value);
      parsed.parameters.emplace_back(name, value);
    }
  }
  return parsed;
}

size_t copy_out(const std::string& from, char* text, size_t size) {
  if (text != nullptr && size > 0) {
    const size_t count = std::min(size - 1, from.size());
    std::memcpy(text, from.data(), count);
    text[count] = '\0';
  }
  return from.size() + 1;
}

void predict(Launch& launch, const std::string& name, const Chip& chip) {
  Costs costs = costs_of(chip);
  for (const auto& [parameter, value] : session.parameters) set_parameter(costs, parameter, value);
  ReplayOptions options = session.options;
  size_t records = 0;
  for (const CoreTrace& t : launch.traces) records += t.records.size();
  options.keep_spans = session.records + records <= kMaxRecords;
  launch.timeline = replay(launch.traces, costs, options);
  launch.summary = summarise(name, chip.name, launch.timeline, costs);
  if (options.keep_spans) {
    session.records += records;
  } else {
    launch.traces.clear();
  }
}

}  // namespace

bool profile_active() { return active.load(std::memory_order_relaxed); }

bool profile_timing_only() { return timing_only.load(std::memory_order_relaxed); }

void profile_record(const std::string& name, const Chip& chip, std::vector<CoreTrace> traces) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!profile_active()) return;
  auto launch = std::make_unique<Launch>();
  launch->traces = std::move(traces);
  try {
    predict(*launch, name, chip);
  } catch (const std::exception& e) {
    launch->traces.clear();
    launch->summary.name = name;
    launch->summary.soc = chip.name;
    launch->summary.error = e.what();
  }
  session.launches.push_back(std::move(launch));
}

}  // namespace dav

using namespace dav;

int davProfileBegin(const char* options) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (active) return fail("a profiling session is already open in this process");
  try {
    session = parse(options);
  } catch (const std::exception& e) {
    return fail(e.what());
  }
  timing_only = session.timing_only;
  active = true;
  return 0;
}

int davProfileEnd(void) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!active) return fail("no profiling session is open");
  active = false;
  timing_only = false;
  return 0;
}

uint32_t davProfileKernelCount(void) {
  const std::lock_guard<std::mutex> lock(mutex);
  return static_cast<uint32_t>(session.launches.size());
}

size_t davProfileSummaryJson(char* text, size_t size) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::string json = "{\"kernels\": [";
  double total = 0;
  for (const auto& launch : session.launches) {
    if (launch != session.launches.front()) json += ", ";
    json += to_json(launch->summary);
    total += launch->summary.predicted_us;
  }
  json += "], \"predicted_us\": " + std::to_string(total) + "}";
  return copy_out(json, text, size);
}

size_t davProfileParametersJson(char* text, size_t size) {
  std::string json;
  for (const Parameter& p : parameters()) {
    json += (json.empty() ? "[" : ", ") + std::string("{\"name\": ") + json_string(p.name) +
            ", \"low\": " + std::to_string(p.low) + ", \"high\": " + std::to_string(p.high) +
            ", \"source\": " + json_string(p.source) + "}";
  }
  return copy_out(json + "]", text, size);
}

int davProfileWriteChromeTrace(const char* path, int64_t kernel, uint32_t max_groups) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto count = static_cast<int64_t>(session.launches.size());
  if (count == 0) return fail("no launch was recorded");
  if (kernel >= count) {
    return fail("launch " + std::to_string(kernel) + " was asked for, " + std::to_string(count) +
                " were recorded");
  }
  try {
    ChromeTraceWriter writer(path);
    double from_us = 0;
    for (int64_t i = kernel < 0 ? 0 : kernel; i < (kernel < 0 ? count : kernel + 1); ++i) {
      const Launch& launch = *session.launches[static_cast<size_t>(i)];
      writer.add(launch.summary, launch.traces, launch.timeline, from_us, max_groups);
      from_us += launch.summary.predicted_us;
    }
    writer.close();
  } catch (const std::exception& e) {
    return fail(e.what());
  }
  return 0;
}

size_t davProfileLastError(char* text, size_t size) { return copy_out(last_error, text, size); }
