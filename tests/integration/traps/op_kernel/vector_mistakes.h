// What a vector core can do wrong on its own. Each function returns whether it knows the case.
#pragma once

#include "arguments.h"

class VectorMistakes {
 public:
  __aicore__ inline VectorMistakes(AscendC::TPipe& pipe, const Arguments& arguments)
      : pipe_(pipe), args_(arguments) {
    pipe.InitBuffer(buffer_, kUbBytes);
    ub_ = buffer_.Get<float>();
  }

  __aicore__ inline void Run(uint64_t which) {
    if (!Addresses(which) && !Limits(which) && !Flags(which)) NoMistake();
  }

 private:
  __aicore__ inline void NoMistake() {
    AscendC::DataCopy(ub_, args_.x, kElements);
    SetAndWait<HardEvent::MTE2_V>();
    AscendC::Adds(ub_, ub_, 1.0f, kElements);
    SetAndWait<HardEvent::V_MTE3>();
    AscendC::DataCopy(args_.z, ub_, kElements);
  }

  __aicore__ inline bool Addresses(uint64_t which) {
    switch (which) {
      case CaseId("ub_overrun"):
        AscendC::Duplicate(ub_[kUbBytes / 4 - 8], 1.0f, 64);
        return true;
      case CaseId("read_past_input"):
        AscendC::DataCopy(ub_, args_.x[kElements - 8], 64);
        return true;
      case CaseId("write_past_workspace"):
        AscendC::Duplicate(ub_, 1.0f, 64);
        SetAndWait<HardEvent::V_MTE3>();
        AscendC::DataCopy(args_.workspace[kWorkspaceElements - 8], ub_, 64);
        return true;
      case CaseId("write_input"):
        AscendC::Duplicate(ub_, 1.0f, 64);
        SetAndWait<HardEvent::V_MTE3>();
        AscendC::DataCopy(args_.x[64], ub_, 64);
        return true;
      case CaseId("misaligned"):
        AscendC::Duplicate(ub_[1], 1.0f, 64);
        return true;
      case CaseId("uninitialised_ub"):
        AscendC::Adds(ub_, ub_[1024], 1.0f, 64);
        return true;
      case CaseId("uninitialised_workspace"):
        AscendC::DataCopy(ub_, args_.workspace, 64);
        SetAndWait<HardEvent::MTE2_V>();
        AscendC::Adds(ub_, ub_, 1.0f, 64);
        return true;
      case CaseId("no_such_path"): {
        AscendC::LocalTensor<float> l1(AscendC::TPosition::A1, 0, 64);
        AscendC::Duplicate(ub_, 1.0f, 64);
        SetAndWait<HardEvent::V_MTE3>();
        AscendC::DataCopy(l1, ub_, 64);
        return true;
      }
      default:
        return false;
    }
  }

  __aicore__ inline bool Limits(uint64_t which) {
    switch (which) {
      case CaseId("mask_too_wide"):
        AscendC::Duplicate(ub_, 1.0f, 65, 1, 1, 8);
        return true;
      case CaseId("too_many_bursts"):
        AscendC::DataCopy(ub_, args_.x, AscendC::DataCopyParams(4096, 1, 0, 0));
        return true;
      case CaseId("padding_too_long"): {
        const AscendC::DataCopyExtParams burst(1, 4, 0, 0, 0);
        const AscendC::DataCopyPadExtParams<float> padding(true, 0, 9, 0.0f);
        AscendC::DataCopyPad(ub_, args_.x, burst, padding);
        return true;
      }
      case CaseId("cube_on_vector_core"): {
        const AscendC::LocalTensor<half> left(AscendC::TPosition::A2, 0, 256);
        const AscendC::LocalTensor<half> right(AscendC::TPosition::B2, 0, 256);
        AscendC::MmadParams params;
        params.m = params.n = params.k = 16;
        AscendC::Mmad(Floats(AscendC::TPosition::CO1, 0, 256), left, right, params);
        return true;
      }
      default:
        return false;
    }
  }

  __aicore__ inline bool Flags(uint64_t which) {
    switch (which) {
      case CaseId("flag_id"):
        AscendC::SetFlag<HardEvent::MTE2_V>(8);
        return true;
      case CaseId("flag_set_twice"):
        AscendC::SetFlag<HardEvent::MTE2_V>(EVENT_ID1);
        AscendC::SetFlag<HardEvent::MTE2_V>(EVENT_ID1);
        return true;
      case CaseId("flag_never_set"):
        AscendC::WaitFlag<HardEvent::MTE2_V>(EVENT_ID2);
        return true;
      case CaseId("flag_left_set"):
        AscendC::SetFlag<HardEvent::MTE2_V>(EVENT_ID3);
        return true;
      case CaseId("event_released_twice"): {
        const auto event = pipe_.AllocEventID<HardEvent::V_MTE3>();
        pipe_.ReleaseEventID<HardEvent::V_MTE3>(event);
        pipe_.ReleaseEventID<HardEvent::V_MTE3>(event);
        return true;
      }
      case CaseId("queue_exhausted"):
        Queue([&](auto& queue) {
          queue.template AllocTensor<float>();
          queue.template AllocTensor<float>();
        });
        return true;
      case CaseId("queue_empty"):
        Queue([&](auto& queue) { queue.template DeQue<float>(); });
        return true;
      case CaseId("queue_freed_early"):
        Queue([&](auto& queue) {
          auto tensor = queue.template AllocTensor<float>();
          queue.EnQue(tensor);
          queue.FreeTensor(tensor);
        });
        return true;
      case CaseId("race_in_core"):
        AscendC::DataCopy(ub_, args_.x, 64);
        AscendC::Adds(ub_[64], ub_, 1.0f, 64);
        return true;
      case CaseId("race_in_pipe"):
        AscendC::Duplicate(ub_, 1.0f, 64);
        AscendC::Adds(ub_[64], ub_, 1.0f, 64);
        return true;
      default:
        return false;
    }
  }

  template <typename Use>
  __aicore__ inline void Queue(Use use) {
    pipe_.Reset();
    AscendC::TQue<AscendC::TPosition::VECIN, 1> queue;
    pipe_.InitBuffer(queue, 1, 256);
    use(queue);
  }

  AscendC::TPipe& pipe_;
  const Arguments& args_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer_;
  Floats ub_;
};
