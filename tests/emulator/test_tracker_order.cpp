// Reports do not depend on which core, or which worker, happened to come first.
#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tracker_rig.h"

namespace dav {
namespace {

// One core's program, to be run step by step in some interleaving.
using Program = std::vector<std::function<void(Rig&)>>;

// The reports of every order in which the programs' steps can be merged. A step that waits for a
// ticket not yet issued makes its program pause, as CrossCoreWaitFlag does.
struct Merge {
  std::vector<Program> programs;
  std::vector<std::string> reports;

  void run(std::vector<int>& order, std::vector<size_t> at) {
    bool done = true;
    for (size_t p = 0; p < programs.size(); ++p) {
      if (at[p] == programs[p].size()) continue;
      done = false;
      order.push_back(static_cast<int>(p));
      ++at[p];
      run(order, at);
      --at[p];
      order.pop_back();
    }
    if (!done) return;
    Rig r;
    std::vector<size_t> next(programs.size(), 0);
    for (const int p : order) programs[p][next[p]++](r);
    reports.push_back(r.end());
  }
  std::vector<std::string> all() {
    std::vector<int> order;
    run(order, std::vector<size_t>(programs.size(), 0));
    return reports;
  }
};

void expect_one_report(std::vector<Program> programs, const std::string& part) {
  const std::vector<std::string> reports = Merge{std::move(programs), {}}.all();
  ASSERT_GT(reports.size(), 1u);
  for (const std::string& report : reports) {
    EXPECT_EQ(report, reports.front());
    EXPECT_TRUE(has(report, part));
  }
}

TEST(TrackerOrder, AMissingHandOverIsTheSameReportWhoeverRanFirst) {
  expect_one_report({{[](Rig& r) { produce(r, r.aiv()); }, [](Rig& r) { produce(r, r.aiv()); }},
                     {[](Rig& r) { consume(r, r.aic()); }, [](Rig& r) { consume(r, r.aic()); }}},
                    "read after write (RAW)");
  const auto slot = [](int n) { return kWorkspace + 512 * static_cast<uint64_t>(n); };
  expect_one_report({{[=](Rig& r) { produce(r, r.aiv(), slot(0), 512); },
                      [=](Rig& r) { produce(r, r.aiv(), slot(1), 512); },
                      [=](Rig& r) { produce(r, r.aiv(), slot(2), 512); }},
                     {[=](Rig& r) { consume(r, r.aic(), slot(0), 512); },
                      [=](Rig& r) { consume(r, r.aic(), slot(1), 512); },
                      [=](Rig& r) { consume(r, r.aic(), slot(2), 512); }}},
                    "AIV 0.0 MTE3 DataCopy writes workspace 'workspace' at byte 0 "
                    "(GM 0x300000000), AIC 0 MTE2 DataCopy reads it");
}

TEST(TrackerOrder, AMissingHandBackIsTheSameReportWhoeverRanFirst) {
  // The first value is handed over properly; the second overwrites it without asking.
  const auto handed = [](Rig& r) {
    produce(r, r.aiv());
    const uint64_t a = r.set(r.aiv(0, 0), Pipe::MTE3, 2);
    const uint64_t b = r.set(r.aiv(0, 1), Pipe::MTE3, 2);
    r.wait(r.aic(), 2, {a, b});
  };
  const auto overwrite = [](Rig& r) {
    r.barrier(r.aiv(), Pipe::MTE3);
    produce(r, r.aiv());
  };
  std::vector<std::string> reports;
  for (const bool reader_first : {true, false}) {
    Rig r;
    handed(r);
    if (reader_first) consume(r, r.aic());
    overwrite(r);
    if (!reader_first) consume(r, r.aic());
    reports.push_back(r.end());
  }
  EXPECT_EQ(reports[0], reports[1]);
  EXPECT_TRUE(has(reports[0], "write after read (WAR)"));
  EXPECT_TRUE(has(reports[0], "CrossCoreSetFlag<2, PIPE_MTE2>(id) on AIC 0"));
}

TEST(TrackerOrder, EveryReaderIsKept) {
  // Whichever of the readers ran last, the writer races with the one that did not signal.
  for (const bool signaller_last : {true, false}) {
    Rig r;
    produce(r, r.aic());
    const uint64_t t = r.set(r.aic(), Pipe::MTE3, 2);
    uint64_t back = 0;
    for (const uint32_t sub : {signaller_last ? 1u : 0u, signaller_last ? 0u : 1u}) {
      r.wait(r.aiv(0, sub), 2, {t});
      if (sub == 1) consume(r, r.aiv(0, 1));
      if (sub == 0) {
        consume(r, r.aiv(0, 0));
        back = r.set(r.aiv(0, 0), Pipe::MTE2, 2, 1);
      }
    }
    r.wait(r.aic(), 2, {back});
    r.barrier(r.aic(), Pipe::ALL);
    produce(r, r.aic());
    EXPECT_TRUE(has(r.end(), "CrossCoreSetFlag<2, PIPE_MTE2>(id) on AIV 0.1"));
  }
}

TEST(TrackerOrder, ThreeCoresInAnyOrder) {
  std::vector<Program> programs;
  for (uint32_t b = 0; b < 3; ++b) {
    programs.push_back({[b](Rig& r) { produce(r, r.aiv(b), kOutput + 64 * b, 64); },
                        [b](Rig& r) { produce(r, r.aiv(b), kOutput + 1024 + 32 * b, 64); }});
  }
  expect_one_report(programs, "AIV 0.0 MTE3 DataCopy writes output 'out' at byte 1056");
}

TEST(TrackerThreads, WorkersFindTheSameRace) {
  std::string reports[4];
  for (std::string& report : reports) {
    Rig r({}, Arch::Dav2201, 8);
    std::vector<std::thread> workers;
    for (uint32_t w = 0; w < 4; ++w) {
      workers.emplace_back([&r, w] {
        for (uint32_t b = w * 2; b < w * 2 + 2; ++b) {
          for (uint32_t step = 0; step < 200; ++step) {
            // Blocks share cells at their borders, without sharing bytes but for one place.
            const uint64_t from = kOutput + b * 9001;
            produce(r, r.aiv(b), from, b == 5 ? 9005 : 9001);
            r.barrier(r.aiv(b), Pipe::MTE3);
            consume(r, r.aiv(b), kInput + b * 64, 512);
          }
        }
      });
    }
    for (std::thread& t : workers) t.join();
    report = r.end();
    EXPECT_EQ(report, reports[0]);
  }
  EXPECT_TRUE(has(reports[0], "WAW"));
  EXPECT_TRUE(has(reports[0], "at byte 54006"));
  EXPECT_TRUE(has(reports[0], "AIV 5.0 MTE3 DataCopy writes"));
}

TEST(TrackerThreads, WorkersShareCellsWithoutSharingBytes) {
  Rig r({}, Arch::Dav2201, 4);
  std::vector<std::thread> workers;
  for (uint32_t b = 0; b < 4; ++b) {
    workers.emplace_back([&r, b] {
      for (uint64_t step = 0; step < 20000; ++step) {
        produce(r, r.aiv(b), kOutput + (step * 7 % 600) * 32 + b * 8, 8);
        r.barrier(r.aiv(b), Pipe::MTE3);
      }
    });
  }
  for (std::thread& t : workers) t.join();
  EXPECT_EQ(r.end(), "");
}

// Against a plain model: every access remembered, every pair compared.
TEST(TrackerRandom, AgreesWithComparingAllPairs) {
  int races = 0;
  constexpr int kSeeds = 2000;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    Rig r;
    struct Done {
      uint32_t thread;
      uint32_t clock;
      bool write;
      uint64_t begin, end;
    };
    constexpr uint32_t kThreads = 9 * kPipeCount;
    const Pipe pipes[] = {Pipe::MTE2, Pipe::MTE3};
    std::vector<std::vector<uint32_t>> clock(kThreads, std::vector<uint32_t>(kThreads, 0));
    std::vector<uint32_t> issued(kThreads, 0);
    std::vector<Done> done;
    const auto thread_of = [](const CoreId& c, Pipe p) {
      return c.index * kPipeCount + static_cast<uint32_t>(p);
    };
    const auto merge = [&](uint32_t into, const std::vector<uint32_t>& from) {
      for (uint32_t i = 0; i < kThreads; ++i) clock[into][i] = std::max(clock[into][i], from[i]);
    };
    const auto after = [&](uint32_t t) {
      std::vector<uint32_t> c = clock[t];
      c[t] = issued[t];
      return c;
    };
    bool racy = false;
    const uint32_t steps = 5 + seed % 25;
    for (uint32_t step = 0; step < steps; ++step) {
      const CoreId& c = r.ids[pick(4)];
      const Pipe p = pipes[pick(2)];
      const uint32_t t = thread_of(c, p);
      const uint32_t what = pick(10);
      if (what < 4) {
        const bool write = what < 1;
        const uint64_t begin = pick(300);
        const uint64_t end = begin + 1 + pick(100);
        r.begin(c, p);
        r.also(c, p, "DataCopy", write ? Access::Write : Access::Read, GM, kForeign + begin,
               end - begin);
        ++issued[t];
        for (const Done& d : done) {
          const bool same_pipe_war = d.thread == t && write && !d.write;
          if ((write || d.write) && d.begin < end && begin < d.end && !same_pipe_war &&
              d.clock > clock[t][d.thread]) {
            racy = true;
          }
        }
        done.push_back({t, issued[t], write, begin, end});
      } else if (what < 6) {
        const Pipe q = p == Pipe::MTE2 ? Pipe::MTE3 : Pipe::MTE2;
        r.flag(c, p, q);
        merge(thread_of(c, q), after(t));
      } else if (what < 7) {
        r.barrier(c, p);
        clock[t] = after(t);
      } else {
        const CoreId& to = r.ids[pick(4)];
        const uint64_t ticket = r.set(c, p, 0);
        const std::vector<uint32_t> sent = after(t);
        r.wait(to, 0, {ticket});
        for (int q = 0; q < kPipeCount; ++q) merge(thread_of(to, static_cast<Pipe>(q)), sent);
      }
      if (racy) break;
    }
    const std::string report = r.end();
    EXPECT_EQ(report != "", racy) << "seed " << seed << ": " << report;
    races += racy;
  }
  EXPECT_GT(races, kSeeds / 10);
  EXPECT_LT(races, kSeeds * 9 / 10);
}

}  // namespace
}  // namespace dav
