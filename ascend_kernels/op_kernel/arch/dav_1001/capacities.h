// Architecture 1001 (910A): sizes the forward kernel's tiles are cut to.
#ifndef ASCENDFA_ARCH_DAV_1001_CAPACITIES_H
#define ASCENDFA_ARCH_DAV_1001_CAPACITIES_H

#include <cstdint>

namespace ascendfa {

constexpr uint32_t kL0aBytes = 64 * 1024;
constexpr uint32_t kL0bBytes = 64 * 1024;
constexpr uint32_t kL0cBytes = 256 * 1024;

// A fractal is 16 rows of 32 bytes.
constexpr uint32_t kFractalRows = 16;
constexpr uint32_t kFractalBytes = 512;
constexpr uint32_t kBlockBytes = 32;    // smallest unit of local memory, and of copies
constexpr uint32_t kRepeatBytes = 256;  // what a vector instruction takes per repeat
constexpr uint32_t kRepeatFloats = kRepeatBytes / sizeof(float);
constexpr uint32_t kBlockFloats = kBlockBytes / sizeof(float);

// Largest edge of a product's right operand.
constexpr uint32_t kCubeEdge = 128;
// Keys the vector unit normalises at a time. 64 x 128 16-bit operands leave room for two in L0B,
// and four strips of 128 queries in fp32 for one in UB at each stage of the softmax.
constexpr uint32_t kStripKeys = 64;
// Largest query block, in elements: half of L0A.
constexpr uint32_t kQueryElements = 128 * 128;
// A task is one band of queries, whatever its rows.
constexpr uint32_t kBandRows = kQueryElements / kFractalRows;
constexpr uint32_t kMaxBands = 1;

// There are four event ids between two pipes; these share them.
constexpr uint32_t kTileSlots = 3;   // key tiles in L1, beside the weights
constexpr uint32_t kLoadSlots = 3;   // pieces between global memory and L1
constexpr uint32_t kRightSlots = 3;  // right operands in L0B, beside the left ones
constexpr uint32_t kScoreSlots = 2;  // strips of scores in L0C
constexpr uint32_t kStagingSlots = 2;
constexpr uint32_t kStages = 4;     // strips in UB: fetched, scaled, exponentiated, narrowed
constexpr uint32_t kTermSlots = 2;  // tiles of bias, and of mask, in UB

// Tasks whose checks a core keeps until it looks at them.
constexpr uint32_t kChecks = 128;

}  // namespace ascendfa

#endif  // ASCENDFA_ARCH_DAV_1001_CAPACITIES_H
