// z = alpha * x + y (+ bias, when there is one). Tiles go round robin over the cores.
#include "kernel_operator.h"

#include "scale_add_tiling.h"

#if SAMPLE_OPTION != 1
#error "options of npu_op_kernel_options have to reach the compiler"
#endif
#if ORIG_DTYPE_X != DT_FLOAT16 && ORIG_DTYPE_X != DT_FLOAT
#error "the op definition lists two data types"
#endif

namespace {

class ScaleAdd {
 public:
  __aicore__ inline ScaleAdd(AscendC::TPipe& pipe, const ScaleAddTiling& plan) : plan_(plan) {
    pipe.InitBuffer(x_queue_, 2, plan.tile * sizeof(DTYPE_X));
    pipe.InitBuffer(y_queue_, 2, plan.tile * sizeof(DTYPE_X));
    pipe.InitBuffer(z_queue_, 2, plan.tile * sizeof(DTYPE_X));
  }

  __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR bias, GM_ADDR z) {
    x_.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_X*>(x));
    y_.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_X*>(y));
    z_.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_X*>(z));
    has_bias_ = bias != nullptr;
    bias_.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_X*>(bias));
    const uint32_t step = plan_.tile * static_cast<uint32_t>(AscendC::GetBlockNum());
    for (uint32_t at = static_cast<uint32_t>(AscendC::GetBlockIdx()) * plan_.tile;
         at < plan_.elements; at += step) {
      Tile(at);
    }
  }

 private:
  __aicore__ inline void Tile(uint32_t at) {
    auto x = x_queue_.AllocTensor<DTYPE_X>();
    auto y = y_queue_.AllocTensor<DTYPE_X>();
    // misbehave 1: read beyond the end of the input.
    AscendC::DataCopy(x, x_[at + (plan_.misbehave == 1 ? plan_.elements : 0)], plan_.tile);
    AscendC::DataCopy(y, y_[at], plan_.tile);
    x_queue_.EnQue(x);
    y_queue_.EnQue(y);

    auto x_ready = x_queue_.DeQue<DTYPE_X>();
    auto y_ready = y_queue_.DeQue<DTYPE_X>();
    auto z = z_queue_.AllocTensor<DTYPE_X>();
    AscendC::Muls(z, x_ready, static_cast<DTYPE_X>(plan_.alpha), plan_.tile);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(z, z, y_ready, plan_.tile);
    if (has_bias_) {
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Adds(z, z, bias_.GetValue(0), plan_.tile);
    }
    x_queue_.FreeTensor(x_ready);
    y_queue_.FreeTensor(y_ready);
    z_queue_.EnQue(z);
    auto z_ready = z_queue_.DeQue<DTYPE_X>();
    AscendC::DataCopy(z_[at], z_ready, plan_.tile);
    z_queue_.FreeTensor(z_ready);
  }

  ScaleAddTiling plan_;
  bool has_bias_ = false;
  AscendC::GlobalTensor<DTYPE_X> x_, y_, bias_, z_;
  AscendC::TQue<AscendC::QuePosition::VECIN, 2> x_queue_, y_queue_;
  AscendC::TQue<AscendC::QuePosition::VECOUT, 2> z_queue_;
};

}  // namespace

extern "C" __global__ __aicore__ void scale_add(GM_ADDR x, GM_ADDR y, GM_ADDR bias, GM_ADDR z,
                                                GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  REGISTER_TILING_DEFAULT(ScaleAddTiling);
  GET_TILING_DATA(plan, tiling);
  AscendC::TPipe pipe;
  ScaleAdd op(pipe, plan);
  if (TILING_KEY_IS(1)) {
    op.Run(x, y, bias, z);
  }
}
