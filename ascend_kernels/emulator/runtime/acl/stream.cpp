#include "runtime/acl/stream.h"

#include <cstdlib>
#include <exception>

#include "runtime/acl/internal.h"
#include "runtime/acl/launch_support.h"
#include "runtime/acl/memory.h"

namespace dav::rt {
namespace {

// Microseconds before each queued task: exposes callers that rely on a stream being quick.
std::chrono::microseconds task_delay() {
  static const auto delay = delay_of(Delay::Task);
  return delay;
}

}  // namespace

Stream::Stream(int device) : device_(device), worker_([this] { work(); }) {}

Stream::~Stream() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

void Stream::push(std::function<void()> task, bool always) {
  task_queued(device_);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back({std::move(task), always});
  }
  changed_.notify_all();
}

bool Stream::drain(std::optional<std::chrono::milliseconds> limit) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto empty = [this] { return queue_.empty() && !busy_; };
  if (!limit) {
    changed_.wait(lock, empty);
    return true;
  }
  return changed_.wait_for(lock, *limit, empty);
}

bool Stream::idle() {
  std::lock_guard<std::mutex> lock(mutex_);
  return queue_.empty() && !busy_;
}

StreamError Stream::error(bool clear) {
  std::lock_guard<std::mutex> lock(mutex_);
  StreamError result = error_;
  if (clear) error_ = {};
  return result;
}

void Stream::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    const bool skip = error_.code != ACL_SUCCESS && !task.always;
    busy_ = true;
    lock.unlock();
    if (!skip) run(task);
    task.run = nullptr;  // releases what the task holds before the stream counts as idle
    task_finished(device_);
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void Stream::run(Task& task) {
  if (task_delay().count() > 0) std::this_thread::sleep_for(task_delay());
  StreamError error;
  try {
    task.run();
    return;
  } catch (const TaskError& e) {
    error = {e.code(), e.what()};
  } catch (const std::exception& e) {
    error = {ACL_ERROR_RT_INTERNAL_ERROR, e.what()};
  } catch (...) {
    error = {ACL_ERROR_RT_INTERNAL_ERROR, "a queued task threw something unknown"};
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (error_.code == ACL_SUCCESS) error_ = std::move(error);
}

uint64_t Event::begin_record() {
  std::lock_guard<std::mutex> lock(mutex_);
  return ++issued_;
}

void Event::complete(uint64_t record) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (record > completed_) {
      completed_ = record;
      when_ = Clock::now();
    }
  }
  changed_.notify_all();
}

uint64_t Event::newest() {
  std::lock_guard<std::mutex> lock(mutex_);
  return issued_;
}

bool Event::done(uint64_t record) {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_ >= record;
}

bool Event::wait(uint64_t record, std::optional<std::chrono::milliseconds> limit) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto reached = [&] { return completed_ >= record; };
  if (!limit) {
    changed_.wait(lock, reached);
    return true;
  }
  return changed_.wait_for(lock, *limit, reached);
}

void Event::reset() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    completed_ = issued_;
    when_ = Clock::time_point{};
  }
  changed_.notify_all();
}

std::optional<Clock::time_point> Event::timestamp() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (issued_ == 0 || completed_ < issued_ || when_ == Clock::time_point{}) return std::nullopt;
  return when_;
}

}  // namespace dav::rt
