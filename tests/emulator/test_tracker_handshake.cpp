// Cores that wait for each other's scalar stores through the data cache. Every case runs in both
// orders of the cores: what is said may not depend on which of them was first.
#include <functional>

#include "tracker_rig.h"

namespace dav {
namespace {

constexpr Buffer GM = Buffer::GM;
constexpr uint32_t kLoop = 7, kOnce = 8;  // places in the kernel

// A word of global memory, polled by one core and stored by another.
struct HandShake {
  Rig rig;
  uint32_t memory = 0;
  uint64_t word = kForeign;

  void produce(bool flag = true) {
    rig.write(rig.aiv(0), Pipe::MTE3, "DataCopy", GM, kWorkspace, 256);
    if (flag) rig.flag(rig.aiv(0), Pipe::MTE3, Pipe::S);
  }
  void store(uint32_t value, const CoreId& core) {
    rig.begin(core, Pipe::S);
    rig.tracker->cached_store(core, "SetValue", 1, word, 4, reinterpret_cast<std::byte*>(&memory),
                              value);
  }
  void clean(const CoreId& core, bool all = false) {
    rig.tracker->clean_cache(core, all ? 0 : word, all ? 0 : 64);
  }
  uint32_t load(const CoreId& core, uint32_t site) {
    rig.begin(core, Pipe::S);
    return static_cast<uint32_t>(rig.tracker->cached_load(
        core, "GetValue", site, word, 4, reinterpret_cast<const std::byte*>(&memory)));
  }
  // Whether the value came within the looks a kernel takes.
  bool poll(uint32_t value, int looks, const CoreId& core, uint32_t site = kLoop) {
    for (int i = 0; i < looks; ++i) {
      clean(core);
      if (load(core, site) == value) return true;
    }
    return false;
  }
  void consume() {
    rig.flag(rig.aiv(1), Pipe::S, Pipe::MTE2);
    rig.read(rig.aiv(1), Pipe::MTE2, "DataCopy", GM, kWorkspace, 256);
  }
};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(TrackerHandShake, AStoreThatIsCleanedHandsOverWhatCameBefore) {
  for (const bool reader_first : {false, true}) {
    for (const bool all : {false, true}) {
      HandShake h;
      const CoreId &writer = h.rig.aiv(0), &reader = h.rig.aiv(1);
      if (reader_first) {
        EXPECT_FALSE(h.poll(1, 2, reader));
      }
      h.produce();
      h.store(1, writer);
      h.clean(writer, all);
      EXPECT_TRUE(h.poll(1, 2, reader));
      h.consume();
      EXPECT_EQ(h.rig.end(), "");
    }
  }
}

// Rounds through one word, both ways.
TEST(TrackerHandShake, RoundsFollowEachOther) {
  HandShake h;
  const CoreId &writer = h.rig.aiv(0), &reader = h.rig.aiv(1);
  for (uint32_t round = 0; round < 3; ++round) {
    if (round > 0) {
      EXPECT_TRUE(h.poll(2 * round, 2, writer, kLoop + 1));
    }
    h.rig.flag(writer, Pipe::S, Pipe::MTE3);
    h.produce();
    h.store(2 * round + 1, writer);
    h.clean(writer);
    EXPECT_TRUE(h.poll(2 * round + 1, 2, reader));
    h.consume();
    h.rig.flag(reader, Pipe::MTE2, Pipe::S);
    h.store(2 * round + 2, reader);
    h.clean(reader);
  }
  EXPECT_EQ(h.rig.end(), "");
}

TEST(TrackerHandShake, OnlyWhatWasCompleteIsHandedOver) {
  HandShake h;
  h.produce(false);  // nothing says that the copy is done before the store
  h.store(1, h.rig.aiv(0));
  h.clean(h.rig.aiv(0));
  EXPECT_TRUE(h.poll(1, 2, h.rig.aiv(1)));
  h.consume();
  EXPECT_TRUE(has(h.rig.end(), "workspace 'workspace' at byte 0"));
  EXPECT_EQ(h.rig.kind, TrapKind::DataRace);
}

TEST(TrackerHandShake, ALoadThatInvalidatedNothingRaces) {
  for (const bool reader_first : {false, true}) {
    HandShake h;
    if (reader_first) h.load(h.rig.aiv(1), kLoop);
    h.store(1, h.rig.aiv(0));
    h.clean(h.rig.aiv(0));
    if (!reader_first) h.load(h.rig.aiv(1), kLoop);
    EXPECT_TRUE(has(h.rig.end(), "GM address 0x900000000"));
    EXPECT_EQ(h.rig.kind, TrapKind::DataRace);
  }
  // Once invalidated, once fetched: the second load finds the line in the cache.
  HandShake h;
  h.clean(h.rig.aiv(1));
  h.load(h.rig.aiv(1), kLoop);
  h.load(h.rig.aiv(1), kLoop);
  h.store(1, h.rig.aiv(0));
  h.clean(h.rig.aiv(0));
  h.rig.end();
  EXPECT_EQ(h.rig.kind, TrapKind::DataRace);
}

TEST(TrackerHandShake, AStoreThatStaysInTheCacheIsNamed) {
  for (const bool reader_first : {false, true}) {
    HandShake h;
    if (reader_first) h.poll(1, 1, h.rig.aiv(1));
    h.store(1, h.rig.aiv(0));
    if (!reader_first) h.poll(1, 1, h.rig.aiv(1));
    const std::string report = h.rig.end();
    EXPECT_TRUE(has(report, "DataRace on Ascend910B3, AIV 0.0, pipe S, SetValue")) << report;
    EXPECT_TRUE(has(report, "while AIV 1.0 polls it"));
    EXPECT_TRUE(has(report, "missing: DataCacheCleanAndInvalid"));
  }
  HandShake alone;  // nobody looks for it: an ordinary output
  alone.store(1, alone.rig.aiv(0));
  EXPECT_EQ(alone.rig.end(), "");
}

// A core that looks once and goes on regardless is wrong, also when the other one was fast.
TEST(TrackerHandShake, OneLookIsNoWait) {
  for (const bool reader_first : {false, true}) {
    HandShake h;
    const auto write = [&] {
      h.produce();
      h.store(1, h.rig.aiv(0));
      h.clean(h.rig.aiv(0));
    };
    if (!reader_first) write();
    EXPECT_FALSE(h.poll(1, 1, h.rig.aiv(1), kOnce));
    h.consume();
    if (reader_first) write();
    EXPECT_TRUE(has(h.rig.end(), "workspace 'workspace' at byte 0"));
    EXPECT_EQ(h.rig.kind, TrapKind::DataRace);
  }
}

// What a cross-core flag orders is seen at once.
TEST(TrackerHandShake, AnOrderedStoreNeedsNoSecondLook) {
  HandShake h;
  h.store(5, h.rig.aiv(0));
  h.clean(h.rig.aiv(0));
  h.rig.flag(h.rig.aiv(0), Pipe::S, Pipe::MTE3);
  const uint64_t a = h.rig.set(h.rig.aiv(0), Pipe::MTE3, 1);
  const uint64_t b = h.rig.set(h.rig.aiv(1), Pipe::MTE3, 1);
  h.rig.wait(h.rig.aiv(0), 1, {a, b});
  h.rig.wait(h.rig.aiv(1), 1, {a, b});
  EXPECT_TRUE(h.poll(5, 1, h.rig.aiv(1), kOnce));
  EXPECT_EQ(h.rig.end(), "");
}

TEST(TrackerHandShake, TwoCoresStoringOneWordRace) {
  HandShake h;
  h.store(1, h.rig.aiv(0));
  h.clean(h.rig.aiv(0));
  h.store(2, h.rig.aiv(1));
  h.clean(h.rig.aiv(1));
  EXPECT_TRUE(has(h.rig.end(), "WAW"));
}

// A word nobody cleared has no value for a core that looks before the store.
TEST(TrackerHandShake, AWordNobodyClearedIsReportedWhoeverIsFirst) {
  for (const bool reader_first : {false, true}) {
    HandShake h;
    h.word = kWorkspace + 4096;
    if (reader_first) h.poll(1, 1, h.rig.aiv(1));
    h.store(1, h.rig.aiv(0));
    h.clean(h.rig.aiv(0));
    h.poll(1, 2, h.rig.aiv(1));
    EXPECT_TRUE(has(h.rig.end(), "workspace 'workspace' at byte 4096"));
    EXPECT_EQ(h.rig.kind, TrapKind::UninitialisedRead);
  }
}

}  // namespace
}  // namespace dav
