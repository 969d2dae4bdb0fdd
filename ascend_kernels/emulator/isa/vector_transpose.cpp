// Transposition of 16 by 16 elements and of 16 blocks at free addresses.
#include <algorithm>
#include <utility>
#include <vector>

#include "isa/vector_common.h"

namespace dav {
namespace {

constexpr uint32_t k16Bit = vec::types({DType::I16, DType::U16, DType::F16});
constexpr uint32_t k5hdOn1001 =
    vec::types({DType::I8, DType::U8, DType::I16, DType::U16, DType::F16});
constexpr uint32_t k5hdOn2201 = k5hdOn1001 | vec::types({DType::I32, DType::U32, DType::F32});

}  // namespace

void vector_transpose16(DType type, Local dst, Local src) {
  Instruction in(Pipe::V, "Transpose");
  vec::require_type(in, type, k16Bit, k16Bit);
  vec::require_ub(in, dst, "dst");
  vec::require_ub(in, src, "src");
  in.require_aligned(Buffer::UB, dst.addr, vec::kBlock, "dst");
  in.require_aligned(Buffer::UB, src.addr, vec::kBlock, "src");
  uint16_t matrix[256], result[256];
  std::memcpy(matrix, in.read(Buffer::UB, src.addr, sizeof(matrix)), sizeof(matrix));
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t col = 0; col < 16; ++col) result[col * 16 + row] = matrix[row * 16 + col];
  std::memcpy(in.write(Buffer::UB, dst.addr, sizeof(result)), result, sizeof(result));
  vec::vector_work(in, VectorClass::Transpose, type, 2);
}

// A routine of the kernel library over TransDataTo5HD and copies; its cost is that of its 16-row
// transpositions, each in and out of the scratch buffer.
void vector_transpose_planes(DType type, Local dst, Local src, Local scratch,
                             uint32_t scratch_length, uint32_t scratch_bytes, uint32_t outer,
                             uint32_t rows, uint32_t columns, bool channels_first) {
  Instruction in(Pipe::V, "Transpose");
  if (vec::is_1001(in)) in.trap(TrapKind::UnsupportedOp, "this chip transposes 16 by 16 only");
  const uint32_t bytes = size_of(type);
  if (outer == 0 || rows == 0 || columns == 0) return;
  for (const auto& [operand, name] :
       {std::pair{dst, "dst"}, {src, "src"}, {scratch, "sharedTmpBuffer"}}) {
    vec::require_ub(in, operand, name);
    in.require_aligned(Buffer::UB, operand.addr, vec::kBlock, name);
  }
  in.require_range("cSize", channels_first ? rows : columns, 0, 4095);
  const uint32_t image = channels_first ? columns : rows;
  in.require_range("hSize * wSize", image, 0, 4095);
  if (image * bytes % vec::kBlock)
    in.trap(TrapKind::Misaligned,
            "an image of %u elements takes %u bytes; whole blocks of 32 count", image,
            image * bytes);
  if (scratch_length < scratch_bytes)
    in.trap(TrapKind::OutOfBounds, "sharedTmpBuffer holds %u bytes, the call needs %u",
            scratch_length, scratch_bytes);
  const uint64_t total = uint64_t{outer} * rows * columns * bytes;
  vec::require_apart(in, dst.addr, total, src.addr, total, "src");
  std::vector<std::byte> source(total), result(total);
  std::memcpy(source.data(), in.read(Buffer::UB, src.addr, total), total);
  for (uint64_t o = 0; o < outer; ++o) {
    for (uint64_t r = 0; r < rows; ++r) {
      for (uint64_t c = 0; c < columns; ++c) {
        std::memcpy(result.data() + ((o * columns + c) * rows + r) * bytes,
                    source.data() + ((o * rows + r) * columns + c) * bytes, bytes);
      }
    }
  }
  in.write(Buffer::UB, scratch.addr, scratch_bytes);
  std::memcpy(in.write(Buffer::UB, dst.addr, total), result.data(), total);
  const uint64_t tiles = (total + 511) / 512;
  vec::vector_work(in, VectorClass::Transpose, type, static_cast<uint32_t>(tiles * 4));
}

void vector_transpose_5hd(const VecTranspose5hd& v) {
  Instruction in(Pipe::V, v.name);
  vec::require_type(in, v.type, k5hdOn2201, k5hdOn1001);
  in.require_range("repeatTimes", v.repeats, 0, vec::kMaxRepeats);
  const uint32_t bytes = size_of(v.type);
  if (bytes != 1 && (v.dst_high_half || v.src_high_half))
    in.trap(TrapKind::IllegalArgument, "high halves exist for 8-bit elements only");
  for (uint32_t i = 0; i < 16; ++i) {
    in.require_aligned(Buffer::UB, v.dst[i], vec::kBlock, "dstList");
    in.require_aligned(Buffer::UB, v.src[i], vec::kBlock, "srcList");
  }
  // 8-bit elements go half a block at a time.
  const uint32_t row_bytes = bytes == 1 ? 16 : vec::kBlock;
  const uint32_t src_skip = v.src_high_half ? 16 : 0, dst_skip = v.dst_high_half ? 16 : 0;
  for (uint32_t r = 0; r < v.repeats; ++r) {
    // A single repeat starts one stride in; of several, the first starts at the lists' addresses.
    const uint64_t step = v.repeats == 1 ? 1 : r;
    std::byte rows[16][vec::kBlock], columns[16 * vec::kBlock];
    for (uint32_t i = 0; i < 16; ++i)
      std::memcpy(
          rows[i],
          in.read(Buffer::UB, v.src[i] + step * v.src_repeat_stride * vec::kBlock + src_skip,
                  row_bytes),
          row_bytes);
    for (uint32_t column = 0; column < row_bytes / bytes; ++column)
      for (uint32_t i = 0; i < 16; ++i)
        std::memcpy(columns + (column * 16 + i) * bytes, rows[i] + column * bytes, bytes);
    for (uint32_t i = 0; i < 16; ++i)
      std::memcpy(
          in.write(Buffer::UB, v.dst[i] + step * v.dst_repeat_stride * vec::kBlock + dst_skip,
                   row_bytes),
          columns + i * row_bytes, row_bytes);
  }
  vec::vector_work(in, VectorClass::Transpose, v.type, v.repeats * 2);
}

}  // namespace dav
