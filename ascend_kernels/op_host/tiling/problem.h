// The attention problem as the host sees it: shapes, strides and options, no device types.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "../../op_kernel/flash_attention_tiling.h"

namespace ascendfa {

// [batch, heads, rows, columns].
using Axes4 = std::array<int64_t, 4>;

// A tensor as a call presents it. Strides are in elements.
struct TensorView {
  Axes4 shape{};
  Axes4 strides{};
};

// A row-major tensor's strides.
Axes4 RowMajor(const Axes4& shape);

struct ForwardProblem {
  int64_t batch = 0;
  int64_t q_heads = 0;
  int64_t kv_heads = 0;
  int64_t seq_q = 0;
  int64_t seq_k = 0;
  int64_t head_dim = 0;        // of q and k
  int64_t value_dim = 0;       // of v and out
  uint32_t element_bytes = 2;  // of q, k, v, bias and out

  FlashAttentionStrides q{};
  FlashAttentionStrides k{};
  FlashAttentionStrides v{};
  FlashAttentionStrides out{};
  FlashAttentionStrides bias{};
  FlashAttentionStrides mask{};
  bool has_bias = false;
  bool has_mask = false;
  bool has_alibi = false;
  int64_t alibi_batch_stride = 0;

  float scale = 1.0f;
  float softcap = 0.0f;  // 0: none
  bool causal = false;
  int64_t window_left = -1;   // -1: without limit
  int64_t window_right = -1;  // -1: without limit
  int64_t block_m = 0;        // 0: the plan chooses
  int64_t block_n = 0;        // 0: the plan chooses
  bool fp32_scores = false;   // cores never hand each other scores in a narrower type
};

// Each reads one part of the problem and returns an empty string, or what is wrong, naming the
// input. ReadTensors comes first. `rows_first`: out is [batch, rows, heads, columns] in memory.
std::string ReadTensors(const TensorView& q, const TensorView& k, const TensorView& v,
                        bool rows_first, ForwardProblem& problem);
// Each axis but the last may have length 1, which repeats the tensor along it.
std::string ReadBias(const TensorView& bias, ForwardProblem& problem);
std::string ReadMask(const TensorView& mask, ForwardProblem& problem);
// Slopes [heads], as batch 0, or [batch, heads].
std::string ReadAlibi(int64_t batch, int64_t heads, ForwardProblem& problem);

}  // namespace ascendfa
