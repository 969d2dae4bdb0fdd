// Which tile of L0C a read belongs to, and whether it follows the tile's columns of fractals.
#include <cinttypes>
#include <string>

#include "core/call_site.h"
#include "core/layouts.h"
#include "isa/cube_common.h"
#include "isa/fractals.h"

namespace dav::cube {
namespace {

// A row of 16 results within its tile.
struct Place {
  TileOrigin tile;
  uint64_t row = 0;     // from the top of the tile
  uint64_t column = 0;  // of fractals
};

Place place_of(Layouts& layouts, uint64_t addr) {
  Place p;
  p.tile = layouts.tile(addr);
  if (p.tile.size == 0) return p;
  const uint64_t bytes = uint64_t{kSide} * kSide * p.tile.size;  // of a fractal
  const uint64_t from = addr - uint64_t{p.tile.base} * Layouts::kPiece;
  p.row = from / bytes % p.tile.rows * kSide + from % bytes / (kSide * p.tile.size);
  p.column = from / bytes / p.tile.rows;
  return p;
}

[[noreturn]] void wrong_results(const Instruction& in, uint64_t addr, const TileOrigin& tile,
                                const std::string& message) {
  const std::string where = describe_site(tile.site);
  in.trap(TrapKind::WrongFractal, "L0C at 0x%" PRIx64 " %s%s%s", addr, message.c_str(),
          where.empty() ? "" : "\n  the tile was written at ",
          where.substr(0, where.find('\n')).c_str());
}

void require_size(const Instruction& in, uint64_t addr, const TileOrigin& tile, uint32_t size) {
  if (tile.size == 0 || tile.size == size) return;
  wrong_results(in, addr, tile,
                "holds results of " + std::to_string(tile.size) +
                    " bytes and is read as results of " + std::to_string(size));
}

std::string tile_of(const Place& p) {
  return "the tile there has columns of " + std::to_string(p.tile.rows * kSide) + " rows";
}

}  // namespace

void note_results(Instruction& in, const MmadShape& s, Local c) {
  Layouts* layouts = in.layouts();
  if (layouts == nullptr) return;
  TileOrigin t;
  t.size = static_cast<uint8_t>(s.c_size);
  t.base = static_cast<uint16_t>(c.addr / Layouts::kPiece);
  t.rows = static_cast<uint16_t>(s.m_tiles);
  t.site = in.site();
  for (uint64_t at = 0; at < s.c_bytes; at += Layouts::kPiece) layouts->tile(c.addr + at) = t;
}

void require_results(const Instruction& in, const ResultColumns& read, const char* pitch) {
  Layouts* layouts = in.layouts();
  if (layouts == nullptr) return;
  const uint64_t row_bytes = uint64_t{kSide} * read.size;
  const uint64_t size = in.core().size_of(Buffer::L0C);
  Place above;
  for (uint64_t column = 0; column < read.columns; ++column) {
    const uint64_t top = read.addr + column * read.step;
    if (top >= size) return;  // refused where it is read
    const Place first = place_of(*layouts, top);
    require_size(in, top, first.tile, read.size);
    if (column > 0 && first.tile.same_tile(above.tile) &&
        (first.row != above.row || first.column != above.column + 1)) {
      wrong_results(in, top, first.tile,
                    "is read as the next column of fractals, " +
                        std::to_string(read.step / row_bytes) + " rows on (" + pitch + "); " +
                        tile_of(first));
    }
    above = first;
    // A single column of fractals is a run of rows, wherever it ends.
    for (uint64_t row = kSide; row < read.rows && read.columns > 1; row += kSide) {
      const uint64_t addr = top + row * row_bytes;
      if (addr >= size) return;
      const Place p = place_of(*layouts, addr);
      if (!p.tile.same_tile(first.tile) || p.column == first.column) continue;
      wrong_results(
          in, addr, p.tile,
          "is read as row " + std::to_string(row) + " of a column of fractals; " + tile_of(p));
    }
  }
}

void require_result_bursts(const Instruction& in, const ResultColumns& read, const char* pitch) {
  Layouts* layouts = in.layouts();
  if (layouts == nullptr) return;
  const uint64_t fractal = uint64_t{kSide} * kSide * read.size;
  const bool strided = read.step != read.rows / kSide * fractal;
  const uint64_t size = in.core().size_of(Buffer::L0C);
  Place before;
  for (uint64_t burst = 0; burst < read.columns; ++burst) {
    const uint64_t addr = read.addr + burst * read.step;
    if (addr >= size) return;
    const Place first = place_of(*layouts, addr);
    require_size(in, addr, first.tile, read.size);
    if (strided && burst > 0 && first.tile.same_tile(before.tile) && first.row != before.row) {
      wrong_results(in, addr, first.tile,
                    "is read as the start of a burst, " + std::to_string(read.step / fractal) +
                        " fractals on (" + pitch + "); " + tile_of(first));
    }
    before = first;
  }
}

}  // namespace dav::cube
