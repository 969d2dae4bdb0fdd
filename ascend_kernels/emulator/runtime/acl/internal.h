// What the other toolkit libraries may ask of the runtime beyond the C API.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "acl/acl_base.h"
#include "dav/api.h"

namespace dav::rt {

// A queued task that failed: the code its stream reports and the text behind it.
class TaskError : public std::runtime_error {
 public:
  TaskError(aclError code, const std::string& message) : std::runtime_error(message), code_(code) {}
  aclError code() const { return code_; }

 private:
  aclError code_;
};

// Remembers the text for aclGetRecentErrMsg on this thread and returns the code. printf-style.
DAV_API aclError fail(aclError code, const char* format, ...) __attribute__((format(printf, 2, 3)));

// An unusable environment variable as an error of `function`, which begins a program's use of the
// device.
aclError check_environment(const char* function);

// Queues a task on a stream (null: the default stream of the current context). Whatever it throws
// becomes the stream's error.
DAV_API aclError enqueue(aclrtStream stream, std::function<void()> task);

// Device of the calling thread's context, -1 when it has none.
DAV_API int current_device();

}  // namespace dav::rt
