// Devices, contexts and the handles a caller may hold. Handles are looked up, never dereferenced
// blindly, so that a stale one is an error code instead of a crash.
#pragma once

#include <memory>
#include <vector>

#include "acl/acl_base.h"
#include "runtime/acl/stream.h"

namespace dav::rt {

int device_count();

// Thread's current context; null handle when it has none and no default device is configured.
aclrtContext current_context();
void set_default_device(int device);  // from aclInit's configuration

aclError set_device(int device);
aclError reset_device(int device, bool force);
aclError create_context(aclrtContext* out, int device);
aclError destroy_context(aclrtContext context);
aclError set_current_context(aclrtContext context);
int device_of(aclrtContext context);  // -1 when unknown

aclError create_stream(aclrtStream* out);
aclError destroy_stream(aclrtStream stream, bool drain);
// Null handle: the default stream of the current context. Null result: unknown handle.
std::shared_ptr<Stream> find_stream(aclrtStream stream);
std::vector<std::shared_ptr<Stream>> streams_of(int device);
void destroy_everything();

aclError create_event(aclrtEvent* out);
aclError destroy_event(aclrtEvent event);
std::shared_ptr<Event> find_event(aclrtEvent event);

}  // namespace dav::rt
