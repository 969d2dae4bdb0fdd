// Problems with row-major tensors, as tests state them.
#pragma once

#include "problem.h"

namespace ascendfa {

inline ForwardProblem Attention(const Axes4& q, const Axes4& k, const Axes4& v) {
  ForwardProblem problem;
  ReadTensors({q, RowMajor(q)}, {k, RowMajor(k)}, {v, RowMajor(v)}, false, problem);
  return problem;
}

inline ForwardProblem SelfAttention(int64_t heads, int64_t seq, int64_t head_dim) {
  const Axes4 shape{1, heads, seq, head_dim};
  return Attention(shape, shape, shape);
}

}  // namespace ascendfa
