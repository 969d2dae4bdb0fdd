// What the device compiler predefines: qualifiers, address spaces, core kinds, 16-bit floats, and
// the pipe, event and quantisation enumerations of the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dav/float16.h"
#include "dav/types.h"

#if !defined(__NPU_ARCH__)
#error "__NPU_ARCH__ is not defined: kernel sources are compiled for one architecture"
#elif __NPU_ARCH__ != 1001 && __NPU_ARCH__ != 2201 && __NPU_ARCH__ != 3510
#error "__NPU_ARCH__ must be 1001, 2201 or 3510"
#endif

// Address spaces. Global memory is host memory; local addresses are offsets, never host pointers.
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __biasbuf__
#define __fbuf__

#ifndef __global__
#define __global__ __attribute__((visibility("default")))
#endif
#ifndef __aicore__
#define __aicore__
#endif
#ifndef __host_aicore__
#define __host_aicore__
#endif
#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif
#ifndef likely
#define likely(condition) __builtin_expect(!!(condition), 1)
#endif
#ifndef unlikely
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif
#define __inout_pipe__(pipe)
#define __in_pipe__(pipe)
#define __out_pipe__(pipe)
#define __sync_alias__
#define __sync_noalias__
#define __BLOCK_LOCAL__ static thread_local
#define __WORKGROUP_LOCAL__ static thread_local

#ifndef GM_ADDR
#define GM_ADDR __gm__ uint8_t*
#endif

#ifndef ASSERT
#define ASSERT(x)
#endif
#ifndef ASCENDC_ASSERT
#define ASCENDC_ASSERT(condition, action)
#endif
#ifndef ASCENDC_DEBUG_ASSERT
#define ASCENDC_DEBUG_ASSERT(condition, action)
#endif

// A split chip's kernel is compiled once per core kind, with exactly one of these macros.
#if defined(__DAV_CUBE__) && (__NPU_ARCH__ == 2201 || __NPU_ARCH__ == 3510)
#define SPLIT_CORE_CUBE
#endif
#if defined(__DAV_VEC__) && (__NPU_ARCH__ == 2201 || __NPU_ARCH__ == 3510)
#define SPLIT_CORE_VEC
#endif
#if defined(SPLIT_CORE_CUBE) && !defined(__DAV_C220_CUBE__) && __NPU_ARCH__ == 2201
#define __DAV_C220_CUBE__
#endif
#if defined(SPLIT_CORE_VEC) && !defined(__DAV_C220_VEC__) && __NPU_ARCH__ == 2201
#define __DAV_C220_VEC__
#endif

namespace AscendC {
constexpr int32_t MIX = 0;
constexpr int32_t AIC = 1;
constexpr int32_t AIV = 2;
}  // namespace AscendC

#if defined(SPLIT_CORE_CUBE)
constexpr int32_t g_coreType = AscendC::AIC;
#elif defined(SPLIT_CORE_VEC)
constexpr int32_t g_coreType = AscendC::AIV;
#else
constexpr int32_t g_coreType = AscendC::MIX;
#endif

#define ASCEND_IS_AIV constexpr(g_coreType == AscendC::AIV)
#define ASCEND_IS_AIC constexpr(g_coreType == AscendC::AIC)
#define ASCEND_IS_NOT_AIV constexpr(g_coreType != AscendC::AIV)
#define ASCEND_IS_NOT_AIC constexpr(g_coreType != AscendC::AIC)
#if __NPU_ARCH__ == 1001
#define ASCEND_IS_AICORE constexpr(true)
#else
#define ASCEND_IS_AICORE constexpr(false)
#endif

using half = dav::Half;
#if __NPU_ARCH__ != 1001
using bfloat16_t = dav::Bfloat16;
#endif
using float16_t = half;
using float32_t = float;

enum pipe_t : uint32_t {
  PIPE_S = 0,
  PIPE_V,
  PIPE_M,
  PIPE_MTE1,
  PIPE_MTE2,
  PIPE_MTE3,
  PIPE_ALL,
  PIPE_MTE4 = 7,
  PIPE_MTE5 = 8,
  PIPE_V2 = 9,
  PIPE_FIX = 10,
};

enum event_t : uint32_t {
  EVENT_ID0 = 0,
  EVENT_ID1,
  EVENT_ID2,
  EVENT_ID3,
  EVENT_ID4,
  EVENT_ID5,
  EVENT_ID6,
  EVENT_ID7,
};

enum class pad_t : uint8_t {
  PAD_NONE = 0,
  PAD_MODE1,
  PAD_MODE2,
  PAD_MODE3,
  PAD_MODE4,
  PAD_MODE5,
  PAD_MODE6,
  PAD_MODE7,
  PAD_MODE8,
};

// How Fixpipe converts on the way out of L0C. A leading V takes one parameter per channel.
enum QuantMode_t : uint8_t {
  NoQuant = 0,
  F322F16 = 1,
  VDEQF16 = 4,
  DEQF16 = 5,
  VREQ8 = 10,
  REQ8 = 11,
  F322BF16 = 16,
  VQF322B8_PRE = 23,
  QF322B8_PRE = 24,
};

namespace dav {

// The queue a pipe_t names; PIPE_V2, MTE4 and MTE5 exist on no supported chip.
constexpr Pipe pipe_of(pipe_t pipe) {
  switch (pipe) {
    case PIPE_S:
      return Pipe::S;
    case PIPE_V:
      return Pipe::V;
    case PIPE_M:
      return Pipe::M;
    case PIPE_MTE1:
      return Pipe::MTE1;
    case PIPE_MTE2:
      return Pipe::MTE2;
    case PIPE_MTE3:
      return Pipe::MTE3;
    case PIPE_FIX:
      return Pipe::FIX;
    default:
      return Pipe::ALL;
  }
}

}  // namespace dav

#include "ascendc/enums.h"
#include "ascendc/type_traits.h"
