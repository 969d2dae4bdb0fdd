#include "core/tracker_core.h"

#include "core/chip.h"

namespace dav {

TrackedCore::TrackedCore(const Chip& chip, const CoreId& core, OpTable& table,
                         const TrackerOptions& options)
    : id(core), layouts(chip), chip_(chip), ops_(table) {
  view_.core = core.index;
  view_.auto_sync = options.auto_sync && core.kind != CoreKind::AIC;
  view_.auto_waits = &auto_waits_;
  view_.small_mmads = &small_mmads_;
  view_.ops = &table;
  view_.ledger = &ledger;
  begin(Pipe::S);
}

Cells& TrackedCore::make_cells(Buffer b) {
  std::unique_ptr<Cells>& c = local_[static_cast<size_t>(b)];
  c = std::make_unique<Cells>(chip_.bytes[static_cast<size_t>(b)], false, false);
  return *c;
}

void TrackedCore::begin(Pipe pipe) {
  moved_undefined = false;
  if (l0c_bytes_ != 0) {
    const auto m = static_cast<size_t>(Pipe::M);
    if (l0c_bytes_ < kInterlockedMmadBytes) {
      // All of them complete: none needs the list any more.
      if (!small_mmads_.empty() && small_mmads_.back() <= known_[m].own[m]) small_mmads_.clear();
      small_mmads_.push_back(issued_[m]);
    }
    l0c_bytes_ = 0;
  }
  pipe_ = pipe;
  if (++issued_[static_cast<size_t>(pipe)] > Stamp::kMaxClock) {
    throw Trap(TrapKind::BudgetExceeded, "check mode on " + chip_.name + ": " + core_name(id) +
                                             " executed more instructions on pipe " +
                                             pipe_name(pipe) + " than can be told apart");
  }
  op_ = Op{};
  stamped_ = false;
}

const Viewpoint& TrackedCore::view(Pipe pipe, const char* name, uint32_t site, Buffer buffer) {
  if (pipe != pipe_) begin(pipe);
  if (!stamped_) {
    op_.name = name;
    op_.site = site;
    view_.now = Stamp(id.index, pipe, ops_.number(op_), issued_[static_cast<size_t>(pipe)]);
    view_.pipe = pipe;
    view_.unit_flag = op_.unit_flag;
    view_.cached = op_.cached;
    view_.known = &known_[static_cast<size_t>(pipe)];
    stamped_ = true;
  }
  view_.buffer = buffer;
  return view_;
}

Knowledge TrackedCore::after(Pipe pipe) const {
  if (pipe == Pipe::ALL) {
    Knowledge all = after(Pipe::S);
    for (int p = 1; p < kPipeCount; ++p) all.join(after(static_cast<Pipe>(p)));
    return all;
  }
  const auto p = static_cast<size_t>(pipe);
  Knowledge k = known_[p];
  k.own[p] = issued_[p];
  return k;
}

void TrackedCore::receive(Pipe pipe, const Knowledge& knowledge) {
  if (pipe != Pipe::S && pipe != Pipe::ALL) {
    known_[static_cast<size_t>(pipe)].join(knowledge);
    return;
  }
  // The pipes mostly share one foreign clock; join it once and go on sharing.
  ForeignClock before;
  ForeignClock joined;
  for (Knowledge& k : known_) {
    k.join_own(knowledge);
    if (joined && k.foreign == before) {
      k.foreign = joined;
      continue;
    }
    before = k.foreign;
    k.join_foreign(knowledge);
    joined = k.foreign;
  }
}

void TrackedCore::receive_auto_waits() {
  for (int p = 0; p < kPipeCount; ++p) {
    if ((auto_waits_ >> p & 1) == 0) continue;
    const auto source = static_cast<Pipe>(p);
    if (source == pipe_) {  // PipeBarrier before the current instruction
      const auto i = static_cast<size_t>(p);
      known_[i].own[i] = issued_[i] - 1;
    } else {
      receive(pipe_, after(source));
    }
  }
  auto_waits_ = 0;
}

void TrackedCore::receive_parcels(Pipe pipe, uint32_t cores,
                                  const std::vector<const Parcel*>& parcels) {
  Knowledge received;
  join_parcels(received, id.index, cores, parcels);
  receive(pipe, received);
}

void TrackedCore::barrier(Pipe pipe, uint32_t site) {
  if (pipe == Pipe::ALL) {
    bool anything_new = false;
    for (int p = 0; p < kPipeCount; ++p) {
      for (const Knowledge& k : known_) {
        anything_new =
            anything_new || k.own[static_cast<size_t>(p)] < issued_[static_cast<size_t>(p)];
      }
    }
    ledger.add(pipe, 0, site, anything_new);
    const Knowledge all = after(Pipe::ALL);
    known_.fill(all);
    return;
  }
  const auto p = static_cast<size_t>(pipe);
  ledger.add(pipe, issued_[p], site, known_[p].own[p] < issued_[p]);
  known_[p].own[p] = issued_[p];
}

}  // namespace dav
