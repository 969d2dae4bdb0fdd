// Blocks one after another: WaitPreBlock and NotifyNextBlock. Real kernels poll words in global
// memory; here whose turn it is lies with the launch, and the words are only held to their bounds.
#include "core/call_site.h"
#include "core/instruction.h"
#include "core/launch_state.h"
#include "dav/abi_sync.h"

namespace dav {
namespace {

constexpr uint64_t kWord = 32;  // one 32-byte block of the workspace per core

uint64_t order_size(const Core& core) {
  return static_cast<uint64_t>(block_num()) * core.sub_blocks;
}

// The word by which the block whose turn it was tells the next one.
uint64_t word_of(const Core& core, uint64_t gm_workspace, uint64_t turn) {
  return gm_workspace + turn % order_size(core) * kWord;
}

void note(const Core& core, const char* name, Access access, uint64_t addr) {
  if (core.tracker == nullptr) return;
  const Instruction in(Pipe::S, name);
  core.tracker->access(core.id(), Pipe::S, name, capture_site(), access, Buffer::GM, addr,
                       sizeof(int32_t));
}

void check_workspace(const Core& core, uint64_t gm_workspace, const char* name) {
  const Instruction in(Pipe::S, name);
  in.span(Buffer::GM, gm_workspace, order_size(core) * kWord);
}

}  // namespace

void order_blocks_init(uint64_t gm_workspace, uint32_t ub_offset) {
  Core& core = current_core();
  check_workspace(core, gm_workspace, "InitDetermineComputeWorkspace");
  const Instruction in(Pipe::S, "InitDetermineComputeWorkspace");
  in.span(Buffer::UB, ub_offset, order_size(core) * kWord + kWord);
  if (!core.launch().all_resident()) {
    core.trap(TrapKind::FlagMisuse, Pipe::S, "InitDetermineComputeWorkspace",
              "the blocks wait for each other, but block_dim %u exceeds what the chip runs at once",
              core.launch().spec().block_dim);
  }
  core.order_round = 0;
  core.order_ready = true;
}

void order_blocks_wait(uint64_t gm_workspace) {
  Core& core = current_core();
  check_workspace(core, gm_workspace, "WaitPreBlock");
  if (!core.order_ready) {
    core.trap(TrapKind::FlagMisuse, Pipe::S, "WaitPreBlock",
              "InitDetermineComputeWorkspace was not called");
  }
  pipe_barrier(Pipe::ALL);
  LaunchState& launch = core.launch();
  const uint64_t turn = core.order_round * order_size(core) + static_cast<uint64_t>(block_idx());
  for (;;) {
    {
      std::lock_guard<std::mutex> lock(launch.all_mutex);
      if (launch.order_turn == turn) {
        if (turn > 0) {
          note(core, "WaitPreBlock", Access::SignalLoad, word_of(core, gm_workspace, turn - 1));
        }
        break;
      }
    }
    poll();
  }
  ++core.order_round;
  pipe_barrier(Pipe::ALL);
}

void order_blocks_notify(uint64_t gm_workspace) {
  Core& core = current_core();
  check_workspace(core, gm_workspace, "NotifyNextBlock");
  pipe_barrier(Pipe::ALL);
  LaunchState& launch = core.launch();
  std::lock_guard<std::mutex> lock(launch.all_mutex);
  if (core.order_round == 0 || launch.order_turn != (core.order_round - 1) * order_size(core) +
                                                        static_cast<uint64_t>(block_idx())) {
    core.trap(TrapKind::FlagMisuse, Pipe::S, "NotifyNextBlock",
              "it is not this block's turn: WaitPreBlock comes first, once for each notification");
  }
  note(core, "NotifyNextBlock", Access::SignalStore,
       word_of(core, gm_workspace, launch.order_turn));
  ++launch.order_turn;
}

}  // namespace dav
