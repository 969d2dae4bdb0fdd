#include "isa/fractals.h"

#include <algorithm>
#include <cinttypes>
#include <string>

#include "core/call_site.h"
#include "core/layouts.h"
#include "isa/cube_common.h"

namespace dav::cube {
namespace {

std::string written_at(const char* what, uint32_t site) {
  const std::string where = describe_site(site);
  return where.empty() ? ""
                       : std::string("\n  ") + what + " at " + where.substr(0, where.find('\n'));
}

// The fractals of A or B as an Mmad walks them: rows of fractals, `pitch` apart. Down and across
// are the directions of the operand; the source's are rows and columns of the matrix in L1.
class Operand {
 public:
  Operand(const Instruction& in, Local at, uint32_t rows, uint32_t columns, uint32_t pitch,
          bool right)
      : layouts_(*in.layouts()),
        at_(at),
        rows_(rows),
        columns_(columns),
        pitch_(pitch),
        right_(right) {}

  const FractalOrigin& fractal(uint32_t index) const {
    return layouts_.fractal(at_.buffer, at_.addr + uint64_t{index} * kFractal);
  }
  uint32_t rows() const { return rows_; }
  uint32_t columns() const { return columns_; }
  uint32_t pitch() const { return pitch_; }
  uint32_t index(uint32_t row, uint32_t column) const { return row * pitch_ + column; }
  uint32_t count() const { return (rows_ - 1) * pitch_ + columns_; }

  // Whether the fractals lie as rows of `pitch`, as far as they come from one matrix each;
  // `exchanged`: with down and across changing places. `evident`: and both directions show it.
  struct Fit {
    bool fits = true;
    bool down = false, across = false;
    bool evident() const { return fits && down && across; }
  };
  Fit fit(uint32_t rows, uint32_t columns, uint32_t pitch, uint32_t count, bool exchanged) const {
    Fit result;
    for (uint32_t row = 0; row < rows && result.fits; ++row) {
      for (uint32_t column = 0; column < columns; ++column) {
        const uint32_t i = row * pitch + column;
        if (i >= count) break;
        if (row > 0) step(i - pitch, i, !exchanged, &result.down, &result.fits);
        if (column > 0) step(i - 1, i, exchanged, &result.across, &result.fits);
      }
    }
    return result;
  }

  // The same question by addresses in L1 alone: the steps across are those of the first row, and
  // the step from row to row is another.
  Fit fit_by_address(uint32_t rows, uint32_t columns, uint32_t pitch, uint32_t count) const {
    const auto across = [&](uint32_t at) {
      return int64_t{fractal(at).l1} - int64_t{fractal(at - 1).l1};
    };
    Fit result;
    uint32_t steps = 0;
    for (uint32_t row = 1; row < rows; ++row) {
      for (uint32_t column = 1; column < columns; ++column) {
        const uint32_t i = row * pitch + column;
        if (i >= count) break;
        if (across(i) != across(column)) result.fits = false;
        ++steps;
      }
    }
    result.across = steps > 1;
    result.down = pitch < count && across(pitch) != across(1);
    return result;
  }

  // All loaded from L1, and none from a matrix the emulator knows.
  bool known_by_address() const {
    for (uint32_t row = 0; row < rows_; ++row) {
      for (uint32_t column = 0; column < columns_; ++column) {
        const FractalOrigin& f = fractal(index(row, column));
        if (!f.loaded || f.matrix != 0) return false;
      }
    }
    return true;
  }

 private:
  // A step down keeps what runs across and changes what runs down.
  void step(uint32_t from, uint32_t to, bool down, bool* seen, bool* fits) const {
    const FractalOrigin& a = fractal(from);
    const FractalOrigin& b = fractal(to);
    if (a.matrix == 0 || a.matrix != b.matrix || a.transposed != b.transposed) return;
    // A holds k across, B holds it down; k is the fractal's 32-byte direction.
    const bool rows_down = right_ == a.transposed;
    const bool same_row = a.row == b.row, same_column = a.column == b.column;
    const bool kept = down == rows_down ? same_column : same_row;
    const bool moved = down == rows_down ? !same_row : !same_column;
    if (!kept) *fits = false;
    *seen = *seen || (kept && moved);
  }

  Layouts& layouts_;
  const Local at_;
  const uint32_t rows_, columns_, pitch_;
  const bool right_;
};

[[noreturn]] void wrong_operand(const Instruction& in, const char* name, Local at, uint32_t index,
                                const FractalOrigin& f, const std::string& message) {
  const uint64_t begin = at.addr + uint64_t{index} * kFractal;
  in.trap(TrapKind::WrongFractal, "%s at %s[0x%" PRIx64 ", 0x%" PRIx64 ") %s%s", name,
          to_string(at.buffer), begin, begin + kFractal, message.c_str(),
          written_at("loaded", f.site).c_str());
}

std::string plural(uint32_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

void require_pitch(const Instruction& in, const Operand& o, const char* name, Local at) {
  const bool by_address = o.known_by_address();
  const auto own = by_address ? o.fit_by_address(o.rows(), o.columns(), o.pitch(), o.count())
                              : o.fit(o.rows(), o.columns(), o.pitch(), o.count(), false);
  if (own.fits) return;
  const std::string taken = "is taken as part of rows of " + plural(o.pitch(), "fractal") + "; ";
  const uint32_t count = o.count();
  for (uint32_t pitch = 2; pitch < count; ++pitch) {
    // A matrix may be meant to have half its rows and twice their length, or the other way round.
    if (pitch % o.pitch() == 0 || o.pitch() % pitch == 0) continue;
    const uint32_t rows = (count + pitch - 1) / pitch;
    const auto fit = by_address ? o.fit_by_address(rows, pitch, pitch, count)
                                : o.fit(rows, pitch, pitch, count, false);
    if (!fit.evident()) continue;
    wrong_operand(in, name, at, 0, o.fractal(0),
                  taken + "they were laid down in rows of " + std::to_string(pitch));
  }
  for (uint32_t pitch = 2; pitch < count && !by_address; ++pitch) {
    const uint32_t rows = (count + pitch - 1) / pitch;
    if (!o.fit(rows, pitch, pitch, count, true).evident()) continue;
    wrong_operand(in, name, at, 0, o.fractal(0),
                  taken +
                      "the directions of the matrix are exchanged in it: fractals loaded in "
                      "the wrong order, or a transposition too few or too many");
  }
}

// What one fractal holds, `rows` of its rows and `depth` of the elements along them being used.
void require_fractal(const Instruction& in, const char* name, Local at, uint32_t index,
                     const FractalOrigin& f, uint32_t rows, uint32_t depth, uint32_t bits) {
  if (!f.loaded) return;
  if (f.transposed && f.element_bits != bits) {
    wrong_operand(in, name, at, index, f,
                  "was transposed as elements of " + std::to_string(f.element_bits) +
                      " bits and is taken as elements of " + std::to_string(bits));
  }
  if ((f.transposed ? depth : rows) > f.other_column) {
    wrong_operand(in, name, at, index, f,
                  "continues after " + plural(f.other_column, "row") +
                      " with the next column of blocks of the matrix in L1: the columns there are "
                      "no whole number of fractals apart (dstNzC0Stride)");
  }
}

}  // namespace

void note_nz(Instruction& in, const NzBlocks& nz) {
  Layouts* layouts = in.layouts();
  if (layouts == nullptr) return;
  const uint32_t matrix = layouts->new_matrix();
  for (uint64_t column = 0; column < nz.columns; ++column) {
    for (uint64_t row = 0; row < nz.rows; ++row) {
      layouts->block(nz.l1 + column * nz.column_step + row * nz.row_step) = {
          matrix, static_cast<uint16_t>(row), static_cast<uint16_t>(column)};
    }
  }
}

void note_fractal(Instruction& in, Buffer l0, uint64_t dst, const FractalSource& source) {
  Layouts* layouts = in.layouts();
  if (layouts == nullptr) return;
  const BlockOrigin& first = layouts->block(source.l1);
  FractalOrigin f;
  f.loaded = true;
  f.transposed = source.element_bits != 0;
  f.element_bits = static_cast<uint8_t>(source.element_bits);
  f.matrix = first.matrix;
  f.row = first.row;
  f.column = uint32_t{first.column} * kBlock + source.column;
  f.l1 = static_cast<uint32_t>(source.l1) + source.column;
  f.site = in.site();
  for (uint32_t i = 1; i < source.blocks && f.matrix != 0; ++i) {
    const BlockOrigin& next = layouts->block(source.l1 + uint64_t{i} * kBlock);
    if (next.matrix != f.matrix) continue;
    const auto at = static_cast<uint8_t>(i);
    if (next.column != first.column) f.other_column = std::min(f.other_column, at);
    if (next.row != first.row) f.other_row = std::min(f.other_row, at);
  }
  layouts->fractal(l0, dst) = f;
}

void require_operands(const Instruction& in, const MmadShape& s, Local a, Local b) {
  if (!in.checking()) return;
  const uint32_t bits = kBlock * 8 / s.c0;
  const auto depth_of = [&](uint32_t k, uint32_t kb) { return std::min(s.c0, k - kb * s.c0); };
  const auto rows_of = [](uint32_t all, uint32_t tile) {
    return std::min<uint32_t>(kSide, all - tile * kSide);
  };
  const Operand right(in, b, s.b_k_tiles, s.n_tiles, s.n_tiles, true);
  for (uint32_t kb = 0; kb < s.b_k_tiles; ++kb) {
    for (uint32_t nb = 0; nb < s.n_tiles; ++nb) {
      const uint32_t i = right.index(kb, nb);
      require_fractal(in, "filter", b, i, right.fractal(i), rows_of(s.n, nb), depth_of(s.b_k, kb),
                      bits);
    }
  }
  require_pitch(in, right, "filter", b);
  if (s.gemv) {
    // A is one row of blocks, no row of fractals.
    for (uint32_t kb = 0; kb < s.k_tiles; kb += kSide) {
      const FractalOrigin& f = in.layouts()->fractal(Buffer::L0A, a.addr + uint64_t{kb} * kBlock);
      if (!f.loaded || f.transposed || std::min(kSide, s.k_tiles - kb) <= f.other_row) continue;
      wrong_operand(in, "fm", a, kb / kSide, f,
                    "is taken as one row of blocks, as m = 1 has it, and holds a fractal: after " +
                        plural(f.other_row, "block") + " follows another row of the matrix");
    }
    return;
  }
  const Operand left(in, a, s.m_tiles, s.k_tiles, s.k_stride, false);
  for (uint32_t mb = 0; mb < s.m_tiles; ++mb) {
    for (uint32_t kb = 0; kb < s.k_tiles; ++kb) {
      const uint32_t i = left.index(mb, kb);
      require_fractal(in, "fm", a, i, left.fractal(i), rows_of(s.m, mb), depth_of(s.k, kb), bits);
    }
  }
  require_pitch(in, left, "fm", a);
}

}  // namespace dav::cube
