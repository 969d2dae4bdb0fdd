// Causal attention from C++: the sequence of calls every aclnn operator takes, and the order in
// which its parts have to go. Prints the largest difference to float64 on the CPU.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn_flash_attention.h"

namespace {

constexpr int64_t kBatch = 1, kQueryHeads = 4, kKeyHeads = 2, kRows = 150, kKeys = 200, kDim = 64;

// A status other than 0 comes with a message that is read on the thread that got it.
void Check(int status, const char* call) {
  if (status == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  const std::string name = std::string(call).substr(0, std::string(call).find('('));
  std::fprintf(stderr, "%s failed with %d: %s\n", name.c_str(), status,
               message ? message : "no message");
  std::exit(1);
}
#define CHECK(call) Check(call, #call)

struct Stream {
  Stream() { CHECK(aclrtCreateStream(&handle)); }
  ~Stream() { aclrtDestroyStream(handle); }
  Stream(const Stream&) = delete;
  aclrtStream handle = nullptr;
};

struct Memory {
  explicit Memory(size_t size) : bytes(size) {
    // A workspace of no bytes is a null pointer.
    if (size) CHECK(aclrtMalloc(&pointer, size, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  ~Memory() {
    if (pointer) aclrtFree(pointer);
  }
  Memory(const Memory&) = delete;
  void* pointer = nullptr;
  size_t bytes;
};

// A descriptor says how to see memory; it owns none.
struct Tensor {
  Tensor(const Memory& memory, aclDataType type, const std::vector<int64_t>& shape) {
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t axis = shape.size() - 1; axis > 0; --axis) {
      strides[axis - 1] = strides[axis] * shape[axis];
    }
    handle = aclCreateTensor(shape.data(), shape.size(), type, strides.data(), 0, ACL_FORMAT_ND,
                             shape.data(), shape.size(), memory.pointer);
    Check(handle ? ACL_SUCCESS : 1, "aclCreateTensor");
  }
  ~Tensor() { aclDestroyTensor(handle); }
  Tensor(const Tensor&) = delete;
  aclTensor* handle = nullptr;
};

std::vector<aclFloat16> Random(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<aclFloat16> values(count);
  for (aclFloat16& value : values) value = aclFloatToFloat16(normal(generator));
  return values;
}

void Upload(const Memory& memory, const std::vector<aclFloat16>& values) {
  CHECK(aclrtMemcpy(memory.pointer, memory.bytes, values.data(), memory.bytes,
                    ACL_MEMCPY_HOST_TO_DEVICE));
}

double Largest(const std::vector<aclFloat16>& q, const std::vector<aclFloat16>& k,
               const std::vector<aclFloat16>& v, const std::vector<aclFloat16>& out) {
  double largest = 0;
  for (int64_t head = 0; head < kBatch * kQueryHeads; ++head) {
    const int64_t key_head = head / (kQueryHeads / kKeyHeads);
    for (int64_t row = 0; row < kRows; ++row) {
      const aclFloat16* query = &q[(head * kRows + row) * kDim];
      // The last query sees the last key.
      const int64_t visible = row + kKeys - kRows + 1;
      std::vector<double> weights(visible);
      double sum = 0;
      for (int64_t key = 0; key < visible; ++key) {
        double score = 0;
        for (int64_t d = 0; d < kDim; ++d) {
          score += static_cast<double>(aclFloat16ToFloat(query[d])) *
                   aclFloat16ToFloat(k[(key_head * kKeys + key) * kDim + d]);
        }
        weights[key] = std::exp(score / std::sqrt(static_cast<double>(kDim)));
        sum += weights[key];
      }
      for (int64_t d = 0; d < kDim; ++d) {
        double want = 0;
        for (int64_t key = 0; key < visible; ++key) {
          want += weights[key] * aclFloat16ToFloat(v[(key_head * kKeys + key) * kDim + d]);
        }
        const double got = aclFloat16ToFloat(out[(head * kRows + row) * kDim + d]);
        largest = std::max(largest, std::isfinite(got) ? std::abs(got - want / sum) : 1e30);
      }
    }
  }
  return largest;
}

double Attention() {
  const Stream stream;
  const auto q = Random(kBatch * kQueryHeads * kRows * kDim, 1);
  const auto k = Random(kBatch * kKeyHeads * kKeys * kDim, 2);
  const auto v = Random(kBatch * kKeyHeads * kKeys * kDim, 3);
  std::vector<aclFloat16> out(q.size());
  const Memory q_memory(q.size() * sizeof(aclFloat16)), k_memory(k.size() * sizeof(aclFloat16)),
      v_memory(v.size() * sizeof(aclFloat16)), out_memory(out.size() * sizeof(aclFloat16)),
      lse_memory(kBatch * kQueryHeads * kRows * sizeof(float));
  Upload(q_memory, q);
  Upload(k_memory, k);
  Upload(v_memory, v);
  const Tensor q_tensor(q_memory, ACL_FLOAT16, {kBatch, kQueryHeads, kRows, kDim});
  const Tensor k_tensor(k_memory, ACL_FLOAT16, {kBatch, kKeyHeads, kKeys, kDim});
  const Tensor v_tensor(v_memory, ACL_FLOAT16, {kBatch, kKeyHeads, kKeys, kDim});
  const Tensor out_tensor(out_memory, ACL_FLOAT16, {kBatch, kQueryHeads, kRows, kDim});
  const Tensor lse_tensor(lse_memory, ACL_FLOAT, {kBatch, kQueryHeads, kRows});

  // First phase: checks the arguments, plans, and says how much workspace the second one needs.
  // Its order is inputs (null: not given), attributes, outputs.
  uint64_t workspace_bytes = 0;
  aclOpExecutor* executor = nullptr;
  std::string layout = "BNSD";
  const double scale = 1.0 / std::sqrt(static_cast<double>(kDim));
  CHECK(aclnnFlashAttentionGetWorkspaceSize(
      q_tensor.handle, k_tensor.handle, v_tensor.handle, /*bias=*/nullptr, /*mask=*/nullptr,
      /*alibiSlopes=*/nullptr, scale, /*causal=*/true, /*windowLeft=*/-1, /*windowRight=*/-1,
      /*softcap=*/0.0, /*blockM=*/0, /*blockN=*/0, /*fp32Scores=*/false, layout.data(),
      /*stridedInputs=*/0, out_tensor.handle, lse_tensor.handle, &workspace_bytes, &executor));
  const Memory workspace(workspace_bytes);
  // Second phase: queues the kernel and consumes the executor. The workspace has to live until the
  // stream is done.
  CHECK(aclnnFlashAttention(workspace.pointer, workspace_bytes, executor, stream.handle));
  CHECK(aclrtSynchronizeStream(stream.handle));
  CHECK(aclrtMemcpy(out.data(), out_memory.bytes, out_memory.pointer, out_memory.bytes,
                    ACL_MEMCPY_DEVICE_TO_HOST));
  return Largest(q, k, v, out);
}

}  // namespace

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  std::printf("%s\n", aclrtGetSocName());
  const double error = Attention();
  std::printf("largest error %.2e\n", error);
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return error < 5e-3 ? 0 : 1;
}
