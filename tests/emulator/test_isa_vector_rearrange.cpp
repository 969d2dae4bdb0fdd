// Gathers, transpositions, sorting.
#include "vector_rig.h"

namespace {

TEST(VectorGather, ByElementAndByBlock) {
  on_aiv([] {
    auto src = put<float>(0, iota<float>(64));
    auto offsets = put<uint32_t>(512, {4 * 63, 0, 4 * 5});
    auto dst = put<float>(1024, constant<float>(8, -1));
    Gather(dst, src, offsets, 0u, 3u);
    EXPECT_EQ(take(dst, 4), (std::vector<float>{63, 0, 5, -1}));
    Gather(dst, src, offsets, 0u, uint64_t{2}, 1, 8);
    auto words = put<uint32_t>(2048, iota<uint32_t>(64));
    auto blocks = put<uint32_t>(2560, {224, 192, 160, 128, 96, 64, 32, 0});
    auto reversed = ub<uint32_t>(3072, 64);
    Gatherb(reversed, words, blocks, 1, {1, 8});
    const auto out = take(reversed, 64);
    EXPECT_EQ(out[0], 56u);
    EXPECT_EQ(out[63], 7u);
  });
}

TEST(VectorGather, MaskKeepsChosenElements) {
  on_aiv([] {
    auto src = put<float>(0, iota<float>(128));
    auto dst = ub<float>(1024, 128);
    uint64_t kept = 0;
    GatherMask(dst, src, 2, false, 0, {1, 2, 8, 0}, kept);
    EXPECT_EQ(kept, 64u);
    EXPECT_EQ(take(dst, 64), iota<float>(64, 1, 2));
    // Counter mode: 50 elements a repeat, twice, odd ones.
    GatherMask(dst, src, 2, true, 50, {1, 2, 8, 0}, kept);
    EXPECT_EQ(kept, 50u);
    auto out = take(dst, 50);
    EXPECT_EQ(out[24], 49);
    EXPECT_EQ(out[25], 65);
    auto pattern = put<uint32_t>(2048, {0x99999999, 0x80000001});
    GatherMask(dst, src, pattern, false, 0, {1, 1, 8, 0}, kept);
    EXPECT_EQ(kept, 18u);
    out = take(dst, 18);
    EXPECT_EQ(out[1], 3);
    EXPECT_EQ(out[16], 32);
    EXPECT_EQ(out[17], 63);
  });
}

TEST(VectorTranspose, SixteenBySixteen) {
  on_aiv([] {
    auto src = put<half>(0, iota<half>(256));
    auto dst = ub<half>(1024, 256);
    Transpose(dst, src);
    const auto out = floats(take(dst, 256));
    EXPECT_EQ(out[1], 16);
    EXPECT_EQ(out[16], 1);
    EXPECT_EQ(out[255], 255);
    EXPECT_EQ(out[3 * 16 + 7], 7 * 16 + 3);
  });
}

TEST(VectorTranspose, SixteenBlocksOfFloats) {
  on_aiv([] {
    auto src = put<float>(0, iota<float>(128));  // 16 by 8
    auto dst = ub<float>(1024, 128);             // 8 by 16
    uint64_t from[16], to[16];
    for (uint32_t i = 0; i < 16; ++i) {
      from[i] = src[i * 8].GetPhyAddr();
      to[i] = dst[i * 8].GetPhyAddr();
    }
    TransDataTo5HD<float>(to, from, {false, false, 1, 0, 0});
    const auto out = take(dst, 128);
    for (uint32_t row = 0; row < 16; ++row)
      for (uint32_t col = 0; col < 8; ++col)
        ASSERT_EQ(out[col * 16 + row], static_cast<float>(row * 8 + col));
    // Bytes: the high half of each source block into the low halves.
    auto bytes = put<uint8_t>(2048, iota<uint8_t>(256));
    auto more = put<uint8_t>(2304, iota<uint8_t>(256));
    auto result = put<uint8_t>(4096, constant<uint8_t>(512, 7));
    for (uint32_t i = 0; i < 16; ++i) {
      from[i] = bytes[i * 32].GetPhyAddr();
      to[i] = result[i * 32].GetPhyAddr();
    }
    TransDataTo5HD<uint8_t>(to, from, {false, true, 1, 0, 0});
    const auto half_blocks = take(result, 512);
    EXPECT_EQ(half_blocks[0], 16);
    EXPECT_EQ(half_blocks[1], 48);
    EXPECT_EQ(half_blocks[32], 17);
    EXPECT_EQ(half_blocks[16], 7);
    static_cast<void>(more);
  });
}

TEST(VectorSort, SortsAndMerges) {
  on_aiv([] {
    std::vector<float> scores(64);
    for (uint32_t i = 0; i < 64; ++i) scores[i] = static_cast<float>(i * 37 % 64);
    auto score = put<float>(0, scores);
    auto index = put<uint32_t>(512, iota<uint32_t>(64));
    auto sorted = ub<float>(1024, 128);
    Sort32(sorted, score, index, 2);
    PipeBarrier<PIPE_V>();
    auto merged = ub<float>(2048, 128);
    MrgSort4Info info;
    info.elementLengths[0] = info.elementLengths[1] = 32;
    info.validBit = 3;
    MrgSort(merged, MrgSortSrcList<float>(sorted, sorted[64], sorted, sorted), info);
    const auto values = take(merged, 128);
    const auto indices = take(merged.ReinterpretCast<uint32_t>(), 128);
    for (uint32_t i = 0; i < 64; ++i) {
      ASSERT_EQ(values[2 * i], static_cast<float>(63 - i));
      ASSERT_EQ(scores[indices[2 * i + 1]], values[2 * i]);
    }
    uint16_t a = 0, b = 0, c = 9, d = 9;
    GetMrgSortResult(a, b, c, d);
    EXPECT_EQ(a + b, 64);
    EXPECT_EQ(c, 0);
  });
}

}  // namespace
