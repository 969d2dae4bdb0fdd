// What an instruction did, in the units the cycle model charges for. isa/ fills it in, the timeline
// turns it into cycles; no cycle count appears in isa/.
#pragma once

#include <cstdint>

#include "dav/types.h"

namespace dav {

enum class WorkKind : uint8_t { Issue, Vector, Mmad, Move, Barrier };

// Classes of vector instructions that share a published cost line.
enum class VectorClass : uint8_t {
  Exp,
  Ln,
  Sqrt,
  Div,
  ScalarOp /* adds, muls */,
  ScalarMax,
  Binary /* two tensors */,
  Unary /* abs, relu, not */,
  Cast,
  BlockReduce,
  RepeatReduce,
  PairReduce,
  Brcb,
  Duplicate,
  Compare,
  Select,
  Gather,
  Transpose,
  Sort,
  Other
};

enum class Path : uint8_t {
  GmToL1,
  GmToUb,
  UbToGm,
  L1ToL0a,
  L1ToL0b,
  L1ToBt,
  L0cToGm,
  L0cToL1,
  L0cToUb,
  UbToL1,
  L1ToUb,
  UbToUb,
  L1ToGm,
  L1ToFb,
  GmToL0
};

struct Work {
  WorkKind kind = WorkKind::Issue;
  DType dtype = DType::F16;
  VectorClass vector = VectorClass::Other;
  Path path = Path::GmToUb;
  uint32_t repeats = 0;          // Vector: 256-byte repeats
  uint32_t bank_conflicts = 0;   // Vector: repeats whose two sources share a bank group
  bool partial_count = false;    // Vector: the mask is an element count and ends inside a repeat
  uint32_t m = 0, n = 0, k = 0;  // Mmad
  uint64_t bytes = 0;            // Move
  uint32_t bursts = 0;           // Move: contiguous pieces in GM
  uint64_t gm_addr = 0;          // Move: first GM byte, for the L2 model
  uint64_t gm_stride = 0;        // Move: distance between burst starts in GM
  bool atomic = false;           // Move: combines with what GM holds
  // Mmad, Fixpipe: 2 or 3 when the hardware orders the two by itself, and the L0C it is about.
  uint8_t unit_flag = 0;
  uint32_t l0c_addr = 0;
  bool hf32 = false;  // Mmad: fp32 operands rounded to hf32, which the cube steps through faster
};

}  // namespace dav
