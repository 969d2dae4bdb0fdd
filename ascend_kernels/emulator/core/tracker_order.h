// Which earlier access may a later one rely on: the happens-before question for one instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tracker_clock.h"
#include "core/tracker_stamp.h"
#include "dav/types.h"

namespace dav {

enum class Touch : uint8_t { Read, Write, Atomic };

// Mmads that write fewer fractals than this need PipeBarrier<PIPE_M> before the next one touches
// the same L0C tile; from there on the cube orders them itself (Ascend C reference, Mmad, notes on
// synchronisation: (m / 16) * (n / 16) < 10). Judged by the bytes the earlier Mmad wrote, in
// fractals of 16 x 16 four-byte results.
constexpr uint64_t kInterlockedMmadBytes = 10 * 16 * 16 * 4;

// Credits barriers with the dependences they order, so that one that orders none can be named.
class BarrierLedger {
 public:
  void add(Pipe pipe, uint32_t clock, uint32_t site, bool anything_new);
  // A dependence on instruction `clock` of the pipe by a later one of the same pipe.
  void credit(Pipe pipe, uint32_t clock);

  struct Site {
    uint32_t site = 0;
    Pipe pipe = Pipe::ALL;
    bool useful = false;
    uint64_t executions = 0;
  };
  const std::vector<Site>& sites() const { return sites_; }

 private:
  struct Mark {
    uint32_t clock;
    uint32_t site_index;
  };
  std::vector<Mark> marks_[kPipeCount];
  std::vector<Site> sites_;
};

// The instruction a core executes now, as its accesses are judged.
struct Viewpoint {
  Stamp now;
  uint32_t core = 0;
  Pipe pipe = Pipe::S;
  bool auto_sync = false;  // and the core has a vector unit
  // Bit per pipe the compiler made this instruction wait for.
  uint8_t* auto_waits = nullptr;
  uint8_t unit_flag = 0;
  Op::Cached cached = Op::Cached::No;
  Buffer buffer = Buffer::GM;
  const Knowledge* known = nullptr;
  const std::vector<uint32_t>* small_mmads = nullptr;  // sorted clocks
  OpTable* ops = nullptr;
  BarrierLedger* ledger = nullptr;

  // The clocks alone: prior is complete before `now` starts, or sits before it in the same pipe.
  // What is ordered after `now` is then ordered after prior.
  bool knows(Stamp prior) const {
    if (prior.core() != core) return prior.clock() <= known->of(prior.core(), prior.pipe());
    return prior.pipe() == pipe || prior.clock() <= known->own[static_cast<size_t>(prior.pipe())];
  }

  // True when the conflicting accesses prior and now cannot overlap in time.
  bool ordered(Stamp prior, Touch prior_touch, Touch touch) const {
    if (prior.core() != core) {
      return prior.clock() <= known->of(prior.core(), prior.pipe()) ||
             by_cache(prior, prior_touch, touch);
    }
    const bool complete = prior.clock() <= known->own[static_cast<size_t>(prior.pipe())];
    if (prior.pipe() != pipe) return complete || by_hardware(prior, prior_touch, touch);
    if (prior.clock() == now.clock()) return true;
    // Scalar memory operations run in program order; a pipe starts instructions in order, so a
    // later write cannot overtake an earlier read.
    if (pipe == Pipe::S || prior_touch == Touch::Read) return true;
    if (complete) {
      ledger->credit(pipe, prior.clock());
      return true;
    }
    return by_hardware(prior, prior_touch, touch);
  }

 private:
  // Orders made by automatic synchronisation (noted in auto_waits), the cube's interlock and unit
  // flags.
  bool by_hardware(Stamp prior, Touch prior_touch, Touch touch) const;
  // A core that waits for another's store loads the word while it is being stored.
  bool by_cache(Stamp prior, Touch prior_touch, Touch touch) const;
};

}  // namespace dav
