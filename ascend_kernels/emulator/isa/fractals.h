// Layouts of the cube's operands in check mode: notes what a load or a product leaves behind, and
// traps WrongFractal when the next instruction takes it for something else.
//
// Only contradictions trap. Kernels put operands together from several loads and several matrices,
// leave surplus rows to chance and read results in pieces, all of which is right; so blocks are
// compared within one matrix only, lanes beyond m, n and k not at all, and a pitch is called wrong
// only when the fractals fit another one.
#pragma once

#include <cstdint>

#include "core/instruction.h"
#include "dav/types.h"
#include "isa/mmad_panels.h"

namespace dav::cube {

// A matrix of `rows` rows went into L1 as columns of 32-byte blocks.
struct NzBlocks {
  uint64_t l1 = 0;
  uint64_t rows = 0, columns = 0;  // columns of blocks
  uint64_t row_step = 0, column_step = 0;
};
void note_nz(Instruction& in, const NzBlocks& nz);

// The fractal at `dst` was loaded from blocks of L1, 32 bytes apart, the first at `l1`: one for
// each of its rows or, transposed, one for each element in its rows.
struct FractalSource {
  uint64_t l1 = 0;
  uint32_t blocks = 16;
  uint32_t column = 0;        // transposed: byte in the block that became its first row
  uint32_t element_bits = 0;  // transposed: what was exchanged; 0 when it was not
};
void note_fractal(Instruction& in, Buffer l0, uint64_t dst, const FractalSource& source);

// Traps when the fractals of A and B lie otherwise than this product takes them.
void require_operands(const Instruction& in, const MmadShape& shape, Local a, Local b);

// A product left m_tiles x n_tiles fractals of `size`-byte results at `c`.
void note_results(Instruction& in, const MmadShape& shape, Local c);

// A read of L0C: columns of 16 results, `rows` high and `step` bytes apart.
struct ResultColumns {
  uint64_t addr = 0;
  uint32_t size = 4;
  uint64_t rows = 0;
  uint64_t columns = 0;
  uint64_t step = 0;
};
// Traps when they do not run along the columns of fractals of the tiles they belong to. `pitch`
// names the argument that sets them apart.
void require_results(const Instruction& in, const ResultColumns& read, const char* pitch);
// As above for bursts of whole fractals or of their first rows (the coupled chip's way out):
// strided bursts have to begin in one row of fractals of a tile.
void require_result_bursts(const Instruction& in, const ResultColumns& read, const char* pitch);

}  // namespace dav::cube
