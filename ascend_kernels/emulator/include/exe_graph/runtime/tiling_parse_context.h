// The context of a tiling parse function.
#pragma once

#include "exe_graph/runtime/extended_kernel_context.h"

namespace fe {
class PlatFormInfos;
}

namespace gert {

class TilingParseContext : public ExtendedKernelContext {
 public:
  TilingParseContext(NodeData* node, fe::PlatFormInfos* platform)
      : ExtendedKernelContext(node), platform_(platform) {}
  fe::PlatFormInfos* GetPlatformInfo() const { return platform_; }

 private:
  fe::PlatFormInfos* platform_;
};

}  // namespace gert
