#include "problem.h"

#include <sstream>

namespace ascendfa {
namespace {

constexpr const char* kAxisNames[] = {"batch", "heads", "rows", "columns"};

std::string Text(const Axes4& axes) {
  std::ostringstream text;
  text << "[" << axes[0] << ", " << axes[1] << ", " << axes[2] << ", " << axes[3] << "]";
  return text.str();
}

// The kernel counts bytes from the first element on, and reads whole rows.
std::string CheckStrides(const char* name, const TensorView& view) {
  for (size_t axis = 0; axis < view.strides.size(); ++axis) {
    if (view.shape[axis] > 1 && view.strides[axis] < 0) {
      return std::string(name) + " has a negative stride along its " + kAxisNames[axis];
    }
  }
  if (view.shape[3] > 1 && view.strides[3] != 1) {
    return std::string(name) + " has stride " + std::to_string(view.strides[3]) +
           " along its columns, which must be contiguous";
  }
  return "";
}

FlashAttentionStrides Outer(const TensorView& view) {
  return {view.strides[0], view.strides[1], view.strides[2]};
}

// A tensor that is added to, or hides, scores.
std::string ReadTerm(const char* name, const TensorView& view, const ForwardProblem& problem,
                     FlashAttentionStrides& strides) {
  const Axes4 scores = {problem.batch, problem.q_heads, problem.seq_q, problem.seq_k};
  Axes4 steps = view.strides;
  for (size_t axis = 0; axis < scores.size(); ++axis) {
    const bool repeated = axis != 3 && view.shape[axis] == 1;
    if (!repeated && view.shape[axis] != scores[axis]) {
      return std::string(name) + " " + Text(view.shape) + " does not fit scores " + Text(scores) +
             ": axes but the last may also have length 1";
    }
    if (view.shape[axis] == 1) {
      steps[axis] = 0;
    }
  }
  strides = {steps[0], steps[1], steps[2]};
  return CheckStrides(name, view);
}

}  // namespace

Axes4 RowMajor(const Axes4& shape) {
  return {shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1};
}

std::string ReadTensors(const TensorView& q, const TensorView& k, const TensorView& v,
                        bool rows_first, ForwardProblem& problem) {
  if (k.shape[0] != v.shape[0] || k.shape[1] != v.shape[1] || k.shape[2] != v.shape[2]) {
    return "k " + Text(k.shape) + " and v " + Text(v.shape) +
           " must agree in all axes but the last";
  }
  if (q.shape[0] != k.shape[0]) {
    return "q " + Text(q.shape) + " and k " + Text(k.shape) + " must have the same batch";
  }
  if (q.shape[3] != k.shape[3]) {
    return "q " + Text(q.shape) + " and k " + Text(k.shape) + " must have the same head dimension";
  }
  problem.batch = q.shape[0];
  problem.q_heads = q.shape[1];
  problem.kv_heads = k.shape[1];
  problem.seq_q = q.shape[2];
  problem.seq_k = k.shape[2];
  problem.head_dim = q.shape[3];
  problem.value_dim = v.shape[3];
  problem.q = Outer(q);
  problem.k = Outer(k);
  problem.v = Outer(v);
  const int64_t row = rows_first ? problem.q_heads * problem.value_dim : problem.value_dim;
  const int64_t head = rows_first ? problem.value_dim : problem.seq_q * problem.value_dim;
  problem.out = {problem.q_heads * problem.seq_q * problem.value_dim, head, row};
  for (const auto& [name, view] :
       {std::pair<const char*, const TensorView&>{"q", q}, {"k", k}, {"v", v}}) {
    const std::string wrong = CheckStrides(name, view);
    if (!wrong.empty()) {
      return wrong;
    }
  }
  return "";
}

std::string ReadBias(const TensorView& bias, ForwardProblem& problem) {
  problem.has_bias = true;
  return ReadTerm("bias", bias, problem, problem.bias);
}

std::string ReadMask(const TensorView& mask, ForwardProblem& problem) {
  problem.has_mask = true;
  return ReadTerm("mask", mask, problem, problem.mask);
}

std::string ReadAlibi(int64_t batch, int64_t heads, ForwardProblem& problem) {
  if (heads != problem.q_heads || (batch != 0 && batch != problem.batch)) {
    return "alibi_slopes has " + std::to_string(heads) + " slopes for each of " +
           std::to_string(batch) + " batches (0: for all); q has " +
           std::to_string(problem.q_heads) + " heads in " + std::to_string(problem.batch) +
           " batches";
  }
  problem.has_alibi = true;
  problem.alibi_batch_stride = batch == 0 ? 0 : heads;
  return "";
}

}  // namespace ascendfa
