// Trace of a plain fp16 matrix product, double-buffered in L1 and L0, 128x256 output tiles dealt
// out to the cores in column stripes.
#pragma once

#include <algorithm>
#include <vector>

#include "timeline_traces.h"

namespace dav::timeline::testing {

struct Gemm {
  uint32_t m, n, k;
  static constexpr uint32_t kTileM = 128, kTileN = 256, kL1K = 256, kL0K = 64;
  // Rows of output tiles whose A stays in the L2 while a stripe of B passes.
  static constexpr uint32_t kStripe = 8;

  uint64_t a() const { return 0; }
  uint64_t b() const { return uint64_t(m) * k * 2; }
  uint64_t c() const { return b() + uint64_t(k) * n * 2; }

  void load(CoreTrace& t, uint32_t row, uint32_t col, uint32_t k0, uint8_t slot, bool wait) const {
    if (wait) t.records.push_back(wait_flag(Pipe::MTE1, Pipe::MTE2, slot));
    t.records.push_back(move(Pipe::MTE2, Path::GmToL1, kTileM * kL1K * 2,
                             a() + (uint64_t(row) * kTileM * k + k0) * 2, kTileM, k * 2));
    t.records.push_back(move(Pipe::MTE2, Path::GmToL1, kL1K * kTileN * 2,
                             b() + (uint64_t(k0) * n + col * kTileN) * 2, kL1K, n * 2));
    t.records.push_back(set_flag(Pipe::MTE2, Pipe::MTE1, slot));
  }

  void multiply(CoreTrace& t, uint8_t slot, uint64_t& step, bool first, bool last_of_all) const {
    t.records.push_back(wait_flag(Pipe::MTE2, Pipe::MTE1, slot));
    for (uint32_t i = 0; i < kL1K / kL0K; ++i, ++step) {
      const auto l0 = static_cast<uint8_t>(step % 2);
      if (step >= 2) t.records.push_back(wait_flag(Pipe::M, Pipe::MTE1, l0));
      t.records.push_back(move(Pipe::MTE1, Path::L1ToL0a, kTileM * kL0K * 2));
      t.records.push_back(move(Pipe::MTE1, Path::L1ToL0b, kTileN * kL0K * 2));
      t.records.push_back(set_flag(Pipe::MTE1, Pipe::M, l0));
      t.records.push_back(wait_flag(Pipe::MTE1, Pipe::M, l0));
      if (first && i == 0) t.records.push_back(wait_flag(Pipe::FIX, Pipe::M));
      t.records.push_back(mmad(kTileM, kTileN, kL0K));
      t.records.push_back(set_flag(Pipe::M, Pipe::MTE1, l0));
    }
    if (!last_of_all) t.records.push_back(set_flag(Pipe::MTE1, Pipe::MTE2, slot));
  }

  std::vector<CoreTrace> traces(uint32_t cores) const {
    const uint32_t rows = m / kTileM, cols = n / kTileN, blocks = k / kL1K;
    std::vector<CoreTrace> all;
    for (uint32_t core_number = 0; core_number < cores; ++core_number) {
      CoreTrace t = core(CoreKind::AIC, core_number);
      t.records.push_back(set_flag(Pipe::FIX, Pipe::M));
      std::vector<std::pair<uint32_t, uint32_t>> tiles;
      uint32_t number = 0;
      for (uint32_t stripe = 0; stripe < rows; stripe += kStripe) {
        for (uint32_t col = 0; col < cols; ++col) {
          for (uint32_t row = stripe; row < std::min(rows, stripe + kStripe); ++row) {
            if (number++ % cores == core_number) tiles.emplace_back(row, col);
          }
        }
      }
      const uint64_t total = tiles.size() * uint64_t(blocks);
      uint64_t step = 0;
      auto load_block = [&](uint64_t i) {
        const auto [row, col] = tiles[i / blocks];
        load(t, row, col, uint32_t(i % blocks) * kL1K, static_cast<uint8_t>(i % 2), i >= 2);
      };
      if (total > 0) load_block(0);
      for (uint64_t i = 0; i < total; ++i) {
        if (i + 1 < total) load_block(i + 1);
        const bool first = i % blocks == 0, last = (i + 1) % blocks == 0;
        multiply(t, static_cast<uint8_t>(i % 2), step, first, i + 2 >= total);
        if (!last) continue;
        const auto [row, col] = tiles[i / blocks];
        t.records.push_back(set_flag(Pipe::M, Pipe::FIX));
        t.records.push_back(wait_flag(Pipe::M, Pipe::FIX));
        t.records.push_back(move(Pipe::FIX, Path::L0cToGm, kTileM * kTileN * 2,
                                 c() + (uint64_t(row) * kTileM * n + col * kTileN) * 2, kTileM,
                                 n * 2));
        t.records.push_back(set_flag(Pipe::FIX, Pipe::M));
      }
      all.push_back(std::move(t));
    }
    return all;
  }
};

}  // namespace dav::timeline::testing
