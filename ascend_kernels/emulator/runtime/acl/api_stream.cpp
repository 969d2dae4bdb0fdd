// aclrt*Stream*, aclrt*Event*, and queueing for the rest of the toolkit.
#include <chrono>
#include <cstdlib>
#include <thread>

#include "acl/acl_rt.h"
#include "runtime/acl/contexts.h"
#include "runtime/acl/internal.h"
#include "runtime/acl/launch_support.h"

using dav::rt::Event;
using dav::rt::fail;
using dav::rt::find_event;
using dav::rt::find_stream;
using dav::rt::Stream;
using dav::rt::StreamError;

namespace {

// Negative: wait for ever, as the API reference says of timeout -1.
std::optional<std::chrono::milliseconds> limit_of(int32_t timeout) {
  if (timeout < 0) return std::nullopt;
  return std::chrono::milliseconds(timeout);
}

aclError no_stream(const char* function, aclrtStream handle) {
  if (!handle) {
    return fail(ACL_ERROR_RT_CONTEXT_NULL,
                "%s: the default stream needs a context; call aclrtSetDevice first", function);
  }
  return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is no live stream", function, handle);
}

aclError no_event(const char* function, aclrtEvent handle) {
  return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is no live event", function, handle);
}

// Microseconds that queueing takes on the calling thread: exposes threads that queue work on one
// stream without agreeing on the order.
void queueing_delay() {
  static const auto delay = dav::rt::delay_of(dav::Delay::Queue);
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
}

// An earlier task's failure, told but not cleared: only a synchronisation clears it.
aclError pending_error(Stream& stream) {
  const StreamError error = stream.error(false);
  return error.code ? fail(error.code, "%s", error.message.c_str()) : ACL_SUCCESS;
}

aclError synchronize(const char* function, Stream& stream, int32_t timeout) {
  if (!stream.drain(limit_of(timeout))) {
    return fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "%s: not finished after %d ms", function,
                timeout);
  }
  const StreamError error = stream.error(true);
  return error.code ? fail(error.code, "%s", error.message.c_str()) : ACL_SUCCESS;
}

}  // namespace

namespace dav::rt {

aclError enqueue(aclrtStream handle, std::function<void()> task) {
  const auto stream = find_stream(handle);
  if (!stream) return no_stream("queueing a task", handle);
  if (aclError error = pending_error(*stream)) return error;
  queueing_delay();
  stream->push(std::move(task));
  return ACL_SUCCESS;
}

}  // namespace dav::rt

extern "C" {

aclError aclrtCreateStream(aclrtStream* stream) { return dav::rt::create_stream(stream); }

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
  return dav::rt::create_stream(stream);
}

aclError aclrtDestroyStream(aclrtStream stream) { return dav::rt::destroy_stream(stream, true); }

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return dav::rt::destroy_stream(stream, false);
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return aclrtSynchronizeStreamWithTimeout(stream, -1);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream handle, int32_t timeout) {
  const auto stream = find_stream(handle);
  if (!stream) return no_stream("aclrtSynchronizeStream", handle);
  return synchronize("aclrtSynchronizeStream", *stream, timeout);
}

aclError aclrtStreamQuery(aclrtStream handle, aclrtStreamStatus* status) {
  if (!status) return fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamQuery: status is null");
  const auto stream = find_stream(handle);
  if (!stream) return no_stream("aclrtStreamQuery", handle);
  *status = stream->idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return pending_error(*stream);
}

aclError aclrtSynchronizeDevice() { return aclrtSynchronizeDeviceWithTimeout(-1); }

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  const int device = dav::rt::current_device();
  if (device < 0) {
    return fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtSynchronizeDevice: this thread has no context");
  }
  aclError first = ACL_SUCCESS;
  std::string message;
  for (const auto& stream : dav::rt::streams_of(device)) {
    if (!stream->drain(limit_of(timeout))) {
      return fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                  "aclrtSynchronizeDevice: not finished after %d ms", timeout);
    }
    const StreamError error = stream->error(true);
    if (error.code && !first) first = error.code, message = error.message;
  }
  return first ? fail(first, "%s", message.c_str()) : ACL_SUCCESS;
}

aclError aclrtCreateEvent(aclrtEvent* event) { return dav::rt::create_event(event); }

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t) {
  return dav::rt::create_event(event);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t) {
  return dav::rt::create_event(event);
}

aclError aclrtDestroyEvent(aclrtEvent event) { return dav::rt::destroy_event(event); }

aclError aclrtRecordEvent(aclrtEvent handle, aclrtStream stream_handle) {
  const auto event = find_event(handle);
  if (!event) return no_event("aclrtRecordEvent", handle);
  const auto stream = find_stream(stream_handle);
  if (!stream) return no_stream("aclrtRecordEvent", stream_handle);
  const uint64_t record = event->begin_record();
  // Completed even after a failed task: a waiter must never hang on another stream's error.
  stream->push([event, record] { event->complete(record); }, true);
  return pending_error(*stream);
}

aclError aclrtResetEvent(aclrtEvent handle, aclrtStream stream_handle) {
  const auto event = find_event(handle);
  if (!event) return no_event("aclrtResetEvent", handle);
  const auto stream = find_stream(stream_handle);
  if (!stream) return no_stream("aclrtResetEvent", stream_handle);
  stream->push([event] { event->reset(); }, true);
  return ACL_SUCCESS;
}

aclError aclrtStreamWaitEvent(aclrtStream stream_handle, aclrtEvent handle) {
  const auto event = find_event(handle);
  if (!event) return no_event("aclrtStreamWaitEvent", handle);
  const auto stream = find_stream(stream_handle);
  if (!stream) return no_stream("aclrtStreamWaitEvent", stream_handle);
  const uint64_t record = event->newest();
  stream->push([event, record] { event->wait(record); }, true);
  return pending_error(*stream);
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return aclrtSynchronizeEventWithTimeout(event, -1);
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent handle, int32_t timeout) {
  const auto event = find_event(handle);
  if (!event) return no_event("aclrtSynchronizeEvent", handle);
  if (!event->wait(event->newest(), limit_of(timeout))) {
    return fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "aclrtSynchronizeEvent: not reached after %d ms",
                timeout);
  }
  return ACL_SUCCESS;
}

aclError aclrtQueryEvent(aclrtEvent handle, aclrtEventStatus* status) {
  if (!status) return fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEvent: status is null");
  const auto event = find_event(handle);
  if (!event) return no_event("aclrtQueryEvent", handle);
  *status = event->done(event->newest()) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtQueryEventStatus(aclrtEvent handle, aclrtEventRecordedStatus* status) {
  if (!status) return fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventStatus: status is null");
  const auto event = find_event(handle);
  if (!event) return no_event("aclrtQueryEventStatus", handle);
  const uint64_t newest = event->newest();
  // An event nobody recorded is not ready (API reference).
  *status = newest > 0 && event->done(newest) ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                              : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent start_handle, aclrtEvent end_handle) {
  if (!ms) return fail(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime: ms is null");
  const auto start = find_event(start_handle);
  if (!start) return no_event("aclrtEventElapsedTime", start_handle);
  const auto end = find_event(end_handle);
  if (!end) return no_event("aclrtEventElapsedTime", end_handle);
  const auto from = start->timestamp();
  const auto to = end->timestamp();
  if (!from || !to) {
    return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                "aclrtEventElapsedTime: the %s event has not been reached", from ? "end" : "start");
  }
  if (*to < *from) {
    return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL,
                "aclrtEventElapsedTime: the end event was reached before the start event");
  }
  *ms = std::chrono::duration<float, std::milli>(*to - *from).count();
  return ACL_SUCCESS;
}

}  // extern "C"
