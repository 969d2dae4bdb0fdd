// Tile ranges against the definition of the masks, key by key.
#include <gtest/gtest.h>

#include <vector>

#include "fa/block_range.h"

namespace ascendfa {
namespace {

// Visibility as the API documents it; a causal mask is a right limit of 0.
bool Visible(int64_t row, int64_t key, const SeqLen& seqlen) {
  const int64_t own = row + seqlen.keys - seqlen.queries;
  return key < seqlen.keys && (seqlen.left < 0 || key >= own - seqlen.left) &&
         (seqlen.right < 0 || key <= own + seqlen.right);
}

struct Case {
  uint32_t queries;
  uint32_t keys;
};

class BlockRangeTest : public ::testing::TestWithParam<Case> {};

void ExpectTilesOfBlock(const SeqLen& seqlen, uint32_t row, uint32_t rows, uint32_t block_n) {
  const BlockRange range(seqlen, row, rows, block_n);
  std::vector<uint32_t> seen(seqlen.keys, 0);  // rows of the block that see a key
  for (uint32_t i = 0; i < rows; ++i) {
    for (uint32_t key = 0; key < seqlen.keys; ++key) {
      seen[key] += Visible(row + i, key, seqlen) ? 1 : 0;
    }
  }
  std::vector<uint32_t> visited(seqlen.keys, 0);
  for (uint32_t tile = 0; tile < range.Tiles(); ++tile) {
    const uint32_t first = range.KeyOf(tile);
    const uint32_t last = first + range.KeysIn(tile) - 1;
    ASSERT_LT(last, seqlen.keys);
    for (uint32_t key = first; key <= last; ++key) {
      ++visited[key];
    }
    // Rows see runs of keys that move with the row: the ends of a tile tell all.
    bool ends_early = false;
    bool starts_late = false;
    for (uint32_t i = 0; i < rows; ++i) {
      ends_early = ends_early || seqlen.LastKey(row + i) < last;
      starts_late = starts_late || seqlen.FirstKey(row + i) > first;
    }
    ASSERT_EQ(range.EndsEarly(tile), ends_early) << "row " << row << " tile " << tile;
    ASSERT_EQ(range.StartsLate(tile), starts_late) << "row " << row << " tile " << tile;
  }
  for (uint32_t key = 0; key < seqlen.keys; ++key) {
    ASSERT_EQ(visited[key], seen[key] != 0 ? 1u : 0u) << "row " << row << " key " << key;
  }
}

TEST_P(BlockRangeTest, VisitsExactlyTheKeysThatSomeRowSees) {
  const auto [queries, keys] = GetParam();
  constexpr uint32_t kBlockM = 16;
  constexpr uint32_t kBlockN = 8;
  for (const int64_t left : {-1, 0, 3, 20}) {
    for (const int64_t right : {-1, 0, 1, 9}) {
      const SeqLen seqlen{queries, keys, left, right};
      for (uint32_t row = 0; row < queries; row += kBlockM) {
        ExpectTilesOfBlock(seqlen, row, Smaller(kBlockM, queries - row), kBlockN);
      }
    }
  }
}

TEST_P(BlockRangeTest, FirstAndLastKeyOfEveryRow) {
  const auto [queries, keys] = GetParam();
  for (const int64_t left : {-1, 0, 5}) {
    for (const int64_t right : {-1, 0, 5}) {
      const SeqLen seqlen{queries, keys, left, right};
      for (uint32_t row = 0; row < queries; ++row) {
        for (int64_t key = 0; key < keys; ++key) {
          ASSERT_EQ(Visible(row, key, seqlen),
                    key >= seqlen.FirstKey(row) && key <= seqlen.LastKey(row));
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
  const SeqLen seqlen{1u << 31, 1u << 31, -1, 0};
  EXPECT_EQ(seqlen.LastKey((1u << 31) - 1), (1ll << 31) - 1);
  EXPECT_EQ((SeqLen{1u << 31, 1, -1, 0}.LastKey(0)), 1 - (1ll << 31));
  EXPECT_EQ((SeqLen{1u << 31, 1u << 31, 7, 0}.FirstKey((1u << 31) - 1)), (1ll << 31) - 8);
}

TEST(BlockRangeTest, AWindowAtTheEndOfALongSequenceIsAFewTiles) {
  constexpr uint32_t kLength = (1u << 31) - 1;
  const SeqLen seqlen{kLength, kLength, 1000, 0};
  const BlockRange range(seqlen, kLength - 100, 100, 512);
  EXPECT_EQ(range.KeyOf(0), kLength - 100 - 1000);
  EXPECT_EQ(range.Tiles(), 3u);
}

}  // namespace
}  // namespace ascendfa
