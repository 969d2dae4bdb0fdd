// Streams and events: order, asynchrony, cross-stream waits, errors that surface where they should.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "runtime/acl/internal.h"

namespace {

using namespace std::chrono_literals;

std::string recent() {
  const char* text = aclGetRecentErrMsg();
  return text ? text : "";
}

class RuntimeStreams : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStreamWithConfig(&other_, 0, ACL_STREAM_FAST_LAUNCH), ACL_SUCCESS);
    recent();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(other_), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  }

  aclrtStream stream_ = nullptr;
  aclrtStream other_ = nullptr;
};

TEST_F(RuntimeStreams, EnqueueReturnsBeforeTheTaskRan) {
  std::atomic<bool> release{false};
  std::atomic<bool> ran{false};
  ASSERT_EQ(dav::rt::enqueue(stream_,
                             [&] {
                               while (!release) std::this_thread::yield();
                               ran = true;
                             }),
            ACL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  EXPECT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  EXPECT_FALSE(ran);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  release = true;
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(ran);
  EXPECT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
}

TEST_F(RuntimeStreams, TasksRunInOrderAndOffTheCallersThread) {
  std::vector<int> order;
  std::thread::id worker;
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(dav::rt::enqueue(stream_,
                               [&order, &worker, i] {
                                 order.push_back(i);
                                 worker = std::this_thread::get_id();
                               }),
              ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(order.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  EXPECT_NE(worker, std::this_thread::get_id());
}

TEST_F(RuntimeStreams, AnEventHoldsBackAnotherStream) {
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  std::atomic<bool> first{false};
  std::atomic<bool> seen_first{false};
  ASSERT_EQ(dav::rt::enqueue(stream_,
                             [&] {
                               std::this_thread::sleep_for(20ms);
                               first = true;
                             }),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event), ACL_SUCCESS);
  ASSERT_EQ(dav::rt::enqueue(other_, [&] { seen_first = first.load(); }), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_TRUE(seen_first);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(RuntimeStreams, WaitingForAnEventNobodyRecordedDoesNotBlock) {
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  EXPECT_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 2000), ACL_SUCCESS);
  aclrtDestroyEvent(event);
}

TEST_F(RuntimeStreams, ElapsedTimeIsWhatPassedOnTheStream) {
  aclrtEvent start = nullptr;
  aclrtEvent end = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&start, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  float ms = -1;
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  aclrtRecordEvent(start, stream_);
  dav::rt::enqueue(stream_, [] { std::this_thread::sleep_for(30ms); });
  aclrtRecordEvent(end, stream_);
  ASSERT_EQ(aclrtSynchronizeEvent(end), ACL_SUCCESS);
  ASSERT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_SUCCESS);
  EXPECT_GE(ms, 29.0f);
  EXPECT_LT(ms, 2000.0f);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, end, start), ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL);
  aclrtDestroyEvent(start);
  aclrtDestroyEvent(end);
}

TEST_F(RuntimeStreams, AFailedTaskIsReportedOnceAtSynchronisationWithItsText) {
  ASSERT_EQ(
      dav::rt::enqueue(
          stream_, [] { throw dav::rt::TaskError(ACL_ERROR_RT_AICORE_EXCEPTION, "boom in L1"); }),
      ACL_SUCCESS);
  while (true) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    aclrtStreamQuery(stream_, &status);
    if (status == ACL_STREAM_STATUS_COMPLETE) break;
  }
  recent();
  // The next call on the stream reports it too, and what it would have queued does not run.
  bool ran = false;
  EXPECT_EQ(dav::rt::enqueue(stream_, [&] { ran = true; }), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_NE(recent().find("boom in L1"), std::string::npos);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_NE(recent().find("boom in L1"), std::string::npos);
  EXPECT_EQ(recent(), "");
  EXPECT_FALSE(ran);
  // Then the stream is as good as new, and the other one never knew.
  EXPECT_EQ(dav::rt::enqueue(stream_, [&] { ran = true; }), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(ran);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
}

TEST_F(RuntimeStreams, AnEventBehindAFailedTaskStillReleasesItsWaiters) {
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  dav::rt::enqueue(stream_, [] {
    std::this_thread::sleep_for(10ms);
    throw dav::rt::TaskError(ACL_ERROR_RT_AICORE_TIMEOUT, "stuck");
  });
  aclrtRecordEvent(event, stream_);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other_, 5000), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_AICORE_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  aclrtDestroyEvent(event);
}

TEST_F(RuntimeStreams, StaleHandlesAreErrorsNotCrashes) {
  aclrtStream gone = nullptr;
  ASSERT_EQ(aclrtCreateStream(&gone), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStream(gone), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(gone), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(recent().find("no live stream"), std::string::npos);
  int x = 0;
  EXPECT_EQ(aclrtRecordEvent(&x, stream_), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(RuntimeStreams, DestroyingAStreamFinishesItsWork) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  std::atomic<bool> ran{false};
  dav::rt::enqueue(stream, [&] {
    std::this_thread::sleep_for(10ms);
    ran = true;
  });
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_TRUE(ran);
}

TEST_F(RuntimeStreams, TheNullStreamIsTheContextsDefault) {
  std::atomic<bool> ran{false};
  ASSERT_EQ(dav::rt::enqueue(nullptr, [&] { ran = true; }), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_TRUE(ran);
  aclError in_new_thread = ACL_SUCCESS;
  std::thread([&] { in_new_thread = dav::rt::enqueue(nullptr, [] {}); }).join();
  EXPECT_EQ(in_new_thread, ACL_ERROR_RT_CONTEXT_NULL);
}

}  // namespace
