// Mmad: C[m, n] = A[m, k] * B[k, n] (+ C, or a bias row). A lies in L0A as 16-row fractals of 32
// bytes, row of fractals after row of fractals; B in L0B as fractals whose 32 bytes run along k,
// k-row after k-row; C in L0C as 16x16 fractals, column of fractals after column of fractals.
//
// Where m, n or k are no multiples of a fractal, each fractal still takes its whole space and the
// lanes beyond them are ignored (Ascend C reference, Mmad, constraints, the 30x70x40 example): the
// emulator reads no such lane of A, B or bias, and leaves a recognisable value in such lanes of C.
#include <algorithm>
#include <cstring>
#include <limits>

#include "dav/abi_cube.h"
#include "isa/cube_common.h"
#include "isa/fractals.h"
#include "isa/mmad_notes.h"
#include "isa/mmad_panels.h"
#include "numeric/half.h"
#include "numeric/matmul.h"

namespace dav {
namespace {

using namespace cube;

struct Combination {
  DType c, a, b;
};
constexpr Combination kCombinations2201[] = {{DType::I32, DType::I8, DType::I8},
                                             {DType::F32, DType::F16, DType::F16},
                                             {DType::F32, DType::F32, DType::F32},
                                             {DType::F32, DType::BF16, DType::BF16},
                                             {DType::I32, DType::I4, DType::I4}};
constexpr Combination kCombinations1001[] = {{DType::U32, DType::U8, DType::U8},
                                             {DType::I32, DType::I8, DType::I8},
                                             {DType::I32, DType::U8, DType::I8},
                                             {DType::F16, DType::F16, DType::F16},
                                             {DType::F32, DType::F16, DType::F16}};

void require_types(const Instruction& in, DType c, DType a, DType b) {
  const auto matches = [&](const Combination& t) { return t.c == c && t.a == a && t.b == b; };
  const bool known =
      is_coupled(in)
          ? std::any_of(std::begin(kCombinations1001), std::end(kCombinations1001), matches)
          : std::any_of(std::begin(kCombinations2201), std::end(kCombinations2201), matches);
  if (known) return;
  in.trap(TrapKind::UnsupportedType, "%s multiplies no %s by %s into %s",
          in.core().chip().name.c_str(), type_name(a), type_name(b), type_name(c));
}

void require_arguments(const Instruction& in, Local dst, DType dst_type, Local a, DType a_type,
                       Local b, const MmadDesc& d) {
  require_buffer(in, dst, Buffer::L0C, "dst");
  require_buffer(in, a, Buffer::L0A, "fm");
  require_buffer(in, b, Buffer::L0B, "filter");
  // A fractal of C: 1024 bytes, 512 where C is half.
  in.require_aligned(Buffer::L0C, dst.addr, kSide * kSide * size_of(dst_type), "dst");
  in.require_aligned(Buffer::L0A, a.addr, kFractal, "fm");
  in.require_aligned(Buffer::L0B, b.addr, kFractal, "filter");
  in.require_range("m", d.m, 0, 4095);
  in.require_range("n", d.n, 0, 4095);
  in.require_range("k", d.k, 0, 4095);
  if (a_type == DType::I4 && d.k % 2 != 0) {
    in.trap(TrapKind::IllegalArgument, "k is %u, int4b_t takes an even one", d.k);
  }
  if (d.from_bias) {
    require_feature(in, Feature::MmadBias);
    require_buffer(in, d.bias, Buffer::BT, "bias");
    in.require_aligned(Buffer::BT, d.bias.addr, 64, "bias");
  }
  if (d.kDirectionAlign && is_coupled(in)) {
    in.trap(TrapKind::IllegalArgument, "%s takes kDirectionAlign false only",
            in.core().chip().name.c_str());
  }
  if (d.winograd && is_coupled(in)) {
    in.trap(TrapKind::UnsupportedOp, "the emulator has no winograd and no sparse Mmad");
  }
}

template <typename T>
void mark_invalid(const MmadShape& s, T* c) {
  T value;
  const uint32_t bits = sizeof(T) == 4 ? kInvalid : 0x7e00;
  std::memcpy(&value, &bits, sizeof(T));
  const uint32_t rows = s.m_tiles * kSide;
  for (uint32_t nb = 0; nb < s.n_tiles; ++nb) {
    T* column = c + size_t{nb} * rows * kSide;
    const uint32_t lanes = std::min<uint32_t>(kSide, s.n - nb * kSide);
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t j = r < s.m ? lanes : 0; j < kSide; ++j) column[r * kSide + j] = value;
    }
  }
}

// Where C starts: zero, the bias row, or what L0C holds.
template <typename T>
void start_from(const MmadShape& s, const MmadDesc& d, const T* bias, T* c) {
  if (!d.from_bias && !d.init_zero) return;
  const uint32_t rows = s.m_tiles * kSide;
  for (uint32_t nb = 0; nb < s.n_tiles; ++nb) {
    T start[kSide] = {};
    const uint32_t lanes = std::min<uint32_t>(kSide, s.n - nb * kSide);
    if (d.from_bias) std::memcpy(start, bias + nb * kSide, lanes * sizeof(T));
    for (uint32_t r = 0; r < s.m; ++r) {
      std::memcpy(c + (size_t{nb} * rows + r) * kSide, start, sizeof start);
    }
  }
}

void multiply_float(const MmadShape& s, const float* a, const float* b, float* c) {
  const size_t c_column = size_t{s.m_tiles} * kSide * kSide;
  for (uint32_t nb = 0; nb < s.n_tiles; ++nb) {
    panel_multiply(a, s.depth, b + size_t{nb} * s.depth * kPanel, c + nb * c_column, s.m, s.k);
  }
}

// Integer results saturate (Ascend C reference, Mmad, special values). One product of at most 4095
// terms of 8 bits fits, so only the sum with C can leave the range.
template <typename T>
void multiply_integer(const MmadShape& s, const int32_t* a, const int32_t* b, T* c) {
  std::vector<int32_t>& product = scratch<int32_t>(2);
  const size_t c_column = size_t{s.m_tiles} * kSide * kSide;
  for (uint32_t nb = 0; nb < s.n_tiles; ++nb) {
    product.assign(size_t{s.m} * kSide, 0);
    panel_multiply(a, s.depth, b + size_t{nb} * s.depth * kPanel, product.data(), s.m, s.k);
    T* column = c + nb * c_column;
    for (size_t i = 0; i < product.size(); ++i) {
      const int64_t sum = int64_t{column[i]} + int64_t{product[i]};
      column[i] = static_cast<T>(
          std::clamp<int64_t>(sum, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }
  }
}

// C in half accumulates in float within one Mmad and rounds once at its end.
void multiply_into_half(const MmadShape& s, const MmadDesc& d, const float* a, const float* b,
                        uint16_t* c) {
  std::vector<float>& wide = scratch<float>(2);
  wide.resize(size_t{s.m_tiles} * s.n_tiles * kSide * kSide);
  if (!d.init_zero) half_to_float_row(c, wide.data(), wide.size());
  start_from<float>(s, d, nullptr, wide.data());
  multiply_float(s, a, b, wide.data());
  const size_t column = size_t{s.m_tiles} * kSide * kSide;
  for (uint32_t nb = 0; nb < s.n_tiles; ++nb) {
    float_to_half_row(wide.data() + nb * column, c + nb * column, size_t{s.m} * kSide);
  }
  mark_invalid(s, c);
}

struct Operands {
  const std::byte* a;
  DType a_type;
  const std::byte* b;
  DType b_type;
  const std::byte* sparse;
  const std::byte* bias;
  std::byte* c;
  DType c_type;
};

template <typename T>
void multiply_integer(const Instruction& in, const MmadShape& s, const MmadDesc& d,
                      const Operands& o) {
  T* c = reinterpret_cast<T*>(o.c);
  const int32_t* left = unpack_left_integer(s, o.a, o.a_type);
  const int32_t* right = o.sparse == nullptr ? unpack_right_integer(s, o.b, o.b_type)
                                             : unpack_right_sparse(s, o.b, o.sparse);
  if (right == nullptr) {
    in.trap(TrapKind::IllegalArgument, "the index of filter holds 3, allowed are 0 to 2");
  }
  start_from(s, d, reinterpret_cast<const T*>(o.bias), c);
  multiply_integer(s, left, right, c);
  mark_invalid(s, c);
}

void multiply(const Instruction& in, const MmadShape& s, const MmadDesc& d, const Operands& o,
              const Hf32& rounding) {
  if (o.c_type == DType::I32) return multiply_integer<int32_t>(in, s, d, o);
  if (o.c_type == DType::U32) return multiply_integer<uint32_t>(in, s, d, o);
  const float* left = unpack_left_float(s, o.a, o.a_type, rounding);
  const float* right = unpack_right_float(s, o.b, o.b_type, rounding);
  if (o.c_type == DType::F16) {
    multiply_into_half(s, d, left, right, reinterpret_cast<uint16_t*>(o.c));
    return;
  }
  float* c = reinterpret_cast<float*>(o.c);
  start_from(s, d, reinterpret_cast<const float*>(o.bias), c);
  multiply_float(s, left, right, c);
  if (saturates(in)) {
    const size_t rows = size_t{s.m_tiles} * kSide;
    for (uint32_t nb = 0; nb < s.n_tiles; ++nb) {
      saturate_row(DType::F32, o.c + nb * rows * kSide * 4, size_t{s.m} * kSide);
    }
  }
  mark_invalid(s, c);
}

// `sparse`: the index of a sparse product, which B's fractals have one by one.
void run(Instruction& in, const MmadShape& s, Local dst, DType dst_type, Local a, DType a_type,
         Local b, DType b_type, const MmadDesc& d, const std::byte* sparse) {
  const ControlState& control = in.core().control;
  const std::byte* left = in.span(Buffer::L0A, a.addr, s.a_bytes);
  const std::byte* right = in.span(Buffer::L0B, b.addr, s.b_bytes);
  std::byte* c = in.span(Buffer::L0C, dst.addr, s.c_bytes);
  const std::byte* bias = nullptr;
  if (d.from_bias) bias = in.read(Buffer::BT, d.bias.addr, uint64_t{d.n} * 4);
  const bool accumulates = !d.from_bias && !d.init_zero;
  require_operands(in, s, a, b);
  if (accumulates) {
    const uint64_t column = uint64_t{s.m_tiles} * kSide * kSide * s.c_size;
    require_results(in, {dst.addr, s.c_size, s.m, s.n_tiles, column}, "m");
  }
  note_mmad(in, s, a, b, dst, accumulates);
  note_results(in, s, dst);

  const bool hf32 = a_type == DType::F32 && control.hf32;
  if (!in.timing_only()) {
    multiply(in, s, d, {left, a_type, right, b_type, sparse, bias, c, dst_type},
             Hf32{hf32, control.hf32_rounding == 0});
  }

  Work w;
  w.kind = WorkKind::Mmad;
  w.dtype = a_type;
  w.m = d.m;
  w.n = d.n;
  w.k = s.b_k;
  w.hf32 = hf32;
  w.unit_flag = static_cast<uint8_t>(d.unitFlag);
  w.l0c_addr = dst.addr;
  in.work(w);
}

}  // namespace

void mmad(Local dst, DType dst_type, Local a, DType a_type, Local b, DType b_type,
          const MmadDesc& d) {
  Instruction in(Pipe::M, "Mmad");
  require_types(in, dst_type, a_type, b_type);
  require_arguments(in, dst, dst_type, a, a_type, b, d);
  if (d.m == 0 || d.n == 0 || d.k == 0) return;
  use_unit_flag(in, d.unitFlag);
  run(in, mmad_shape(d, dst_type, a_type), dst, dst_type, a, a_type, b, b_type, d, nullptr);
}

void mmad_sparse(Local dst, DType dst_type, Local a, DType a_type, Local b, DType b_type,
                 const MmadDesc& d) {
  Instruction in(Pipe::M, "MmadWithSparse");
  require_feature(in, Feature::SparseMmad);
  if (dst_type != DType::I32 || a_type != DType::I8 || b_type != DType::I8) {
    in.trap(TrapKind::UnsupportedType, "sparse products are of int8_t into int32_t");
  }
  require_arguments(in, dst, dst_type, a, a_type, b, d);
  if (d.kDirectionAlign) {
    in.trap(TrapKind::IllegalArgument, "kDirectionAlign has to be false");
  }
  if (d.m == 0 || d.n == 0 || d.k == 0) return;
  use_unit_flag(in, d.unitFlag);
  const std::vector<std::byte>& index = in.core().sparse_index;
  if (index.empty() && !in.timing_only()) {
    in.trap(TrapKind::UninitialisedRead, "no LoadDataWithSparse has brought an index");
  }
  run(in, sparse_shape(d, dst_type, a_type), dst, dst_type, a, a_type, b, b_type, d,
      index.data() + b.addr / 4);
}

void set_hf32(bool enable) {
  Instruction in(Pipe::S, "SetHF32Mode");
  require_feature(in, Feature::MmadF32);
  in.core().control.hf32 = enable;
}

void set_hf32_rounding(bool nearest_even) {
  Instruction in(Pipe::S, "SetHF32TransMode");
  require_feature(in, Feature::MmadF32);
  in.core().control.hf32_rounding = nearest_even ? 0 : 1;
}

void set_mm_column_major(bool column_major) {
  Instruction in(Pipe::S, "SetMMLayoutTransform");
  in.core().control.mm_column_major = column_major;
}

}  // namespace dav
