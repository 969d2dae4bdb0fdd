#include "isa/mmad_notes.h"

#include <algorithm>
#include <vector>

#include "isa/cube_common.h"

namespace dav::cube {
namespace {

// Bytes of the k lanes of fractal kb that are valid.
uint32_t valid_bytes(const MmadShape& s, uint32_t k, uint32_t kb) {
  const uint32_t lanes = std::min(s.c0, k - kb * s.c0);
  return (lanes * kBlock + s.c0 - 1) / s.c0;
}

// Calls f(addr, bytes) for the valid lanes of A, in as few pieces as there are.
template <class F>
void for_left(const MmadShape& s, Local a, F f) {
  const bool whole_k = s.k % s.c0 == 0;
  if (s.gemv) {
    f(a.addr, uint64_t{s.k_tiles - 1} * kBlock + valid_bytes(s, s.k, s.k_tiles - 1));
    return;
  }
  if (whole_k && s.m % kSide == 0 && s.k_stride == s.k_tiles) {
    f(a.addr, s.a_bytes);
    return;
  }
  for (uint32_t mb = 0; mb < s.m_tiles; ++mb) {
    const uint32_t rows = std::min<uint32_t>(kSide, s.m - mb * kSide);
    for (uint32_t kb = 0; kb < s.k_tiles; ++kb) {
      const uint64_t fractal = a.addr + (uint64_t{mb} * s.k_stride + kb) * kFractal;
      const uint32_t bytes = valid_bytes(s, s.k, kb);
      const uint32_t pieces = bytes == kBlock ? 1 : rows;
      for (uint32_t r = 0; r < pieces; ++r) {
        f(fractal + r * kBlock, pieces == 1 ? uint64_t{rows - 1} * kBlock + bytes : bytes);
      }
    }
  }
}

template <class F>
void for_right(const MmadShape& s, Local b, F f) {
  if (s.b_k % s.c0 == 0 && s.n % kSide == 0) {
    f(b.addr, s.b_bytes);
    return;
  }
  for (uint32_t kb = 0; kb < s.b_k_tiles; ++kb) {
    const uint32_t bytes = valid_bytes(s, s.b_k, kb);
    for (uint32_t nb = 0; nb < s.n_tiles; ++nb) {
      const uint32_t columns = std::min<uint32_t>(kSide, s.n - nb * kSide);
      const uint64_t fractal = b.addr + (uint64_t{kb} * s.n_tiles + nb) * kFractal;
      const uint32_t pieces = bytes == kBlock ? 1 : columns;
      for (uint32_t c = 0; c < pieces; ++c) {
        f(fractal + c * kBlock, pieces == 1 ? uint64_t{columns - 1} * kBlock + bytes : bytes);
      }
    }
  }
}

template <class F>
void for_result(const MmadShape& s, Local c, F f) {
  const uint64_t row_bytes = uint64_t{kSide} * s.c_size;
  for (uint32_t nb = 0; nb < s.n_tiles; ++nb) {
    const uint64_t column = c.addr + uint64_t{nb} * s.m_tiles * kSide * row_bytes;
    const uint32_t lanes = std::min<uint32_t>(kSide, s.n - nb * kSide);
    const uint32_t pieces = lanes == kSide ? 1 : s.m;
    const uint64_t bytes = lanes == kSide ? s.m * row_bytes : uint64_t{lanes} * s.c_size;
    for (uint32_t r = 0; r < pieces; ++r) f(column + r * row_bytes, bytes);
  }
}

// Which of `count` rows (columns) are undefined, by their 32-byte pieces.
template <class At>
std::vector<bool> undefined_lines(const Instruction& in, const MmadShape& s, Buffer buffer,
                                  uint32_t count, uint32_t k, At at) {
  std::vector<bool> undefined(count, false);
  for (uint32_t line = 0; line < count; ++line) {
    for (uint32_t kb = 0; kb * s.c0 < k && !undefined[line]; ++kb) {
      undefined[line] = !in.is_defined(buffer, at(line, kb), valid_bytes(s, k, kb));
    }
  }
  return undefined;
}

std::vector<bool> undefined_rows(const Instruction& in, const MmadShape& s, Local a) {
  return undefined_lines(in, s, Buffer::L0A, s.m, s.k, [&](uint32_t r, uint32_t kb) {
    return s.gemv ? a.addr + uint64_t{kb} * kBlock
                  : a.addr + (uint64_t{r / kSide} * s.k_stride + kb) * kFractal +
                        uint64_t{r % kSide} * kBlock;
  });
}

std::vector<bool> undefined_columns(const Instruction& in, const MmadShape& s, Local b) {
  return undefined_lines(in, s, Buffer::L0B, s.n, s.b_k, [&](uint32_t c, uint32_t kb) {
    return b.addr + (uint64_t{kb} * s.n_tiles + c / kSide) * kFractal +
           uint64_t{c % kSide} * kBlock;
  });
}

uint64_t lane(const MmadShape& s, Local c, uint32_t row, uint32_t column) {
  const uint64_t fractal_rows = uint64_t{column / kSide} * s.m_tiles * kSide + row;
  return c.addr + (fractal_rows * kSide + column % kSide) * s.c_size;
}

}  // namespace

void note_mmad(Instruction& in, const MmadShape& s, Local a, Local b, Local c, bool accumulates) {
  if (!in.checking()) return;
  bool defined = true;
  const auto look = [&](Buffer buffer) {
    return [&in, &defined, buffer](uint64_t addr, uint64_t bytes) {
      defined = defined && in.is_defined(buffer, addr, bytes);
    };
  };
  for_left(s, a, look(Buffer::L0A));
  for_right(s, b, look(Buffer::L0B));
  if (accumulates) for_result(s, c, look(Buffer::L0C));

  std::vector<uint64_t> lost;  // lanes of C that get no value
  if (!defined) {
    const std::vector<bool> rows = undefined_rows(in, s, a), columns = undefined_columns(in, s, b);
    for (uint32_t row = 0; row < s.m; ++row) {
      for (uint32_t column = 0; column < s.n; ++column) {
        const uint64_t at = lane(s, c, row, column);
        if (rows[row] || columns[column] ||
            (accumulates && !in.is_defined(Buffer::L0C, at, s.c_size))) {
          lost.push_back(at);
        }
      }
    }
  }
  const bool report = lost.size() == uint64_t{s.m} * s.n;
  const auto note = [&](Buffer buffer) {
    return [&in, report, buffer](uint64_t addr, uint64_t bytes) {
      report ? in.note_read(buffer, addr, bytes) : in.note_move(buffer, addr, bytes);
    };
  };
  for_left(s, a, note(Buffer::L0A));
  for_right(s, b, note(Buffer::L0B));
  if (accumulates) for_result(s, c, note(Buffer::L0C));
  for_result(s, c, [&](uint64_t addr, uint64_t bytes) { in.note_write(Buffer::L0C, addr, bytes); });
  for (const uint64_t at : lost) in.set_undefined(Buffer::L0C, at, s.c_size);
}

}  // namespace dav::cube
