// The attention problem as the host sees it: shapes and options, no device types.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace ascendfa {

// [batch, heads, rows, columns].
using Shape4 = std::array<int64_t, 4>;

struct ForwardProblem {
  int64_t batch = 0;
  int64_t q_heads = 0;
  int64_t kv_heads = 0;
  int64_t seq_q = 0;
  int64_t seq_k = 0;
  int64_t head_dim = 0;
  float scale = 1.0f;
  bool causal = false;
  int64_t block_m = 0;  // 0: the plan chooses
  int64_t block_n = 0;  // 0: the plan chooses
};

// Reads the problem out of the three input shapes. Returns an empty string, or what is wrong with
// them, naming the input.
std::string ReadShapes(const Shape4& q, const Shape4& k, const Shape4& v, ForwardProblem& problem);

}  // namespace ascendfa
