// The vector unit's instructions as the AscendC headers call them: thin descriptors in, everything
// else (limits per chip, masks, tracking, arithmetic, cost) in the library.
#pragma once

#include <cstdint>

#include "dav/api.h"
#include "dav/types.h"

namespace dav {

// Which elements of an instruction take part.
struct VecMask {
  enum class Kind : uint8_t {
    Keep,   // whatever the mask register holds, in whatever mode it is in
    Bits,   // set the register: one bit per element, or the element count in counter mode
    Lanes,  // set the register to the first n elements of a repeat, or to n in counter mode
    Total   // "first n elements of the tensor": counter mode for this instruction, then reset
  };
  Kind kind = Kind::Keep;
  uint64_t low = 0;
  uint64_t high = 0;

  static constexpr VecMask keep() { return {Kind::Keep, 0, 0}; }
  static constexpr VecMask bits(uint64_t low, uint64_t high) { return {Kind::Bits, low, high}; }
  static constexpr VecMask lanes(uint64_t n) { return {Kind::Lanes, n, 0}; }
  static constexpr VecMask total(int64_t n) { return {Kind::Total, static_cast<uint64_t>(n), 0}; }
};

// An operand swept over repeats; strides in 32-byte blocks.
struct VecOperand {
  Local at;
  uint32_t block_stride;
  uint32_t repeat_stride;
};

enum class Rounding : uint8_t { None, Rint, Floor, Ceil, Round, Trunc, Odd };
enum class UnaryOp : uint8_t { Exp, Ln, Abs, Reciprocal, Rsqrt, Sqrt, Relu, Not };
enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  And,
  Or,
  AddRelu,
  SubRelu,
  MulAddDst,    // dst = src0 * src1 + dst
  FusedMulAdd,  // dst = src0 * dst + src1
  FusedMulAddRelu,
  AddDeqRelu  // dst = relu((src0 + src1) * deq scale)
};
enum class ScalarOp : uint8_t {
  Adds,
  Muls,
  Maxs,
  Mins,
  ShiftLeft,
  ShiftRight,
  LeakyRelu,
  Axpy  // dst = src * scalar + dst
};
enum class ReduceOp : uint8_t { Max, Min, Sum };
enum class ReduceLayout : uint8_t { ValueIndex, IndexValue, OnlyValue, OnlyIndex };
enum class CompareOp : uint8_t { Lt, Gt, Eq, Le, Ge, Ne };
enum class SelectMode : uint8_t {
  Register,      // one mask for all repeats, from the compare mask register
  TensorScalar,  // mask bits consumed repeat after repeat, second source a scalar
  TensorTensor
};

// In every descriptor `name` is the API the kernel called, for reports.
struct VecUnary {
  const char* name;
  UnaryOp op;
  DType type;
  VecOperand dst, src;
  VecMask mask;
  uint32_t repeats;
};
struct VecBinary {
  const char* name;
  BinaryOp op;
  DType dst_type, src_type;
  VecOperand dst, src0, src1;
  VecMask mask;
  uint32_t repeats;
};
struct VecScalar {
  const char* name;
  ScalarOp op;
  DType dst_type, src_type;
  VecOperand dst, src;
  uint64_t scalar;  // bits of a src_type value, zero-extended
  bool round;       // ShiftRight only
  VecMask mask;
  uint32_t repeats;
};
struct VecCast {
  const char* name;
  DType dst_type, src_type;
  Rounding rounding;
  VecOperand dst, src;
  VecMask mask;
  uint32_t repeats;
};
struct VecDuplicate {
  const char* name;
  DType type;
  VecOperand dst;
  uint64_t scalar;
  VecMask mask;
  uint32_t repeats;
};
// WholeReduce*, BlockReduce*, PairReduce*: dst_stride in units of one repeat's result.
struct VecReduce {
  const char* name;
  ReduceOp op;
  DType type;
  ReduceLayout layout;  // whole-repeat maxima and minima only
  Local dst;
  int64_t dst_stride;
  Local src;
  int64_t src_block_stride, src_repeat_stride;
  VecMask mask;
  int64_t repeats;
};
// ReduceMax, ReduceMin, ReduceSum over a whole tensor with a work area.
struct VecReduceAll {
  const char* name;
  ReduceOp op;
  DType type;
  bool with_index;
  Local dst, src, work;
  uint32_t work_bytes;
  int64_t src_repeat_stride;
  VecMask mask;
  int64_t repeats;
};
struct VecCompare {
  const char* name;
  CompareOp op;
  DType type;
  Local dst;         // one bit per element, packed
  bool to_register;  // result into the compare mask register instead, first repeat only
  VecOperand src0, src1;
  bool scalar_src1;
  uint64_t scalar;
  VecMask mask;
  uint32_t repeats;
};
struct VecSelect {
  const char* name;
  SelectMode mode;
  DType type;
  VecOperand dst;
  Local select;  // unused when select_in_register
  bool select_in_register;
  VecOperand src0, src1;
  bool scalar_in_register;  // TensorScalar: the scalar was left in the compare mask register
  uint64_t scalar;
  VecMask mask;
  uint32_t repeats;
};
struct VecCopy {
  const char* name;
  DType type;
  VecOperand dst, src;
  VecMask mask;  // in counter mode elements per repeat
  uint32_t repeats;
};
struct VecIndex {
  const char* name;
  DType type;
  VecOperand dst;
  uint64_t first;
  VecMask mask;
  uint32_t repeats;
};
struct VecGather {
  const char* name;
  DType type;
  Local dst, src, offsets;
  uint32_t src_base;
  uint32_t dst_repeat_stride;
  VecMask mask;
  uint32_t repeats;
};
struct VecGatherMask {
  const char* name;
  DType type;
  Local dst, src, pattern;
  uint8_t fixed_pattern;  // 0: bits come from `pattern`
  bool counter;
  uint32_t mask;
  uint32_t src_block_stride, repeats, src_repeat_stride, pattern_repeat_stride;
};
struct VecTranspose5hd {
  const char* name;
  DType type;
  uint64_t dst[16], src[16];  // UB offsets
  bool dst_high_half, src_high_half;
  uint32_t repeats, dst_repeat_stride, src_repeat_stride;
};
struct VecMergeSort {
  const char* name;
  DType type;
  Local dst;
  Local src[4];
  uint16_t lengths[4];
  bool stop_when_exhausted;
  uint16_t valid;
  uint32_t repeats;
};

// Elements of one 256-byte repeat when the widest operand has this type.
constexpr uint32_t vec_lanes(DType type) { return type == DType::I4 ? 256 : 256 / size_of(type); }
// An operand without gaps, in an instruction whose repeats hold `lanes` elements.
constexpr VecOperand vec_dense(Local at, DType type, uint32_t lanes) {
  return {at, 1, type == DType::I4 ? lanes / 64 : lanes * size_of(type) / 32};
}

DAV_API void vector_unary(const VecUnary& v);
DAV_API void vector_binary(const VecBinary& v);
// Add, Sub (both rectified: AddRelu, SubRelu) or Mul with a narrower result.
DAV_API void vector_binary_cast(const VecBinary& v);
DAV_API void vector_scalar(const VecScalar& v);
DAV_API void vector_cast(const VecCast& v);
DAV_API void vector_duplicate(const VecDuplicate& v);
DAV_API void vector_copy(const VecCopy& v);
DAV_API void vector_index(const VecIndex& v);
DAV_API void vector_brcb(DType type, Local dst, uint32_t dst_block_stride,
                         uint32_t dst_repeat_stride, Local src, uint32_t repeats);
DAV_API void vector_reduce_repeat(const VecReduce& v);
DAV_API void vector_reduce_block(const VecReduce& v);
DAV_API void vector_reduce_pair(const VecReduce& v);
DAV_API void vector_reduce_all(const VecReduceAll& v);
// Scalar registers: the sum of the last ReduceSum over n elements as bits of its type, and the last
// extremum over all repeats, value bits in the low word and index in the high word.
DAV_API uint64_t vector_sum_register();
DAV_API uint64_t vector_extremum_register();
DAV_API void vector_compare(const VecCompare& v);
DAV_API void vector_get_compare_mask(Local dst);
DAV_API void vector_set_compare_mask(Local src);
DAV_API void vector_select(const VecSelect& v);
DAV_API void vector_gather(const VecGather& v);
DAV_API void vector_gather_blocks(DType type, Local dst, uint32_t dst_block_stride,
                                  uint32_t dst_repeat_stride, Local src, Local offsets,
                                  uint32_t repeats);
// Returns how many elements were kept.
DAV_API uint64_t vector_gather_mask(const VecGatherMask& v);
DAV_API void vector_transpose16(DType type, Local dst, Local src);
// [outer, rows, columns] to [outer, columns, rows] through `scratch_bytes` of a scratch buffer;
// channels are the rows or the columns.
DAV_API void vector_transpose_planes(DType type, Local dst, Local src, Local scratch,
                                     uint32_t scratch_length, uint32_t scratch_bytes,
                                     uint32_t outer, uint32_t rows, uint32_t columns,
                                     bool channels_first);
DAV_API void vector_transpose_5hd(const VecTranspose5hd& v);
DAV_API void vector_sort32(DType type, Local dst, Local score, Local index, int64_t repeats);
DAV_API void vector_merge_sort(const VecMergeSort& v);
// Elements each list gave to the last merge.
DAV_API void vector_merge_sort_result(uint16_t taken[4]);

// The factor of int32 to half conversions, as bits of a half.
DAV_API void vector_set_deq_scale(uint64_t scale);

}  // namespace dav
