#include "core/timeline/chrome_trace.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace dav::timeline {
namespace {

// AIC, then the AIVs of the group. Process 0 carries the launches.
uint32_t pid_of(const CoreTrace& core) {
  return 1 + core.block * 3 + (core.kind == CoreKind::AIV ? 1 + core.sub_block : 0);
}

}  // namespace

ChromeTraceWriter::ChromeTraceWriter(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "w")) {
  if (file_ == nullptr) {
    throw std::runtime_error("cannot create " + path + ": " + std::strerror(errno));
  }
  std::fputs(
      "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"source\": \"prediction of a cycle model, "
      "not a measurement\"}, \"traceEvents\": [\n",
      file_);
  begin_event();
  std::fputs(
      "{\"ph\": \"M\", \"pid\": 0, \"name\": \"process_name\", "
      "\"args\": {\"name\": \"launches (predicted)\"}}",
      file_);
}

ChromeTraceWriter::~ChromeTraceWriter() {
  if (file_ != nullptr) std::fclose(file_);
}

void ChromeTraceWriter::begin_event() {
  if (!first_) std::fputs(",\n", file_);
  first_ = false;
}

void ChromeTraceWriter::name_core(const CoreTrace& core, uint32_t pid) {
  if (pid < named_.size() && named_[pid]) return;
  if (pid >= named_.size()) named_.resize(pid + 1);
  named_[pid] = true;
  std::string name = "block " + std::to_string(core.block) + " " + core_kind_name(core.kind);
  if (core.kind == CoreKind::AIV) name += std::to_string(core.sub_block);
  begin_event();
  std::fprintf(file_,
               "{\"ph\": \"M\", \"pid\": %u, \"name\": \"process_name\", \"args\": {\"name\": "
               "\"%s\"}},\n{\"ph\": \"M\", \"pid\": %u, \"name\": \"process_sort_index\", "
               "\"args\": {\"sort_index\": %u}}",
               pid, name.c_str(), pid, pid);
  for (uint32_t p = 0; p < kPipeCount; ++p) {
    begin_event();
    std::fprintf(file_,
                 "{\"ph\": \"M\", \"pid\": %u, \"tid\": %u, \"name\": \"thread_name\", \"args\": "
                 "{\"name\": \"%s\"}}",
                 pid, p, pipe_name(static_cast<Pipe>(p)));
  }
}

void ChromeTraceWriter::complete(uint32_t pid, const TraceRecord& r, const Span& span,
                                 double from_us, double clock_mhz) {
  const bool work = r.type == TraceType::Work;
  // Flags that did not hold anybody up would only clutter the picture.
  if (!work && span.end - span.start < 1) return;
  const Pipe pipe = r.pipe == Pipe::ALL ? Pipe::S : r.pipe;
  begin_event();
  std::fprintf(file_,
               "{\"ph\": \"X\", \"pid\": %u, \"tid\": %u, \"ts\": %.5f, \"dur\": %.5f, \"cat\": "
               "\"%s\", \"name\": %s, \"args\": {\"cycle\": %.0f, \"cycles\": %.0f",
               pid, static_cast<unsigned>(pipe), from_us + span.start / clock_mhz,
               (span.end - span.start) / clock_mhz, work ? "work" : "wait",
               json_string(r.name).c_str(), span.start, span.end - span.start);
  if (work && r.work.kind == WorkKind::Move) {
    std::fprintf(file_, ", \"path\": \"%s\", \"bytes\": %llu", path_name(r.work.path),
                 static_cast<unsigned long long>(r.work.bytes));
  } else if (work && r.work.kind == WorkKind::Mmad) {
    std::fprintf(file_, ", \"m\": %u, \"n\": %u, \"k\": %u", r.work.m, r.work.n, r.work.k);
  } else if (work && r.work.kind == WorkKind::Vector) {
    std::fprintf(file_, ", \"repeats\": %u", r.work.repeats);
  } else if (!work) {
    std::fprintf(file_, ", \"id\": %u", unsigned(r.id));
  }
  std::fputs("}}", file_);
}

void ChromeTraceWriter::add(const Summary& summary, const std::vector<CoreTrace>& traces,
                            const Timeline& timeline, double from_us, uint32_t max_groups) {
  begin_event();
  std::fprintf(file_,
               "{\"ph\": \"X\", \"pid\": 0, \"tid\": 0, \"ts\": %.5f, \"dur\": %.5f, \"cat\": "
               "\"launch\", \"name\": %s, \"args\": %s}",
               from_us, summary.predicted_us, json_string(summary.name).c_str(),
               to_json(summary).c_str());
  const double kernel_from = from_us + summary.launch_us;
  for (size_t c = 0; c < traces.size() && c < timeline.cores.size(); ++c) {
    const CoreTrace& core = traces[c];
    if (max_groups > 0 && core.block >= max_groups) continue;
    const std::vector<Span>& spans = timeline.cores[c].spans;
    const uint32_t pid = pid_of(core);
    name_core(core, pid);
    for (size_t i = 0; i < core.records.size() && i < spans.size(); ++i) {
      complete(pid, core.records[i], spans[i], kernel_from, summary.clock_mhz);
    }
  }
}

void ChromeTraceWriter::close() {
  std::fputs("\n]}\n", file_);
  const bool failed = std::ferror(file_) != 0;
  const bool unclosed = std::fclose(file_) != 0;
  file_ = nullptr;
  if (failed || unclosed) throw std::runtime_error("cannot write " + path_);
}

}  // namespace dav::timeline
