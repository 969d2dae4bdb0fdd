// Architecture 2201: cube and vector cores share nothing but global memory. Three kinds of tile
// cross it, each through a small ring of workspace slots: scores (cube to vector), weights (vector
// to cube) and partial outputs (cube to vector). One flag per kind says "the next one is there".
// No flag says "the slot is free again": DESIGN.md shows why the order of the others implies it.
#ifndef ASCENDFA_ARCH_DAV_2201_CUBE_VECTOR_BRIDGE_H
#define ASCENDFA_ARCH_DAV_2201_CUBE_VECTOR_BRIDGE_H

#include "../../fa/seqlen.h"
#include "../../flash_attention_tiling.h"
#include "capacities.h"
#include "kernel_operator.h"

namespace ascendfa {

// Scores and weights lie in panels of 128
// columns, one behind the other, so that every transfer of a panel is one run.
template <typename Element>
class CubeVectorBridge {
 public:
  __aicore__ inline void Init(const FlashAttentionTiling& tiling, GM_ADDR workspace,
                              uint32_t group) {
    base_ = workspace + tiling.group_bytes * group;
    weights_ = base_ + tiling.weight_offset;
    partials_ = base_ + tiling.partial_offset;
    score_slot_bytes_ = tiling.score_slot_bytes;
    weight_slot_bytes_ = tiling.weight_slot_bytes;
    partial_slot_bytes_ = tiling.partial_slot_bytes;
    panel_elements_ = Smaller(tiling.block_m, kCubeEdge) * kCubeEdge;
  }

  // Where a column of scores, or of weights, begins in its tile. Rows are kCubeEdge elements apart.
  __aicore__ inline uint32_t PanelOffset(uint32_t column) const {
    return column / kCubeEdge * panel_elements_ + column % kCubeEdge;
  }

  __aicore__ inline AscendC::GlobalTensor<float> Scores(uint32_t slot) const {
    return Tile<float>(base_ + score_slot_bytes_ * slot, score_slot_bytes_);
  }
  __aicore__ inline AscendC::GlobalTensor<Element> Weights(uint32_t slot) const {
    return Tile<Element>(weights_ + weight_slot_bytes_ * slot, weight_slot_bytes_);
  }
  // [rows, value_dim_padded] fp32.
  __aicore__ inline AscendC::GlobalTensor<float> Partials(uint32_t slot) const {
    return Tile<float>(partials_ + partial_slot_bytes_ * slot, partial_slot_bytes_);
  }

  // Cube: after the last Fixpipe of a tile.
  __aicore__ inline void ScoresReady() {
    AscendC::CrossCoreSetFlag<kPairMode, PIPE_FIX>(kScoresFlag);
  }
  __aicore__ inline void PartialsReady() {
    AscendC::CrossCoreSetFlag<kPairMode, PIPE_FIX>(kPartialsFlag);
  }
  // Vector: after the last MTE3 copy of a tile.
  __aicore__ inline void WeightsReady() {
    AscendC::CrossCoreSetFlag<kPairMode, PIPE_MTE3>(kWeightsFlag);
  }

  // Each before the MTE2 copies that read the tile.
  __aicore__ inline void AwaitScores() {
    AscendC::CrossCoreWaitFlag<kPairMode, PIPE_MTE2>(kScoresFlag);
  }
  __aicore__ inline void AwaitPartials() {
    AscendC::CrossCoreWaitFlag<kPairMode, PIPE_MTE2>(kPartialsFlag);
  }
  __aicore__ inline void AwaitWeights() {
    AscendC::CrossCoreWaitFlag<kPairMode, PIPE_MTE2>(kWeightsFlag);
  }

 private:
  // Between a cube core and both of its vector cores.
  static constexpr uint8_t kPairMode = 2;
  static constexpr uint16_t kScoresFlag = 0;
  static constexpr uint16_t kWeightsFlag = 1;
  static constexpr uint16_t kPartialsFlag = 2;

  template <typename T>
  __aicore__ inline static AscendC::GlobalTensor<T> Tile(GM_ADDR address, uint64_t bytes) {
    AscendC::GlobalTensor<T> tile;
    tile.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(address), bytes / sizeof(T));
    return tile;
  }

  GM_ADDR base_ = nullptr;
  GM_ADDR weights_ = nullptr;
  GM_ADDR partials_ = nullptr;
  uint64_t score_slot_bytes_ = 0;
  uint64_t weight_slot_bytes_ = 0;
  uint64_t partial_slot_bytes_ = 0;
  uint32_t panel_elements_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_ARCH_DAV_2201_CUBE_VECTOR_BRIDGE_H
