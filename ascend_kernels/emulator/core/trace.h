// What one core did, in program order: the input of the cycle model. Recorded only while profiling.
#pragma once

#include <cstdint>
#include <vector>

#include "core/work.h"

namespace dav {

enum class TraceType : uint8_t {
  Work,      // an instruction
  SetFlag,   // pipe -> other, id
  WaitFlag,  // on pipe, set by other, id
  Barrier,   // PipeBarrier<pipe>, ALL included
  CrossSet,  // pipe, mode, id: sequence numbers pair it with waits
  CrossWait,
};

struct TraceRecord {
  TraceType type = TraceType::Work;
  Pipe pipe = Pipe::S;
  Pipe other = Pipe::S;
  uint8_t id = 0;
  uint8_t mode = 0;
  const char* name = "";
  uint32_t site = 0;
  Work work;
};

struct CoreTrace {
  CoreKind kind = CoreKind::AIC;
  uint32_t block = 0;      // GetBlockIdx() of the group
  uint32_t sub_block = 0;  // AIV number within the group
  std::vector<TraceRecord> records;
};

}  // namespace dav
