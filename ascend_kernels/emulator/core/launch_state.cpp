#include "core/launch_state.h"

#include <algorithm>

#include "core/settings.h"

namespace dav {
namespace {

struct Shape {
  bool aic;
  uint32_t aivs;
};

Shape shape_of(KernelType type) {
  switch (type) {
    case KernelType::AivOnly:
    case KernelType::MixAiv10:
      return {false, 1};
    case KernelType::AicOnly:
    case KernelType::MixAic10:
    case KernelType::Coupled:
      return {true, 0};
    case KernelType::MixAic11:
      return {true, 1};
    case KernelType::MixAic12:
      return {true, 2};
  }
  return {true, 0};
}

// How many groups the chip holds at once.
uint32_t resident_groups(const Chip& chip, const Shape& shape) {
  return shape.aic ? chip.aic_count : chip.aiv_count();
}

void size_members(Rendezvous& r, size_t members) { r.members.resize(members); }

}  // namespace

LaunchState::LaunchState(const LaunchSpec& spec)
    : spec_(spec), gm_(spec.regions), budget_(spec.budget != 0 ? spec.budget : setting_budget()) {
  setting_watchdog();  // an unusable value is refused here, not on a worker thread
  aic_locals_ = find_block_locals(reinterpret_cast<const void*>(spec.aic));
  aiv_locals_ = find_block_locals(reinterpret_cast<const void*>(spec.aiv));
  make_groups();
  if (spec.mode == Mode::Check) {
    std::vector<CoreId> ids;
    for (const auto& core : cores_) ids.push_back(core->id());
    TrackerOptions options;
    options.auto_sync = spec.auto_sync;
    tracker_ = make_tracker(chip(), ids, spec.regions, options);
  }
  for (const auto& core : cores_) {
    core->tracker = tracker_.get();
    core->budget_left = budget_;
    core->stop = &core->curtailed;
    core->timing_only = spec.timing_only;
    if (!spec.profile) continue;
    traces_.push_back(std::make_unique<CoreTrace>());
    CoreTrace& t = *traces_.back();
    t.kind = core->id().kind;
    t.block = core->id().block;
    t.sub_block = core->id().sub_block;
    core->trace = &t;
  }
}

LaunchState::~LaunchState() = default;

void LaunchState::add_core(Group& group, CoreKind kind, uint32_t block, uint32_t sub_block) {
  CoreId id;
  id.kind = kind;
  id.block = block;
  id.sub_block = sub_block;
  id.index = static_cast<uint32_t>(cores_.size());
  const uint32_t sub_blocks = kind == CoreKind::AIV ? shape_of(spec_.type).aivs : 1;
  cores_.push_back(std::make_unique<Core>(*this, id, sub_blocks));
  Core* core = cores_.back().get();
  group.cores.push_back(core);
  if (kind == CoreKind::AIV) {
    group.aivs.push_back(core);
  } else {
    group.aic = core;
  }
}

void LaunchState::make_groups() {
  const Shape shape = shape_of(spec_.type);
  const uint32_t resident = resident_groups(chip(), shape);
  const uint32_t threads = std::min(setting_threads(), std::min(spec_.block_dim, resident));
  for (uint32_t i = 0; i < threads; ++i) workers_.push_back(std::make_unique<Worker>());
  active_groups_ = (resident + threads - 1) / threads;

  for (uint32_t block = 0; block < spec_.block_dim; ++block) {
    groups_.push_back(std::make_unique<Group>());
    Group& group = *groups_.back();
    if (shape.aic) {
      add_core(group, chip().split() ? CoreKind::AIC : CoreKind::Coupled, block, 0);
    }
    for (uint32_t v = 0; v < shape.aivs; ++v) add_core(group, CoreKind::AIV, block, v);
    group.worker = workers_[block % threads].get();
    group.worker->groups.push_back(&group);
    for (int id = 0; id < kCrossFlags; ++id) {
      size_members(group.among_aivs[id], shape.aivs);
      size_members(group.aivs_to_aic[id], shape.aivs);
      size_members(group.aic_to_aivs[id], shape.aic ? 1 : 0);
    }
  }
  for (int id = 0; id < kCrossFlags; ++id) {
    size_members(all_aics[id], shape.aic ? spec_.block_dim : 0);
    size_members(all_aivs[id], spec_.block_dim * shape.aivs);
  }
}

bool LaunchState::all_resident() const {
  return spec_.block_dim <= resident_groups(chip(), shape_of(spec_.type));
}

void LaunchState::fail(const Core& core, std::exception_ptr error, bool urgent) {
  const uint32_t index = core.id().index;
  {
    std::lock_guard<std::mutex> lock(failure_mutex_);
    if (failure_ == nullptr || index < failed_core_) {
      failure_ = std::move(error);
      failed_core_ = index;
    }
  }
  failed_.store(true, std::memory_order_relaxed);
  if (!urgent) {
    for (const auto& c : cores_) c->curtailed.store(true, std::memory_order_relaxed);
  }
  for (size_t i = index + 1; urgent && i < cores_.size(); ++i) stop(*cores_[i]);
  for (const auto& worker : workers_) wake(*worker);
}

void LaunchState::stop(Core& core) {
  core.stopped.store(true, std::memory_order_relaxed);
  core.curtailed.store(true, std::memory_order_relaxed);
}

void LaunchState::wake(Worker& worker) {
  std::lock_guard<std::mutex> lock(sleep_mutex_);
  ++worker.wakes;
  if (!worker.asleep) return;
  worker.asleep = false;
  --asleep_;
  worker.condition.notify_one();
}

void LaunchState::hint(const std::string& text) {
  std::lock_guard<std::mutex> lock(failure_mutex_);
  if (std::find(hints_.begin(), hints_.end(), text) == hints_.end()) hints_.push_back(text);
}

}  // namespace dav
