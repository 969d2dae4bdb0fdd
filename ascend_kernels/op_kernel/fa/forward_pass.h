// The forward pass of a core group: which loops work on its tasks. The cube core and its vector
// cores take the same decisions.
#ifndef ASCENDFA_FA_FORWARD_PASS_H
#define ASCENDFA_FA_FORWARD_PASS_H

#include "forward_loop_cube.h"
#include "forward_loop_cube_banded.h"
#include "forward_loop_vector.h"
#include "kernel_operator.h"
#include "referenced_loop_cube.h"
#include "referenced_loop_vector.h"
#include "referenced_rounds.h"

namespace ascendfa {

template <typename Loop>
__aicore__ inline void RunCube(const FlashAttentionTiling& plan, GM_ADDR q, GM_ADDR k, GM_ADDR v,
                               GM_ADDR workspace, Rounds& rounds) {
  AscendC::TPipe pipe;
  Loop loop(pipe, plan);
  loop.Init(q, k, v, workspace, static_cast<uint32_t>(AscendC::GetBlockIdx()));
  loop.Run(rounds);
}

template <typename Element>
__aicore__ inline void RunVector(const FlashAttentionTiling& plan, const ScoreInputs& inputs,
                                 GM_ADDR out, GM_ADDR lse, GM_ADDR workspace,
                                 const Rounds& rounds = Rounds()) {
  AscendC::TPipe pipe;
  const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
  ForwardLoopVector<Element> loop(pipe, plan);
  loop.Init(inputs, out, lse, workspace, core / kVectorCores, core % kVectorCores);
  loop.Run(rounds);
}

template <typename Element>
__aicore__ inline void RunVectorReferenced(const FlashAttentionTiling& plan, GM_ADDR out,
                                           GM_ADDR lse, GM_ADDR workspace, Rounds& rounds) {
  AscendC::TPipe pipe;
  const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
  ReferencedLoopVector<Element> loop(pipe, plan);
  loop.Init(out, lse, workspace, core / kVectorCores, core % kVectorCores);
  loop.Run(rounds);
}

template <typename Element>
__aicore__ inline void ForwardCube(const FlashAttentionTiling& plan, GM_ADDR q, GM_ADDR k,
                                   GM_ADDR v, GM_ADDR workspace) {
  Rounds all;
  if constexpr (sizeof(Element) == sizeof(half)) {
    if (plan.referenced.enabled != 0) {
      const uint32_t group = static_cast<uint32_t>(AscendC::GetBlockIdx());
      ReferencedRounds<Element> rounds(plan, workspace, group);
      while (rounds.Next()) {
        if (rounds.Referenced()) {
          RunCube<ReferencedLoopCube<Element> >(plan, q, k, v, workspace, rounds.Current());
        } else {
          RunCube<ForwardLoopCubeBanded<Element> >(plan, q, k, v, workspace, rounds.Current());
        }
      }
      return;
    }
    if (plan.piece_keys != 0) {
      RunCube<ForwardLoopCubeBanded<Element> >(plan, q, k, v, workspace, all);
      return;
    }
  }
  RunCube<ForwardLoopCube<Element> >(plan, q, k, v, workspace, all);
}

template <typename Element>
__aicore__ inline void ForwardVector(const FlashAttentionTiling& plan, const ScoreInputs& inputs,
                                     GM_ADDR out, GM_ADDR lse, GM_ADDR workspace) {
  if constexpr (sizeof(Element) == sizeof(half)) {
    if (plan.referenced.enabled != 0) {
      const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
      ReferencedRounds<Element> rounds(plan, workspace, core / kVectorCores);
      while (rounds.Next()) {
        if (rounds.Referenced()) {
          RunVectorReferenced<Element>(plan, out, lse, workspace, rounds.Current());
        } else {
          RunVector<Element>(plan, inputs, out, lse, workspace, rounds.Current());
        }
      }
      return;
    }
  }
  RunVector<Element>(plan, inputs, out, lse, workspace);
}

}  // namespace ascendfa

#endif  // ASCENDFA_FA_FORWARD_PASS_H
