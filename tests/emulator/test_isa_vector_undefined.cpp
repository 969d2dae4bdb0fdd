// Kernels round lengths up: lanes without values cost their own result its value, no more.
#include "vector_rig.h"

namespace {

using dav::TrapKind;

constexpr uint32_t kDefined = 40;  // of 64 floats: five blocks of eight

void undefined(const dav_test::Body& body, const char* instruction) {
  auto k = vector_kernel(body);
  EXPECT_TRAP(k, TrapKind::UninitialisedRead, instruction);
}

TEST(VectorUndefined, LanewiseResultsLackWhatAnySourceLacks) {
  const auto compute = [] {
    put<float>(0, iota<float>(kDefined));
    const auto b = put<float>(1024, constant<float>(64, 2));
    Mul(ub<float>(2048, 64), ub<float>(0, 64), b, 64);
    PipeBarrier<PIPE_V>();
    Adds(ub<float>(2048, 64), ub<float>(2048, 64), 1.0f, 64);
    PipeBarrier<PIPE_V>();
    Cast(ub<half>(3072, 64), ub<float>(2048, 64), RoundMode::CAST_NONE, 64);
  };
  on_aiv([&] {
    compute();
    EXPECT_EQ(take(ub<float>(2048, 64), kDefined), iota<float>(kDefined, 1, 2));
    EXPECT_EQ(floats(take(ub<half>(3072, 64), kDefined)), iota<float>(kDefined, 1, 2));
  });
  undefined(
      [&] {
        compute();
        take(ub<float>(2048, 64), kDefined + 1);
      },
      "GetValue");
  undefined(
      [&] {
        compute();
        take(ub<half>(3072, 64), kDefined + 1);
      },
      "GetValue");
  // Nothing of this one would have a value.
  undefined(
      [&] {
        compute();
        PipeBarrier<PIPE_V>();
        Exp(ub<float>(4096, 8), ub<float>(2048 + kDefined * 4, 8), 8);
      },
      "Exp");
}

TEST(VectorUndefined, AnOverwrittenLaneHasAValueAgain) {
  on_aiv([] {
    put<float>(0, iota<float>(kDefined));
    Adds(ub<float>(1024, 64), ub<float>(0, 64), 1.0f, 64);
    PipeBarrier<PIPE_V>();
    Duplicate(ub<float>(1024 + kDefined * 4, 24), 5.0f, 24);
    EXPECT_EQ(take(ub<float>(1024 + kDefined * 4, 24), 24), constant<float>(24, 5));
  });
}

TEST(VectorUndefined, ReductionsLackTheGroupsWithUndefinedLanes) {
  const auto blocks = [] {
    put<float>(0, iota<float>(kDefined));
    BlockReduceMax(ub<float>(1024, 8), ub<float>(0, 64), 1, 64, 1, 1, 8);
  };
  on_aiv([&] {
    blocks();
    EXPECT_EQ(take(ub<float>(1024, 8), 5), iota<float>(5, 7, 8));
  });
  undefined(
      [&] {
        blocks();
        take(ub<float>(1024, 8), 6);
      },
      "GetValue");

  const auto repeats = [] {
    put<float>(0, constant<float>(64 + kDefined, 1));
    WholeReduceSum(ub<float>(1024, 8), ub<float>(0, 128), 64, 2, 1, 1, 8);
  };
  on_aiv([&] {
    repeats();
    EXPECT_EQ(take(ub<float>(1024, 8), 1), constant<float>(1, 64));
  });
  undefined(
      [&] {
        repeats();
        take(ub<float>(1024, 8), 2);
      },
      "GetValue");

  const auto pairs = [] {
    put<float>(0, iota<float>(kDefined + 1));
    PairReduceSum(ub<float>(1024, 32), ub<float>(0, 64), 1, 64, 1, 1, 8);
  };
  on_aiv([&] {
    pairs();
    EXPECT_EQ(take(ub<float>(1024, 32), 20), iota<float>(20, 1, 4));
  });
  undefined(
      [&] {
        pairs();
        take(ub<float>(1024, 32), 21);
      },
      "GetValue");
}

TEST(VectorUndefined, BrcbSpreadsWhatHasAValue) {
  const auto spread = [] {
    put<float>(0, iota<float>(5));
    Brcb(ub<float>(1024, 64), ub<float>(0, 8), 1, {1, 8});
  };
  on_aiv([&] {
    spread();
    const std::vector<float> values = take(ub<float>(1024, 64), kDefined);
    for (uint32_t i = 0; i < kDefined; ++i) EXPECT_EQ(values[i], static_cast<float>(i / 8));
  });
  undefined(
      [&] {
        spread();
        take(ub<float>(1024, 64), kDefined + 1);
      },
      "GetValue");
}

}  // namespace
