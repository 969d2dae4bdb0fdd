// Which layout data in the cube's buffers was written with: where in its matrix a block of L1
// begins, what a fractal of L0A or L0B was loaded from, which tile a fractal of L0C belongs to.
// Kept beside the tracker's cells in check mode; whatever writes without saying how is unknown.
#pragma once

#include <cstdint>
#include <vector>

#include "dav/types.h"

namespace dav {

struct Chip;

// A 32-byte block of L1, written by a conversion to NZ.
struct BlockOrigin {
  uint32_t matrix = 0;  // number of the conversion; 0: unknown
  uint16_t row = 0;
  uint16_t column = 0;  // in blocks
};

// A fractal of L0A or L0B, loaded from blocks of L1.
struct FractalOrigin {
  static constexpr uint8_t kNever = 255;

  bool loaded = false;       // false: unknown
  bool transposed = false;   // its 32-byte direction runs down the rows of L1
  uint8_t element_bits = 0;  // that a transposing load moved apart
  // The first of its blocks of L1 that lies in another column (another row) of the matrix.
  uint8_t other_column = kNever, other_row = kNever;
  uint32_t matrix = 0;  // 0: unknown; where in it the fractal begins:
  uint32_t row = 0;
  uint32_t column = 0;  // in bytes
  uint32_t l1 = 0;
  uint32_t site = 0;
};

// A 512-byte piece of L0C, part of a tile of results.
struct TileOrigin {
  uint8_t size = 0;   // bytes of a result; 0: unknown
  uint16_t base = 0;  // where the tile begins, in such pieces
  uint16_t rows = 0;  // of fractals, before the next column of fractals begins
  uint32_t site = 0;

  bool same_tile(const TileOrigin& o) const {
    return size != 0 && size == o.size && base == o.base && rows == o.rows;
  }
};

class Layouts {
 public:
  static constexpr uint64_t kBlock = 32, kPiece = 512;

  explicit Layouts(const Chip& chip) : chip_(chip) {}

  // Bytes [begin, end) were written in a way nobody described.
  void forget(Buffer buffer, uint64_t begin, uint64_t end);
  // The core has ended.
  void release();

  uint32_t new_matrix() { return ++matrices_; }
  // Addresses lie in the buffer; only the block (piece) they lie in counts.
  BlockOrigin& block(uint64_t l1) { return of(l1_, Buffer::L1, kBlock)[l1 / kBlock]; }
  FractalOrigin& fractal(Buffer l0, uint64_t addr) {
    return of(l0 == Buffer::L0A ? l0a_ : l0b_, l0, kPiece)[addr / kPiece];
  }
  TileOrigin& tile(uint64_t l0c) { return of(l0c_, Buffer::L0C, kPiece)[l0c / kPiece]; }

 private:
  template <typename T>
  std::vector<T>& of(std::vector<T>& places, Buffer buffer, uint64_t grain) {
    if (places.empty()) places.resize(pieces(buffer, grain));
    return places;
  }
  uint64_t pieces(Buffer buffer, uint64_t grain) const;

  const Chip& chip_;
  uint32_t matrices_ = 0;
  std::vector<BlockOrigin> l1_;
  std::vector<FractalOrigin> l0a_, l0b_;
  std::vector<TileOrigin> l0c_;
};

}  // namespace dav
