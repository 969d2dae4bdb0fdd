// Kernels of one cube core over a few arrays in global memory, in check mode, every instruction
// behind a barrier so that only what is under test can trap.
#pragma once

#include <vector>

#include "core/instruction.h"
#include "core_launch.h"
#include "dav/abi_cube.h"
#include "dav/abi_sync.h"
#include "dav/float16.h"

namespace dav_test {

inline void barrier() { dav::pipe_barrier(dav::Pipe::ALL); }

class CubeKernel {
 public:
  explicit CubeKernel(Body body, const char* soc = "Ascend910B3", bool vector_core = false)
      : kernel_(kind(soc, vector_core), 1, soc) {
    kernel_.spec.mode = dav::Mode::Check;
    (vector_core ? kernel_.aiv : kernel_.aic) = std::move(body);
  }
  template <typename T>
  CubeKernel& input(const std::vector<T>& data) {
    return region(data.data(), data.size() * sizeof(T), dav::RegionRole::Input, "input");
  }
  template <typename T>
  CubeKernel& output(std::vector<T>& data) {
    return region(data.data(), data.size() * sizeof(T), dav::RegionRole::Output, "output");
  }
  // Memory that holds something before the launch and is written by it.
  template <typename T>
  CubeKernel& inout(std::vector<T>& data) {
    return region(data.data(), data.size() * sizeof(T), dav::RegionRole::Other, "inout");
  }
  dav::LaunchResult run() { return kernel_.run(); }
  dav::Trap trap() { return kernel_.trap(); }
  dav::LaunchSpec& spec() { return kernel_.spec; }

 private:
  static dav::KernelType kind(const char* soc, bool vector_core) {
    if (!dav::chip_by_name(soc).split()) return dav::KernelType::Coupled;
    return vector_core ? dav::KernelType::AivOnly : dav::KernelType::AicOnly;
  }
  CubeKernel& region(const void* data, uint64_t bytes, dav::RegionRole role, const char* name) {
    kernel_.spec.regions.push_back({reinterpret_cast<uint64_t>(data), bytes, role, name});
    return *this;
  }
  Kernel kernel_;
};

template <typename T>
uint64_t addr(const std::vector<T>& v, size_t index = 0) {
  return reinterpret_cast<uint64_t>(v.data() + index);
}

// What lies in a local buffer, untracked.
template <typename T>
std::vector<T> peek(dav::Buffer buffer, size_t count) {
  const dav::Instruction in(dav::Pipe::S, "peek");
  const T* data = reinterpret_cast<const T*>(in.span(buffer, 0, count * sizeof(T)));
  return std::vector<T>(data, data + count);
}

// Element index of (row, column) of the left matrix in L0A, rows of fractals `stride` long.
inline size_t in_l0a(uint32_t row, uint32_t column, uint32_t c0, uint32_t stride) {
  return (size_t{row / 16} * stride + column / c0) * 16 * c0 + row % 16 * c0 + column % c0;
}
// Element index of (k, n) of the right matrix in L0B.
inline size_t in_l0b(uint32_t k, uint32_t n, uint32_t c0, uint32_t n_tiles) {
  return (size_t{k / c0} * n_tiles + n / 16) * 16 * c0 + n % 16 * c0 + k % c0;
}

inline uint32_t tiles(uint32_t n, uint32_t by = 16) { return (n + by - 1) / by; }

// Small integers, different from element to element, exact in every type.
template <typename T>
std::vector<T> small_integers(size_t count, int seed) {
  std::vector<T> v(count);
  for (size_t i = 0; i < count; ++i) v[i] = T(static_cast<int>((i * 7 + i / 13 + seed) % 9) - 4);
  return v;
}

// 1, 2, 3, ...
template <typename T>
std::vector<T> counting(size_t n) {
  std::vector<T> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<T>(i + 1);
  return v;
}

// From the start of L1.
inline void fill_l1(const std::vector<uint16_t>& data) {
  dav::data_copy_in({dav::Buffer::L1, 0}, addr(data), dav::DType::U16,
                    {1, static_cast<uint32_t>(data.size() / 16), 0, 0});
  barrier();
}

// rows x columns in GM to NZ at `dst` in L1; columns of blocks are a whole number of fractals high.
template <typename T>
void to_nz(uint32_t dst, const std::vector<T>& src, dav::DType type, uint32_t rows,
           uint32_t columns) {
  dav::Nd2NzDesc d;
  d.ndNum = 1;
  d.nValue = rows;
  d.dValue = columns;
  d.srcDValue = columns;
  d.dstNzC0Stride = tiles(rows) * 16;
  d.dstNzNStride = 1;
  dav::nd_to_nz({dav::Buffer::L1, dst}, addr(src), type, d);
  barrier();
}

// NZ at `src` in L1, rows x depth, to rows of fractals in L0A.
inline void load_a(uint32_t src, dav::DType type, uint32_t rows, uint32_t depth) {
  const uint32_t k_tiles = tiles(depth, 32 / dav::size_of(type));
  for (uint32_t i = 0; i < tiles(rows); ++i) {
    dav::Load2dDesc d;
    d.startIndex = i;
    d.repeatTimes = k_tiles;
    d.srcStride = tiles(rows);
    dav::load_data_2d({dav::Buffer::L0A, i * k_tiles * 512}, {dav::Buffer::L1, src}, type, d);
  }
  barrier();
}

// NZ of the transposed right matrix, columns x depth, to L0B: the fractals already lie in order.
inline void load_b_transposed(uint32_t src, dav::DType type, uint32_t columns, uint32_t depth) {
  dav::Load2dDesc d;
  d.repeatTimes = tiles(columns) * tiles(depth, 32 / dav::size_of(type));
  d.srcStride = 1;
  dav::load_data_2d({dav::Buffer::L0B, 0}, {dav::Buffer::L1, src}, type, d);
  barrier();
}

constexpr dav::Local kL0a{dav::Buffer::L0A, 0};
constexpr dav::Local kL0b{dav::Buffer::L0B, 0};
constexpr dav::Local kL0c{dav::Buffer::L0C, 0};

inline dav::MmadDesc product(uint32_t m, uint32_t n, uint32_t k) {
  dav::MmadDesc d;
  d.m = m;
  d.n = n;
  d.k = k;
  return d;
}

inline dav::FixpipeDesc rows_out(uint32_t m, uint32_t n) {
  dav::FixpipeDesc d;
  d.nSize = n;
  d.mSize = m;
  d.srcStride = tiles(m) * 16;
  d.dstStride = n;
  d.nz2nd = true;
  return d;
}

// a[m][k] times the transpose of bt[n][k], by definition.
template <typename Out, typename A, typename B>
std::vector<Out> reference(const std::vector<A>& a, const std::vector<B>& bt, uint32_t m,
                           uint32_t n, uint32_t k) {
  std::vector<Out> c(size_t{m} * n);
  for (uint32_t i = 0; i < m; ++i) {
    for (uint32_t j = 0; j < n; ++j) {
      double sum = 0;
      for (uint32_t l = 0; l < k; ++l) {
        sum +=
            static_cast<double>(a[size_t{i} * k + l]) * static_cast<double>(bt[size_t{j} * k + l]);
      }
      c[size_t{i} * n + j] = static_cast<Out>(sum);
    }
  }
  return c;
}

}  // namespace dav_test
