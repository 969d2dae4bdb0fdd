// A timeline as Chrome trace events, which Perfetto and chrome://tracing open.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "core/timeline/report.h"

namespace dav::timeline {

class DAV_API ChromeTraceWriter {
 public:
  // Throws std::runtime_error when the file cannot be created.
  explicit ChromeTraceWriter(const std::string& path);
  ~ChromeTraceWriter();
  ChromeTraceWriter(const ChromeTraceWriter&) = delete;
  ChromeTraceWriter& operator=(const ChromeTraceWriter&) = delete;

  // Appends a launch that starts at `from_us`. One process per core, one thread per pipe. With
  // max_groups > 0 only the first so many core groups are written.
  void add(const Summary& summary, const std::vector<CoreTrace>& traces, const Timeline& timeline,
           double from_us, uint32_t max_groups = 0);
  // Completes the file. Throws std::runtime_error when not everything could be written.
  void close();

 private:
  void begin_event();
  void name_core(const CoreTrace& core, uint32_t pid);
  void complete(uint32_t pid, const TraceRecord& record, const Span& span, double from_us,
                double clock_mhz);

  std::string path_;
  std::FILE* file_;
  bool first_ = true;
  std::vector<bool> named_;  // by pid
};

}  // namespace dav::timeline
