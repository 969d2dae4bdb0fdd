// Building traces by hand for the timeline's tests.
#pragma once

#include <cstdint>
#include <vector>

#include "core/chip.h"
#include "core/timeline/costs.h"
#include "core/timeline/replay.h"
#include "core/trace.h"

namespace dav::timeline::testing {

inline CoreTrace core(CoreKind kind, uint32_t block = 0, uint32_t sub_block = 0) {
  CoreTrace t;
  t.kind = kind;
  t.block = block;
  t.sub_block = sub_block;
  return t;
}

inline TraceRecord work(Pipe pipe, const char* name, const Work& w) {
  TraceRecord r;
  r.pipe = pipe;
  r.name = name;
  r.work = w;
  return r;
}

inline TraceRecord mmad(uint32_t m, uint32_t n, uint32_t k, DType type = DType::F16) {
  Work w;
  w.kind = WorkKind::Mmad;
  w.dtype = type;
  w.m = m, w.n = n, w.k = k;
  return work(Pipe::M, "Mmad", w);
}

inline TraceRecord vector(VectorClass what, uint32_t repeats, DType type, bool conflict = false) {
  Work w;
  w.kind = WorkKind::Vector;
  w.vector = what;
  w.dtype = type;
  w.repeats = repeats;
  w.bank_conflicts = conflict ? repeats : 0;
  return work(Pipe::V, "vector", w);
}

inline TraceRecord move(Pipe pipe, Path path, uint64_t bytes, uint64_t gm_addr = 0,
                        uint32_t bursts = 1, uint64_t stride = 0) {
  Work w;
  w.kind = WorkKind::Move;
  w.path = path;
  w.bytes = bytes;
  w.bursts = bursts;
  w.gm_addr = gm_addr;
  w.gm_stride = stride;
  return work(pipe, "move", w);
}

inline TraceRecord set_flag(Pipe from, Pipe to, uint8_t id = 0) {
  TraceRecord r;
  r.type = TraceType::SetFlag;
  r.pipe = from;
  r.other = to;
  r.id = id;
  r.name = "SetFlag";
  return r;
}

// The pipe that waits is the record's pipe.
inline TraceRecord wait_flag(Pipe from, Pipe to, uint8_t id = 0) {
  TraceRecord r = set_flag(to, from, id);
  r.type = TraceType::WaitFlag;
  r.name = "WaitFlag";
  return r;
}

inline TraceRecord barrier(Pipe pipe) {
  TraceRecord r;
  r.type = TraceType::Barrier;
  r.pipe = pipe;
  r.name = "PipeBarrier";
  return r;
}

inline TraceRecord cross(TraceType type, Pipe pipe, uint8_t mode, uint8_t id) {
  TraceRecord r;
  r.type = type;
  r.pipe = pipe;
  r.mode = mode;
  r.id = id;
  r.name = type == TraceType::CrossSet ? "CrossCoreSetFlag" : "CrossCoreWaitFlag";
  return r;
}

inline Costs costs_for(const char* soc) { return costs_of(chip_by_name(soc)); }

}  // namespace dav::timeline::testing
