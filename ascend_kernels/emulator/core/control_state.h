// The registers of one core that change what later instructions do. Plain state: the functions of
// abi_*.h set it, isa/ reads it.
#pragma once

#include <cstdint>

#include "dav/abi_sync.h"
#include "dav/types.h"

namespace dav {

struct ControlState {
  // Vector mask. In counter mode mask_low is the number of elements.
  bool mask_counter = false;
  bool counted = false;  // the last vector instruction took its mask as an element count
  uint64_t mask_high = ~uint64_t{0};
  uint64_t mask_low = ~uint64_t{0};

  // Atomic read-modify-write of stores to GM.
  Atomic atomic = Atomic::None;
  DType atomic_type = DType::F32;

  // CTRL, the catch-all mode register. Bit 48 (results may be infinite or NaN) is set at launch.
  uint64_t ctrl = uint64_t{1} << 48;

  // Cube.
  bool hf32 = false;
  uint8_t hf32_rounding = 0;
  bool mm_column_major = false;
  uint64_t load_padding = 0;  // value loads pad with
  uint64_t fmatrix_a = 0, fmatrix_b = 0;
  uint64_t load3d_repeat = 1 << 16;  // stride, times, along K
  uint32_t load3d_boundary = 0;      // bytes of L1 a 3D load walks around in; 0: all
  uint64_t fixpipe_nz2nd = 0;        // loop parameters of NZ to ND output
  uint64_t fixpipe_quant = 0;        // scalar quantisation factor
  uint64_t fixpipe_quant_addr = 0;   // FB offset of the factor vector
  uint64_t fixpipe_relu_addr = 0;
  uint64_t pad_value = 0;  // what DataCopyPad fills with

  // Vector.
  uint64_t deq_scale = 0;
  uint64_t compare_mask_low = 0, compare_mask_high = 0;
  uint64_t reduce_result = 0;  // value register of whole-tensor reductions
  uint64_t accumulator = 0;
  uint64_t remain_count = 0;         // elements GatherMask kept
  uint16_t merge_taken[4] = {};      // elements each list gave to the last merge
  uint64_t va_registers[8][8] = {};  // address registers of the transposing instructions
};

}  // namespace dav
