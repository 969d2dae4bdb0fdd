// Which buffer a queue lives in and which flags it sets between the pipes at its two ends.
#pragma once

#include "ascendc/base.h"
#include "ascendc/tensor.h"
#include "dav/abi_sync.h"

namespace AscendC {

constexpr TEventID INVALID_TEVENTID = static_cast<TEventID>(-1);

namespace Internal {

struct PipePair {
  dav::Pipe src, dst;
};

// The pipes in a HardEvent's name.
constexpr PipePair PipesOf(HardEvent event) {
  using P = dav::Pipe;
  constexpr PipePair pairs[] = {
      {P::MTE2, P::MTE1}, {P::MTE1, P::MTE2}, {P::MTE1, P::M}, {P::M, P::MTE1},
      {P::MTE2, P::V},    {P::V, P::MTE2},    {P::MTE3, P::V}, {P::V, P::MTE3},
      {P::M, P::V},       {P::V, P::M},       {P::V, P::V},    {P::MTE3, P::MTE1},
      {P::MTE1, P::MTE3}, {P::MTE1, P::V},    {P::MTE2, P::M}, {P::M, P::MTE2},
      {P::V, P::MTE1},    {P::M, P::FIX},     {P::FIX, P::M},  {P::MTE3, P::MTE2},
      {P::MTE2, P::MTE3}, {P::S, P::V},       {P::V, P::S},    {P::S, P::MTE2},
      {P::MTE2, P::S},    {P::S, P::MTE3},    {P::MTE3, P::S}, {P::MTE2, P::FIX},
      {P::FIX, P::MTE2},  {P::FIX, P::S},     {P::M, P::S},    {P::FIX, P::MTE3},
      {P::MTE1, P::FIX},  {P::FIX, P::MTE1},  {P::FIX, P::FIX}};
  static_assert(sizeof(pairs) / sizeof(pairs[0]) == static_cast<size_t>(HardEvent::MAX), "");
  return pairs[static_cast<size_t>(event)];
}

inline void SetEvent(HardEvent event, TEventID id) {
  const PipePair pipes = PipesOf(event);
  // A pipe runs its own instructions in order: within one pipe the flag is a barrier.
  if (pipes.src == pipes.dst)
    dav::pipe_barrier(pipes.src);
  else
    dav::set_flag(pipes.src, pipes.dst, id);
}
inline void WaitEvent(HardEvent event, TEventID id) {
  const PipePair pipes = PipesOf(event);
  if (pipes.src != pipes.dst) dav::wait_flag(pipes.src, pipes.dst, id);
}
inline TEventID TakeEvent(HardEvent event) {
  const PipePair pipes = PipesOf(event);
  if (pipes.src == pipes.dst) return 0;
  const int32_t id = dav::alloc_event_id(pipes.src, pipes.dst);
  if (id < 0)
    dav::raise_unbalanced(
        "AllocEventID", "all %d event ids of this pipe pair are taken; each needs a ReleaseEventID",
        static_cast<int>(QUE_MAX_EVENT));
  return static_cast<TEventID>(id);
}
inline void ReturnEvent(HardEvent event, TEventID id) {
  const PipePair pipes = PipesOf(event);
  if (pipes.src != pipes.dst) dav::release_event_id(pipes.src, pipes.dst, id);
}

// The flag from the pipe that fills a queue's buffer to the pipe that uses it (forward), and back.
constexpr HardEvent QueueEvent(Hardware src, Hardware dst, bool forward, bool nd2nz) {
  using E = HardEvent;
  switch (src) {
    case Hardware::GM:
      if (dst == Hardware::UB) return forward ? E::MTE2_V : E::V_MTE2;
      // Before hardware ND to NZ, vector code and MTE3 filled L1.
      if (dst == Hardware::L1 && nd2nz && __NPU_ARCH__ == 1001)
        return forward ? E::MTE3_MTE1 : E::MTE1_MTE3;
      if (dst == Hardware::L1) return forward ? E::MTE2_MTE1 : E::MTE1_MTE2;
      if (dst == Hardware::L0A || dst == Hardware::L0B) return forward ? E::MTE2_M : E::M_MTE2;
      break;
    case Hardware::UB:
      if (dst == Hardware::GM) return forward ? E::V_MTE3 : E::MTE3_V;
      if (dst == Hardware::L1) return forward ? E::MTE3_MTE1 : E::MTE1_MTE3;
      if (dst == Hardware::L0C) return forward ? E::V_V : E::MAX;
      if (dst == Hardware::UB) return forward ? E::MTE2_MTE3 : E::MTE3_MTE2;
      break;
    case Hardware::L1:
      if (dst == Hardware::UB) return forward ? E::MTE1_V : E::V_MTE1;
      if (dst == Hardware::FIXBUF) return forward ? E::MTE1_FIX : E::FIX_MTE1;
      if (dst == Hardware::L0A || dst == Hardware::L0B || dst == Hardware::BIAS)
        return forward ? E::MTE1_M : E::M_MTE1;
      break;
    case Hardware::L0A:
    case Hardware::L0B:
      return forward ? E::M_V : E::V_M;
    case Hardware::L0C:
      if (__NPU_ARCH__ == 1001) return forward ? E::M_V : E::V_M;
      return forward ? E::M_FIX : E::FIX_M;
    default:
      break;
  }
  return E::MAX;
}

constexpr bool LivesAtSource(TPosition src, TPosition dst) {
  return dst == TPosition::GM ||
         (dst == TPosition::CO2 && (__NPU_ARCH__ != 1001 || src == TPosition::CO1));
}
// Where the tensors of a queue between two positions are.
constexpr TPosition QueuePosition(TPosition src, TPosition dst) {
  return LivesAtSource(src, dst) ? src : dst;
}

// The positions on both sides of a single-position queue.
constexpr TPosition QueueSource(TPosition pos) {
  switch (pos) {
    case TPosition::A2:
      return TPosition::A1;
    case TPosition::B2:
    case TPosition::C2PIPE2GM:
      return TPosition::B1;
    case TPosition::C2:
      return TPosition::C1;
    case TPosition::CO1:
    case TPosition::CO2:
    case TPosition::VECOUT:
      return pos;
    case TPosition::SPM:
      return TPosition::VECOUT;
    default:
      return TPosition::GM;
  }
}
constexpr TPosition QueueDestination(TPosition pos) {
  switch (pos) {
    case TPosition::CO1:
      return TPosition::CO2;
    case TPosition::CO2:
    case TPosition::VECOUT:
    case TPosition::SPM:
      return TPosition::GM;
    default:
      return pos;
  }
}

constexpr const char* HardwareName(Hardware hardware) {
  constexpr const char* names[] = {"GM",  "UB",  "L1",         "L0A",
                                   "L0B", "L0C", "bias table", "fixpipe buffer"};
  return names[static_cast<size_t>(hardware)];
}
constexpr uint32_t HardwareBytes(Hardware hardware) {
  switch (hardware) {
    case Hardware::UB:
      return TOTAL_UB_SIZE;
    case Hardware::L1:
      return TOTAL_L1_SIZE;
    case Hardware::L0A:
      return TOTAL_L0A_SIZE;
    case Hardware::L0B:
      return TOTAL_L0B_SIZE;
    case Hardware::L0C:
      return TOTAL_L0C_SIZE;
    case Hardware::BIAS:
      return __NPU_ARCH__ == 3510 ? 4096 : 1024;
    case Hardware::FIXBUF:
      return __NPU_ARCH__ == 2201 ? 7 * 1024 : 0;
    default:
      return 0;
  }
}

}  // namespace Internal
}  // namespace AscendC
