#include "problem.h"

#include <sstream>

namespace ascendfa {
namespace {

std::string Text(const Shape4& shape) {
  std::ostringstream text;
  text << "[" << shape[0] << ", " << shape[1] << ", " << shape[2] << ", " << shape[3] << "]";
  return text.str();
}

}  // namespace

std::string ReadShapes(const Shape4& q, const Shape4& k, const Shape4& v, ForwardProblem& problem) {
  if (k != v) {
    return "k " + Text(k) + " and v " + Text(v) + " must have the same shape";
  }
  if (q[0] != k[0]) {
    return "q " + Text(q) + " and k " + Text(k) + " must have the same batch (axis 0)";
  }
  if (q[3] != k[3]) {
    return "q " + Text(q) + " and k " + Text(k) + " must have the same head dimension (axis 3)";
  }
  problem.batch = q[0];
  problem.q_heads = q[1];
  problem.kv_heads = k[1];
  problem.seq_q = q[2];
  problem.seq_k = k[2];
  problem.head_dim = q[3];
  return "";
}

}  // namespace ascendfa
