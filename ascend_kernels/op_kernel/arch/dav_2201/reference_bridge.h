// Architecture 2201: what the cube core and its vector cores hand each other in global memory when
// scores travel as fp16, relative to a reference per row: samples of scores, references, scores,
// weights, and at the end of a task its outputs. Products are transposed, a row is a key; each
// vector core has 64 of a band's queries, and tiles of its own. As for CubeVectorBridge no flag
// says "free again"; DESIGN.md shows why.
#ifndef ASCENDFA_ARCH_DAV_2201_REFERENCE_BRIDGE_H
#define ASCENDFA_ARCH_DAV_2201_REFERENCE_BRIDGE_H

#include "../../fa/seqlen.h"
#include "../../flash_attention_tiling.h"
#include "capacities.h"
#include "kernel_operator.h"

namespace ascendfa {

template <typename Element>
class ReferenceBridge {
 public:
  __aicore__ inline void Init(const FlashAttentionTiling& tiling, GM_ADDR workspace,
                              uint32_t group) {
    base_ = workspace + tiling.group_bytes * group;
    plan_ = tiling.referenced;
    half_elements_ = AlignUp(tiling.block_n, kCubeEdge) * kVectorRows;
    output_elements_ = kBandRows * tiling.value_dim_padded;
  }

  // One vector core's scores and weights of a step, [block_n][64].
  __aicore__ inline AscendC::GlobalTensor<half> Scores(uint32_t slot, uint32_t member) const {
    return Tensor<half>(plan_.slot_bytes * slot)[member * half_elements_];
  }
  __aicore__ inline AscendC::GlobalTensor<Element> Weights(uint32_t slot, uint32_t member) const {
    return Tensor<Element>(plan_.weight_offset + plan_.slot_bytes * slot)[member * half_elements_];
  }
  // Of a band: its sample, [keys][64], and the negative references, [64].
  __aicore__ inline AscendC::GlobalTensor<half> Sample(uint32_t serial, uint32_t member) const {
    const uint32_t part = serial % kReferenceSlots * kVectorCores + member;
    return Tensor<half>(plan_.sample_offset)[part * kMaxSampleKeys * kVectorRows];
  }
  __aicore__ inline AscendC::GlobalTensor<float> References(uint32_t serial,
                                                            uint32_t member) const {
    const uint32_t part = serial % kReferenceSlots * kVectorCores + member;
    return Tensor<float>(plan_.reference_offset)[part * kVectorRows];
  }
  // [128, value_dim_padded].
  __aicore__ inline AscendC::GlobalTensor<float> Outputs(uint32_t serial) const {
    return Tensor<float>(plan_.output_offset)[serial % kOutputSlots * output_elements_];
  }
  // On each band of a batch of tasks; on the first tasks' bands another time.
  __aicore__ inline AscendC::GlobalTensor<float> Verdicts(uint32_t member) const {
    return Tensor<float>(plan_.verdict_offset)[member * kVerdictFloats];
  }
  __aicore__ inline AscendC::GlobalTensor<float> EarlyVerdicts(uint32_t member) const {
    return Verdicts(kVectorCores)[member * kBlockFloats];
  }

  __aicore__ inline static uint32_t VerdictPlace(uint32_t band) {
    return band < kEarlyVerdicts ? band : band + kBlockFloats - kEarlyVerdicts;
  }

  // Cube: after the last Fixpipe of a tile of scores, samples included, and of a band's outputs.
  __aicore__ inline void ScoresReady() {
    AscendC::CrossCoreSetFlag<kPairMode, PIPE_FIX>(kScoresFlag);
  }
  __aicore__ inline void OutputsReady() {
    AscendC::CrossCoreSetFlag<kPairMode, PIPE_FIX>(kOutputsFlag);
  }
  // Vector: after the last MTE3 copy.
  __aicore__ inline void WeightsReady() {
    AscendC::CrossCoreSetFlag<kPairMode, PIPE_MTE3>(kWeightsFlag);
  }
  __aicore__ inline void ReferencesReady() {
    AscendC::CrossCoreSetFlag<kPairMode, PIPE_MTE3>(kReferencesFlag);
  }

  // Each before the MTE2 copies that read the tile.
  __aicore__ inline void AwaitScores() {
    AscendC::CrossCoreWaitFlag<kPairMode, PIPE_MTE2>(kScoresFlag);
  }
  __aicore__ inline void AwaitOutputs() {
    AscendC::CrossCoreWaitFlag<kPairMode, PIPE_MTE2>(kOutputsFlag);
  }
  __aicore__ inline void AwaitWeights() {
    AscendC::CrossCoreWaitFlag<kPairMode, PIPE_MTE2>(kWeightsFlag);
  }
  __aicore__ inline void AwaitReferences() {
    AscendC::CrossCoreWaitFlag<kPairMode, PIPE_MTE2>(kReferencesFlag);
  }

  // Verdicts are read by the scalar units of all three cores. Vector cores publish theirs after the
  // MTE3 copy, to the cube core and to each other.
  __aicore__ inline void VerdictsReady() {
    AscendC::CrossCoreSetFlag<kPairMode, PIPE_MTE3>(kVerdictsFlag);
    AscendC::CrossCoreSetFlag<kVectorMode, PIPE_MTE3>(kPeersFlag);
  }
  __aicore__ inline void AwaitVerdicts() {
    if ASCEND_IS_AIC {
      AscendC::CrossCoreWaitFlag(kVerdictsFlag);
    } else {
      AscendC::CrossCoreWaitFlag(kPeersFlag);
    }
  }

  // Whether the verdicts on bands [begin, end) are within the tolerance. What is rounded to it may
  // have been beyond.
  __aicore__ inline bool Hold(bool early, uint32_t begin, uint32_t end) const {
    bool holds = true;
    for (uint32_t member = 0; member < kVectorCores; ++member) {
      const AscendC::GlobalTensor<float> verdicts =
          early ? EarlyVerdicts(member) : Verdicts(member);
      for (uint32_t band = begin; band < end; ++band) {
        // A distance that is no number is not within it.
        holds = holds && verdicts.GetValue(VerdictPlace(band)) < plan_.tolerance;
      }
    }
    return holds;
  }
  // Before verdicts are read.
  __aicore__ inline void RefreshVerdicts() const {
    AscendC::DataCacheCleanAndInvalid<float, AscendC::CacheLine::ENTIRE_DATA_CACHE,
                                      AscendC::DcciDst::CACHELINE_OUT>(Verdicts(0));
  }

 private:
  static constexpr uint8_t kVectorMode = 1;  // among the vector cores of a cube core
  static constexpr uint8_t kPairMode = 2;    // between a cube core and both of its vector cores
  static constexpr uint16_t kScoresFlag = 0;
  static constexpr uint16_t kWeightsFlag = 1;
  static constexpr uint16_t kOutputsFlag = 2;
  static constexpr uint16_t kReferencesFlag = 3;
  static constexpr uint16_t kVerdictsFlag = 4;
  static constexpr uint16_t kPeersFlag = 5;

  template <typename T>
  __aicore__ inline AscendC::GlobalTensor<T> Tensor(uint64_t offset) const {
    AscendC::GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(base_ + offset));
    return tensor;
  }

  GM_ADDR base_ = nullptr;
  FlashAttentionReferenced plan_{};
  uint32_t half_elements_ = 0;
  uint32_t output_elements_ = 0;
};

}  // namespace ascendfa

#endif  // ASCENDFA_ARCH_DAV_2201_REFERENCE_BRIDGE_H
