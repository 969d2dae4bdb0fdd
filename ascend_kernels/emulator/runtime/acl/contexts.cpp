#include "runtime/acl/contexts.h"

#include <exception>
#include <map>
#include <mutex>
#include <unordered_map>

#include "core/settings.h"
#include "runtime/acl/internal.h"

namespace dav::rt {
namespace {

struct Context {
  int device = 0;
  std::shared_ptr<Stream> default_stream;
};

struct Handles {
  std::mutex mutex;
  std::unordered_map<void*, std::shared_ptr<Context>> contexts;
  std::unordered_map<void*, std::shared_ptr<Stream>> streams;
  std::unordered_map<void*, std::shared_ptr<Event>> events;
  std::map<int, void*> primary;  // device -> the context aclrtSetDevice gives out
  std::map<int, int> set_device_count;
  int default_device = -1;
};

// Never destroyed, so that worker threads may still run while the process exits.
Handles& handles() {
  static Handles* instance = new Handles;
  return *instance;
}

thread_local void* t_context = nullptr;

void* add_context(Handles& h, int device) {
  auto context = std::make_shared<Context>();
  context->device = device;
  context->default_stream = std::make_shared<Stream>(device);
  void* key = context.get();
  h.contexts[key] = std::move(context);
  return key;
}

void* primary_context(Handles& h, int device) {
  void*& slot = h.primary[device];
  if (!slot) slot = add_context(h, device);
  return slot;
}

aclError check_device(const char* function, int device) {
  if (device >= 0 && device < device_count()) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_INVALID_DEVICEID, "%s: device %d does not exist, there are %d", function,
              device, device_count());
}

}  // namespace

int device_count() {
  static const int count = [] {
    try {
      return setting_devices();
    } catch (const std::exception&) {
      return 0;  // aclInit says why
    }
  }();
  return count;
}

aclrtContext current_context() {
  Handles& h = handles();
  std::lock_guard<std::mutex> lock(h.mutex);
  if (t_context && h.contexts.count(t_context)) return t_context;
  t_context = nullptr;
  if (h.default_device >= 0) t_context = primary_context(h, h.default_device);
  return t_context;
}

int current_device() { return device_of(current_context()); }

void set_default_device(int device) {
  Handles& h = handles();
  std::lock_guard<std::mutex> lock(h.mutex);
  h.default_device = device;
}

aclError set_device(int device) {
  if (aclError error = check_environment("aclrtSetDevice")) return error;
  if (aclError error = check_device("aclrtSetDevice", device)) return error;
  Handles& h = handles();
  std::lock_guard<std::mutex> lock(h.mutex);
  ++h.set_device_count[device];
  t_context = primary_context(h, device);
  return ACL_SUCCESS;
}

aclError reset_device(int device, bool force) {
  if (aclError error = check_device("aclrtResetDevice", device)) return error;
  Handles& h = handles();
  std::shared_ptr<Context> gone;
  {
    std::lock_guard<std::mutex> lock(h.mutex);
    int& count = h.set_device_count[device];
    if (count > 0) --count;
    if (count > 0 && !force) return ACL_SUCCESS;
    count = 0;
    const auto primary = h.primary.find(device);
    if (primary == h.primary.end()) return ACL_SUCCESS;
    const auto it = h.contexts.find(primary->second);
    gone = it->second;
    h.contexts.erase(it);
    h.primary.erase(primary);
  }
  gone->default_stream->drain();
  return ACL_SUCCESS;
}

aclError create_context(aclrtContext* out, int device) {
  if (!out) return fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext: context is null");
  if (aclError error = check_device("aclrtCreateContext", device)) return error;
  Handles& h = handles();
  std::lock_guard<std::mutex> lock(h.mutex);
  *out = t_context = add_context(h, device);
  return ACL_SUCCESS;
}

aclError destroy_context(aclrtContext context) {
  Handles& h = handles();
  std::shared_ptr<Context> gone;
  {
    std::lock_guard<std::mutex> lock(h.mutex);
    const auto it = h.contexts.find(context);
    if (it == h.contexts.end()) {
      return fail(ACL_ERROR_INVALID_PARAM, "aclrtDestroyContext: %p is no live context", context);
    }
    for (const auto& primary : h.primary) {
      if (primary.second == context) {
        return fail(ACL_ERROR_INVALID_PARAM,
                    "aclrtDestroyContext: the default context of device %d goes with the device",
                    primary.first);
      }
    }
    gone = it->second;
    h.contexts.erase(it);
  }
  gone->default_stream->drain();
  return ACL_SUCCESS;
}

aclError set_current_context(aclrtContext context) {
  Handles& h = handles();
  std::lock_guard<std::mutex> lock(h.mutex);
  if (!h.contexts.count(context)) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtSetCurrentContext: %p is no live context", context);
  }
  t_context = context;
  return ACL_SUCCESS;
}

int device_of(aclrtContext context) {
  Handles& h = handles();
  std::lock_guard<std::mutex> lock(h.mutex);
  const auto it = h.contexts.find(context);
  return it == h.contexts.end() ? -1 : it->second->device;
}

aclError create_stream(aclrtStream* out) {
  if (!out) return fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateStream: stream is null");
  const int device = current_device();
  if (device < 0) {
    return fail(ACL_ERROR_RT_CONTEXT_NULL,
                "aclrtCreateStream: this thread has no context; call aclrtSetDevice first");
  }
  auto stream = std::make_shared<Stream>(device);
  Handles& h = handles();
  std::lock_guard<std::mutex> lock(h.mutex);
  *out = stream.get();
  h.streams[stream.get()] = std::move(stream);
  return ACL_SUCCESS;
}

aclError destroy_stream(aclrtStream handle, bool drain) {
  Handles& h = handles();
  std::shared_ptr<Stream> gone;
  {
    std::lock_guard<std::mutex> lock(h.mutex);
    const auto it = h.streams.find(handle);
    if (it == h.streams.end()) {
      return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyStream: %p is no live stream", handle);
    }
    gone = it->second;
    h.streams.erase(it);
  }
  if (drain) gone->drain();
  return ACL_SUCCESS;
}

std::shared_ptr<Stream> find_stream(aclrtStream handle) {
  const aclrtContext context = handle ? nullptr : current_context();
  Handles& h = handles();
  std::lock_guard<std::mutex> lock(h.mutex);
  if (!handle) {
    const auto it = h.contexts.find(context);
    return it == h.contexts.end() ? nullptr : it->second->default_stream;
  }
  const auto it = h.streams.find(handle);
  return it == h.streams.end() ? nullptr : it->second;
}

std::vector<std::shared_ptr<Stream>> streams_of(int device) {
  Handles& h = handles();
  std::lock_guard<std::mutex> lock(h.mutex);
  std::vector<std::shared_ptr<Stream>> result;
  for (const auto& entry : h.contexts) {
    if (entry.second->device == device) result.push_back(entry.second->default_stream);
  }
  for (const auto& entry : h.streams) {
    if (entry.second->device() == device) result.push_back(entry.second);
  }
  return result;
}

void destroy_everything() {
  Handles& h = handles();
  std::unordered_map<void*, std::shared_ptr<Context>> contexts;
  std::unordered_map<void*, std::shared_ptr<Stream>> streams;
  {
    std::lock_guard<std::mutex> lock(h.mutex);
    contexts.swap(h.contexts);
    streams.swap(h.streams);
    h.primary.clear();
    h.set_device_count.clear();
    h.default_device = -1;
  }
  for (const auto& entry : contexts) entry.second->default_stream->drain();
  for (const auto& entry : streams) entry.second->drain();
}

aclError create_event(aclrtEvent* out) {
  if (!out) return fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateEvent: event is null");
  auto event = std::make_shared<Event>();
  Handles& h = handles();
  std::lock_guard<std::mutex> lock(h.mutex);
  *out = event.get();
  h.events[event.get()] = std::move(event);
  return ACL_SUCCESS;
}

aclError destroy_event(aclrtEvent handle) {
  Handles& h = handles();
  std::lock_guard<std::mutex> lock(h.mutex);
  if (h.events.erase(handle) == 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyEvent: %p is no live event", handle);
  }
  return ACL_SUCCESS;
}

std::shared_ptr<Event> find_event(aclrtEvent handle) {
  Handles& h = handles();
  std::lock_guard<std::mutex> lock(h.mutex);
  const auto it = h.events.find(handle);
  return it == h.events.end() ? nullptr : it->second;
}

}  // namespace dav::rt
