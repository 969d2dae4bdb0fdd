// Keys beyond a query's last, in a slice of transposed scores: they become -32752 or less, whatever
// they were. Where key j is row j and query i lane i, what separates seen from unseen is a value of
// j - i.
#ifndef ASCENDFA_FA_LANE_MASK_H
#define ASCENDFA_FA_LANE_MASK_H

#include "forward_loop.h"
#include "lane_ops.h"
#include "ub_arena.h"

namespace ascendfa {

constexpr float kLowestHalf = -65504.0f;

class LaneMask {
 public:
  // The caller owes a vector barrier, or a wait for what a flag of the vector unit lets go.
  __aicore__ inline void Init(UbArena& arena) {
    distance_ = arena.Take<half>(kRows * kLanes);
    highest_ = arena.Take<half>(kRows * kLanes);
    AscendC::CreateVecIndex(distance_, static_cast<half>(0.0f), kLanes);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Muls(distance_, distance_, static_cast<half>(-1.0f), static_cast<int32_t>(kLanes));
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t row = 1; row < kRows; ++row) {
      AscendC::Adds(distance_[row * kLanes], distance_, static_cast<half>(static_cast<float>(row)),
                    static_cast<int32_t>(kLanes));
    }
  }

  // Room for kRows rows, between two Applies.
  __aicore__ inline const HalfTensor& Scratch() const { return highest_; }
  static constexpr uint32_t kRows = 32;

  // Whether some query does not see some key of the slice: `row` is the first lane's query, `key`
  // the first row's key.
  __aicore__ inline static bool Needed(const SeqLen& seqlen, uint32_t row, uint32_t key,
                                       uint32_t keys) {
    return seqlen.right >= 0 && Limit(seqlen, row, key) < static_cast<int64_t>(keys) - 1;
  }

  // Ends with a vector barrier.
  __aicore__ inline void Apply(const HalfTensor& scores, const SeqLen& seqlen, uint32_t row,
                               uint32_t key, uint32_t keys) {
    for (uint32_t first = 0; first < keys; first += kRows) {
      const uint32_t rows = Smaller(kRows, keys - first);
      int64_t limit = Limit(seqlen, row, key + first);
      limit = limit < -kFarthest ? -kFarthest : limit;
      limit = limit > kFarthest ? kFarthest : limit;
      // At most -1/2 where a key is seen, at least 1/2 where it is not. Seen scores that 32752 cuts
      // off are beyond every tolerance as they are.
      const int32_t count = static_cast<int32_t>(rows * kLanes);
      const float boundary = static_cast<float>(limit) + 0.5f;
      AscendC::Adds(highest_, distance_, static_cast<half>(-boundary), count);
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Muls(highest_, highest_, static_cast<half>(kLowestHalf), count);
      AscendC::PipeBarrier<PIPE_V>();
      const HalfTensor part = scores[first * kLanes];
      AscendC::Min(part, part, highest_, count);
      AscendC::PipeBarrier<PIPE_V>();
    }
  }

 private:
  static constexpr int64_t kFarthest = 128;  // beyond every distance

  // The greatest j - i that is seen.
  __aicore__ inline static int64_t Limit(const SeqLen& seqlen, uint32_t row, uint32_t key) {
    return seqlen.OwnKey(row) + seqlen.right - key;
  }

  HalfTensor distance_;
  HalfTensor highest_;
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_LANE_MASK_H
