// Tile ranges against the definition of the mask, key by key.
#include <gtest/gtest.h>

#include "fa/block_range.h"

namespace ascendfa {
namespace {

// Bottom-right causal visibility as the API documents it.
bool Visible(int64_t row, int64_t key, int64_t queries, int64_t keys, bool causal) {
  return key < keys && (!causal || key <= row + keys - queries);
}

struct Case {
  uint32_t queries;
  uint32_t keys;
};

class BlockRangeTest : public ::testing::TestWithParam<Case> {};

TEST_P(BlockRangeTest, VisitsExactlyTheTilesWithAVisibleKey) {
  const auto [queries, keys] = GetParam();
  constexpr uint32_t kBlockM = 16;
  constexpr uint32_t kBlockN = 8;
  for (const bool causal : {false, true}) {
    const SeqLen seqlen{queries, keys, causal};
    for (uint32_t row = 0; row < queries; row += kBlockM) {
      const uint32_t rows = Smaller(kBlockM, queries - row);
      const BlockRange range(seqlen, row, rows, kBlockN);
      for (uint32_t tile = 0; tile * kBlockN < keys; ++tile) {
        uint32_t seen = 0;  // columns up to the last that some row sees
        bool all = true;
        for (uint32_t i = 0; i < rows; ++i) {
          for (uint32_t c = 0; c < kBlockN; ++c) {
            if (Visible(row + i, tile * kBlockN + c, queries, keys, causal)) {
              seen = c + 1 > seen ? c + 1 : seen;
            }
          }
        }
        for (uint32_t i = 0; i < rows; ++i) {
          for (uint32_t c = 0; c < seen; ++c) {
            all = all && Visible(row + i, tile * kBlockN + c, queries, keys, causal);
          }
        }
        ASSERT_EQ(tile < range.Tiles(), seen != 0) << "row " << row << " tile " << tile;
        if (seen != 0) {
          ASSERT_EQ(range.KeysIn(tile), seen) << "row " << row << " tile " << tile;
          ASSERT_EQ(range.IsBoundary(tile), !all) << "row " << row << " tile " << tile;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, BlockRangeTest,
                         ::testing::Values(Case{1, 1}, Case{1, 37}, Case{37, 1}, Case{32, 32},
                                           Case{33, 31}, Case{31, 33}, Case{100, 7}, Case{7, 100},
                                           Case{50, 16}, Case{64, 40}));

TEST(SeqLenTest, LengthsBeyond31BitsDoNotWrap) {
  const SeqLen seqlen{1u << 31, 1u << 31, true};
  EXPECT_EQ(seqlen.LastKey((1u << 31) - 1), (1ll << 31) - 1);
  EXPECT_EQ((SeqLen{1u << 31, 1, true}.LastKey(0)), 1 - (1ll << 31));
}

}  // namespace
}  // namespace ascendfa
