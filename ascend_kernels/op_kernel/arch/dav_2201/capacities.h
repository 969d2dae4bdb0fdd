// Architecture 2201 (910B, 910C): sizes the forward kernel's tiles are cut to.
#ifndef ASCENDFA_ARCH_DAV_2201_CAPACITIES_H
#define ASCENDFA_ARCH_DAV_2201_CAPACITIES_H

#include <cstdint>

namespace ascendfa {

constexpr uint32_t kL0aBytes = 64 * 1024;
constexpr uint32_t kL0bBytes = 64 * 1024;
constexpr uint32_t kL0cBytes = 128 * 1024;

// A fractal is 16 rows of 32 bytes.
constexpr uint32_t kFractalRows = 16;
constexpr uint32_t kFractalBytes = 512;
constexpr uint32_t kBlockBytes = 32;    // smallest unit of local memory
constexpr uint32_t kRepeatBytes = 256;  // what a vector instruction takes per repeat
constexpr uint32_t kRepeatFloats = kRepeatBytes / sizeof(float);
constexpr uint32_t kBlockFloats = kBlockBytes / sizeof(float);

// Rows and columns of a product, and bytes of the axis it sums over: such operands fill half of L0A
// and L0B, and the fp32 product half of L0C, so everything below L1 is double buffered.
constexpr uint32_t kCubeEdge = 128;
constexpr uint32_t kCubeDepthBytes = 256;

constexpr uint32_t kL0Slots = 2;
// Rows of one product: two of scores and two of outputs share L0C.
constexpr uint32_t kProductRows = 64;
// Bands of a task: so many query rows each, as a product has.
constexpr uint32_t kBandRows = kCubeEdge;
constexpr uint32_t kMaxBands = 2;
// Query blocks in L1. Keys, and pairs of values and weights, take kv_slots each, three at most;
// with bands, keys, values and weights two each: eight slots in all, the number of event ids
// between two pipes.
constexpr uint32_t kQuerySlots = 2;
constexpr uint32_t kWeightSlots = 2;

constexpr uint32_t kVectorCores = 2;  // per cube core
// What the referenced loop takes of a vector core's unified buffer: all that a kernel may use.
constexpr uint32_t kReferencedUbBytes = 196352;
// Query rows a vector core holds statistics for: one repeat of fp32.
constexpr uint32_t kVectorRows = kRepeatFloats;

// Referenced scores. The most keys of a task that its rows' references are the maximum over.
constexpr uint32_t kMaxSampleKeys = kCubeEdge;
// Bands whose samples, references, or outputs are under way at once.
constexpr uint32_t kReferenceSlots = 4;
constexpr uint32_t kOutputSlots = 8;
// Tasks between two verdicts.
constexpr uint32_t kMaxRounds = 30;
// On the bands of the first two tasks, while the others are under way.
constexpr uint32_t kEarlyVerdicts = 2 * kMaxBands;
// Those have a block by themselves, which is copied while later ones are written.
constexpr uint32_t kVerdictFloats = kMaxRounds * kMaxBands + kBlockFloats - kEarlyVerdicts;

}  // namespace ascendfa

#endif  // ASCENDFA_ARCH_DAV_2201_CAPACITIES_H
