// A stream: an in-order queue with a worker thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "acl/acl_base.h"

namespace dav::rt {

using Clock = std::chrono::steady_clock;

struct StreamError {
  aclError code = ACL_SUCCESS;
  std::string message;
};

class Stream {
 public:
  explicit Stream(int device);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int device() const { return device_; }
  // Tasks run in order. After one failed the rest is skipped until the error has been reported;
  // `always` marks tasks that other streams wait for, which run all the same.
  void push(std::function<void()> task, bool always = false);
  // False when the queue did not drain in time; no limit when absent.
  bool drain(std::optional<std::chrono::milliseconds> limit = std::nullopt);
  bool idle();
  // The pending error; `clear` once the caller has told the user.
  StreamError error(bool clear);

 private:
  struct Task {
    std::function<void()> run;
    bool always;
  };
  void work();
  void run(Task& task);

  const int device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> queue_;
  bool busy_ = false;
  bool stopping_ = false;
  StreamError error_;
  std::thread worker_;
};

// An event completes when the stream reaches the record that was newest at the time of asking.
class Event {
 public:
  // Called when a record is queued; the returned number is handed to complete() by the stream.
  uint64_t begin_record();
  void complete(uint64_t record);
  uint64_t newest();
  bool done(uint64_t record);
  bool wait(uint64_t record, std::optional<std::chrono::milliseconds> limit = std::nullopt);
  void reset();
  // Absent when never recorded or not there yet.
  std::optional<Clock::time_point> timestamp();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t issued_ = 0;
  uint64_t completed_ = 0;
  Clock::time_point when_{};
};

}  // namespace dav::rt
