// TPipe on a cube core.
#define __NPU_ARCH__ 2201
#define __DAV_CUBE__
#define AscendC AscendC_cube_pipe_test
#include "kernel_operator.h"

#include "core_launch.h"

namespace {

using namespace AscendC;

dav_test::Kernel cube_kernel(dav_test::Body body) {
  dav_test::Kernel kernel(dav::KernelType::AicOnly);
  kernel.spec.mode = dav::Mode::Check;
  kernel.aic = std::move(body);
  return kernel;
}

TEST(PipeOnCube, ThreeMatrixEventsAreTakenAndSet) {
  auto k = cube_kernel([] {
    TPipe pipe;
    const TEventID id = pipe.AllocEventID<HardEvent::M_MTE1>();
    EXPECT_EQ(id, 3);
    pipe.ReleaseEventID<HardEvent::M_MTE1>(id);
    // A kernel may use what TPipe has set, as long as it gives it back.
    WaitFlag<HardEvent::M_MTE1>(0);
    SetFlag<HardEvent::M_MTE1>(0);
  });
  EXPECT_NO_THROW(k.run());
}

TEST(PipeOnCube, BuffersOfEveryPosition) {
  auto k = cube_kernel([] {
    TPipe pipe;
    TQue<TPosition::A1, 2> a1;
    TQue<TPosition::A2, 2> a2;
    TQue<TPosition::CO1, 1> co1;
    TQue<TPosition::C2, 1> c2;
    TSCM<TPosition::GM, 1> scm;
    pipe.InitBuffer(a1, 2, 1024);
    pipe.InitBuffer(a2, 2, 32 * 1024);
    pipe.InitBuffer(co1, 1, 128 * 1024);
    pipe.InitBuffer(c2, 1, 1024);
    pipe.InitBuffer(scm, 1, 512);
    auto x = a1.AllocTensor<half>();
    EXPECT_EQ(x.GetPosition(), static_cast<int32_t>(TPosition::A1));
    auto y = scm.AllocTensor<half>();
    EXPECT_EQ(y.GetPhyAddr(), 512u * 1024 - 128 - 512);  // from the top of L1
    a1.FreeTensor(x);
    scm.FreeTensor(y);
    auto z = co1.AllocTensor<float>();
    EXPECT_EQ(z.GetPosition(), static_cast<int32_t>(TPosition::CO1));
    co1.EnQue(z);
    z = co1.DeQue<float>();
    co1.FreeTensor(z);
  });
  EXPECT_NO_THROW(k.run());
  k = cube_kernel([] {
    TPipe pipe;
    TQue<TPosition::A2, 2> a2;
    pipe.InitBuffer(a2, 2, 40 * 1024);
  });
  EXPECT_TRAP(k, dav::TrapKind::IllegalArgument, "L0A", "81920", "65536");
}

}  // namespace
