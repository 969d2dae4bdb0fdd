// Data movement and the cube: what the Ascend C headers hand to the emulator. Descriptors keep the
// API's own field names and units, so that a trap can name the argument the kernel's author set.
#pragma once

#include <cstdint>

#include "dav/api.h"
#include "dav/types.h"

namespace dav {

// --- Bursts. Lengths and gaps in 32-byte blocks; a gap runs from a burst's end to the next start.
struct BurstDesc {
  uint32_t blockCount = 1;
  uint32_t blockLen = 0;
  uint32_t srcGap = 0;
  uint32_t dstGap = 0;
};
// GM to UB or L1 (MTE2); UB or L1 to GM (MTE3).
DAV_API void data_copy_in(Local dst, uint64_t src, DType type, const BurstDesc& desc);
DAV_API void data_copy_out(uint64_t dst, Local src, DType type, const BurstDesc& desc);
// Between local buffers. UB to UB (V), UB to L1 (MTE3, coupled chip), L1 to the bias table (MTE1,
// 64-byte units, half widens to float), L1 to the Fixpipe buffer (FIX, 128-byte units).
DAV_API void data_copy_local(Local dst, DType dst_type, Local src, DType src_type,
                             const BurstDesc& desc);

// --- DataCopyPad: byte-granular bursts. Strides in bytes on the GM side, in 32-byte blocks in UB.
struct PadBurstDesc {
  uint32_t blockCount = 1;
  uint32_t blockLen = 0;  // bytes
  uint64_t srcStride = 0;
  uint64_t dstStride = 0;
};
struct PadDesc {
  bool isPad = false;
  uint32_t leftPadding = 0;  // elements
  uint32_t rightPadding = 0;
  uint64_t paddingValue = 0;  // one element, zero-extended
};
DAV_API void data_copy_pad_in(Local dst, uint64_t src, DType type, const PadBurstDesc& desc,
                              const PadDesc& pad);
DAV_API void data_copy_pad_out(uint64_t dst, Local src, DType type, const PadBurstDesc& desc);
// The value DataCopyPad fills with when isPad is false.
DAV_API void set_pad_value(uint64_t value);

// --- ND in GM to NZ in L1 (MTE2).
struct Nd2NzDesc {
  uint32_t ndNum = 0;
  uint32_t nValue = 0;
  uint32_t dValue = 0;
  uint64_t srcNdMatrixStride = 0;  // elements
  uint64_t srcDValue = 0;          // elements
  uint32_t dstNzC0Stride = 0;      // 32-byte blocks
  uint32_t dstNzNStride = 0;       // 32-byte blocks
  uint32_t dstNzMatrixStride = 0;  // elements
};
DAV_API void nd_to_nz(Local dst, uint64_t src, DType type, const Nd2NzDesc& desc);

// --- LoadData 2D: 512-byte fractals from L1 (MTE1) or GM (MTE2) to L0A, L0B or, from GM, L1.
struct Load2dDesc {
  uint32_t startIndex = 0;
  uint32_t repeatTimes = 0;
  uint32_t srcStride = 0;  // start to start, fractals
  uint32_t dstGap = 0;     // end to start, fractals
  bool ifTranspose = false;
  bool decrement = false;  // addrMode 1
};
DAV_API void load_data_2d(Local dst, Local src, DType type, const Load2dDesc& desc);
DAV_API void load_data_2d_gm(Local dst, uint64_t src, DType type, const Load2dDesc& desc);

// --- LoadDataWithTranspose: whole squares of one (16-bit) or two (8-, 32-bit) fractals.
struct LoadTransposeDesc {
  uint32_t startIndex = 0;  // squares
  uint32_t repeatTimes = 0;
  uint32_t srcStride = 0;   // squares
  uint32_t dstGap = 0;      // fractals, from the first fractal of one repeat to that of the next
  uint32_t dstFracGap = 0;  // fractals, within one repeat
  bool decrement = false;
};
DAV_API void load_data_transpose(Local dst, Local src, DType type, const LoadTransposeDesc& desc);

// --- LoadDataWithSparse: 512-byte fractals of weights from L1 to L0B, each with 128 bytes of
// index, which go to a buffer of their own.
DAV_API void load_data_sparse(Local dst, Local src, Local index, uint32_t startIndex,
                              uint32_t repeatTimes);

// --- LoadData 3D v2: image to column from NC1HWC0 in L1.
struct Load3dDesc {
  uint32_t channelSize = 0;
  uint32_t kExtension = 0, mExtension = 0, kStartPt = 0, mStartPt = 0;
  uint32_t strideW = 1, strideH = 1;
  uint32_t filterW = 1, filterH = 1;  // 256 added where filterSizeW/H asks for it
  uint32_t dilationFilterW = 1, dilationFilterH = 1;
  bool enTranspose = false;
  bool enSmallK = false;
  bool fMatrixCtrl = false;
};
DAV_API void load_data_3d(Local dst, Local src, DType type, const Load3dDesc& desc);
// The feature map of later 3D loads; pads are left, right, top, bottom.
DAV_API void set_fmatrix(bool right, uint32_t l1H, uint32_t l1W, const uint8_t padList[4]);
DAV_API void set_load_padding(uint64_t value);
DAV_API void set_load3d_boundary(uint32_t bytes);
DAV_API void set_load3d_repeat(uint32_t repeatStride, uint32_t repeatTime, uint32_t repeatMode);

// --- Mmad: C = A * B (+ C or bias).
struct MmadDesc {
  uint32_t m = 0, n = 0, k = 0;
  uint32_t unitFlag = 0;
  bool kDirectionAlign = false;
  bool init_zero = true;   // C starts at zero
  bool from_bias = false;  // C starts at the bias row
  Local bias{Buffer::BT, 0};
  bool winograd = false;  // enWinogradA or enWinogradB or enSsparse
};
DAV_API void mmad(Local dst, DType dst_type, Local a, DType a_type, Local b, DType b_type,
                  const MmadDesc& desc);
// B holds two of every four rows of the right matrix; k counts the columns of A.
DAV_API void mmad_sparse(Local dst, DType dst_type, Local a, DType a_type, Local b, DType b_type,
                         const MmadDesc& desc);
DAV_API void set_hf32(bool enable);
DAV_API void set_hf32_rounding(bool nearest_even);  // otherwise ties go towards zero
DAV_API void set_mm_column_major(bool column_major);

// --- Fixpipe: out of L0C with conversion.
enum class Quant : uint8_t { None, F16, Bf16, DeqF16, VDeqF16, F32ToB8, VF32ToB8, Req8, VReq8 };
struct FixpipeDesc {
  uint32_t nSize = 0, mSize = 0;
  uint32_t srcStride = 0;  // 16-element rows of L0C
  uint32_t dstStride = 0;  // 32-byte blocks for NZ, elements for ND
  Quant quant = Quant::None;
  uint64_t quant_scalar = 0;
  Local quant_vector{Buffer::FB, 0};
  uint32_t ndNum = 1, srcNdStride = 0, dstNdStride = 0;
  bool nz2nd = false;
  bool relu = false;
  bool channelSplit = false;
  uint32_t unitFlag = 0;
};
DAV_API void fixpipe_to_gm(uint64_t dst, DType dst_type, Local src, DType src_type,
                           const FixpipeDesc& desc);
DAV_API void fixpipe_to_l1(Local dst, DType dst_type, Local src, DType src_type,
                           const FixpipeDesc& desc);
// Registers that DataCopy out of L0C takes its parameters from.
DAV_API void set_fixpipe_nz2nd(uint32_t ndNum, uint32_t srcNdStride, uint32_t dstNdStride);
DAV_API void set_fixpipe_quant_scalar(uint64_t scalar);
DAV_API void set_fixpipe_quant_vector(Local vector);
// As fixpipe_to_gm and fixpipe_to_l1, with those registers in place of the descriptor's fields.
DAV_API void l0c_copy_to_gm(uint64_t dst, DType dst_type, Local src, DType src_type,
                            const FixpipeDesc& desc);
DAV_API void l0c_copy_to_l1(Local dst, DType dst_type, Local src, DType src_type,
                            const FixpipeDesc& desc);

// --- L0C to UB on the coupled chip (V), whole fractals or rows of 16.
struct L0cToUbDesc {
  uint32_t blockCount = 1;
  uint32_t blockLen = 0;   // fractals, or rows in row mode
  uint32_t srcStride = 0;  // fractals, end to start
  uint32_t dstStride = 0;  // 32-byte blocks, end to start
  bool row_mode = false;
  bool relu = false;
  bool quantised = false;  // any deqScale
};
DAV_API void l0c_to_ub(Local dst, DType dst_type, Local src, DType src_type,
                       const L0cToUbDesc& desc);
// UB to L0C on the coupled chip (V): the bias or accumulator a following Mmad adds to.
DAV_API void ub_to_l0c(Local dst, Local src, DType type, const L0cToUbDesc& desc);

// --- Fill of L1 (MTE2), L0A or L0B (MTE1).
struct FillDesc {
  uint32_t repeatTimes = 0;
  uint32_t blockNum = 0;  // 32 bytes in L1, 512 in L0
  uint32_t dstGap = 0;
  uint64_t value = 0;  // one element, zero-extended
};
DAV_API void fill_local(Local dst, DType type, const FillDesc& desc);

// The element type of later atomic stores to GM; abi_sync.h chooses the operation.
DAV_API void set_atomic_type(DType type);

}  // namespace dav
