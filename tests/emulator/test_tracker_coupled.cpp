// The coupled core's vector pipe: it fetches products from L0C, computes on them in place and may
// overwrite them with others, in a pipe whose instructions overlap.
#include <functional>
#include <string>

#include "dav/abi_vector.h"
#include "isa_cube_rig.h"

namespace {

using namespace dav_test;
using dav::Buffer;
using dav::DType;
using dav::TrapKind;

constexpr uint32_t kFractals = 4;
constexpr uint32_t kFractalBytes = 1024;
constexpr uint32_t kArea = 8192;
constexpr uint32_t kNarrow = 32768;

// V: products to the fractals of the area from `first` on.
void fetch(uint32_t first, uint32_t fractals) {
  dav::L0cToUbDesc d;
  d.blockLen = static_cast<uint16_t>(fractals);
  dav::l0c_to_ub({Buffer::UB, kArea + first * kFractalBytes}, DType::F32, kL0c, DType::F32, d);
}

// V: the area times a number, in place; of each fractal the blocks that are a multiple of `every`.
void scale(uint32_t every) {
  dav::VecScalar v{};
  v.name = "Muls";
  v.op = dav::ScalarOp::Muls;
  v.dst_type = v.src_type = DType::F32;
  v.dst = v.src = {{Buffer::UB, kArea}, every, 8 * every};
  v.scalar = 0x40000000;  // 2.0f
  v.mask = dav::VecMask::lanes(64);
  v.repeats = kFractals * kFractalBytes / 256 / every;
  dav::vector_scalar(v);
}

// V: reads the whole area.
void narrow() {
  dav::VecCast v{};
  v.name = "Cast";
  v.dst_type = DType::F16;
  v.src_type = DType::F32;
  v.dst = {{Buffer::UB, kNarrow}, 1, 4};
  v.src = {{Buffer::UB, kArea}, 1, 8};
  v.mask = dav::VecMask::lanes(64);
  v.repeats = kFractals * kFractalBytes / 256;
  dav::vector_cast(v);
}

// Runs a body behind products in L0C; what it traps with, "" when it is clean.
std::string report(const std::function<void()>& body) {
  const std::vector<float> start(kFractals * 256, 1.0f);
  CubeKernel kernel(
      [&] {
        dav::data_copy_in({Buffer::UB, 0}, addr(start), DType::F32, {1, kFractals * 32, 0, 0});
        barrier();
        dav::L0cToUbDesc d;
        d.blockLen = kFractals;
        dav::ub_to_l0c(kL0c, {Buffer::UB, 0}, DType::F32, d);
        barrier();
        fetch(0, kFractals);
        dav::pipe_barrier(dav::Pipe::V);
        body();
      },
      "Ascend910A");
  kernel.input(start);
  try {
    kernel.run();
  } catch (const dav::Trap& trap) {
    EXPECT_EQ(trap.kind(), TrapKind::DataRace);
    return trap.what();
  }
  return "";
}

TEST(TrackerCoupled, ProductsOverwriteWhatTheVectorUnitIsStillWriting) {
  const std::string race = report([] {
    scale(1);
    fetch(2, 1);
  });
  EXPECT_NE(race.find("write after write (WAW)"), std::string::npos) << race;
  EXPECT_NE(race.find("UB[0x2800, 0x2c00)"), std::string::npos) << race;
  EXPECT_NE(race.find("missing: PipeBarrier<PIPE_V>() between Muls"), std::string::npos) << race;
}

TEST(TrackerCoupled, TheSameTheOtherWayRound) {
  const std::string race = report([] {
    fetch(3, 1);
    scale(1);
  });
  EXPECT_NE(race.find("PipeBarrier<PIPE_V>()"), std::string::npos) << race;
  EXPECT_NE(race.find("[0x2c00, 0x3000)"), std::string::npos) << race;
}

TEST(TrackerCoupled, ABarrierBetweenThem) {
  EXPECT_EQ(report([] {
              scale(1);
              dav::pipe_barrier(dav::Pipe::V);
              fetch(2, 1);
            }),
            "");
}

// The area may be fetched to again as soon as the last reader was issued: reads end before a write
// of the same pipe begins, and the barrier before them has ended the writes.
TEST(TrackerCoupled, ProductsOverwriteWhatHasBeenRead) {
  EXPECT_EQ(report([] {
              scale(1);
              dav::pipe_barrier(dav::Pipe::V);
              narrow();
              fetch(0, kFractals);
            }),
            "");
}

// A reader in between orders nothing if no barrier stood before it.
TEST(TrackerCoupled, AReaderIsNoBarrier) {
  const std::string race = report([] {
    scale(1);
    narrow();
    fetch(0, kFractals);
  });
  EXPECT_NE(race.find("read after write (RAW)"), std::string::npos) << race;
}

// One block in four was written without a barrier behind; that is enough.
TEST(TrackerCoupled, BlocksWithGapsBetween) {
  const std::string race = report([] {
    scale(4);
    fetch(1, 1);
  });
  EXPECT_NE(race.find("WAW"), std::string::npos) << race;
  EXPECT_NE(race.find("UB[0x2400, 0x2420)"), std::string::npos) << race;
}

}  // namespace
