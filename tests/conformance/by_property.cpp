// A launch in a source that is ASC by its LANGUAGE property.
#include "check.h"
#include "kernel_operator.h"

__global__ __vector__ void store(__gm__ uint8_t* dst, int32_t value) {
  AscendC::GlobalTensor<int32_t> out;
  out.SetGlobalBuffer((__gm__ int32_t*)dst);
  out.SetValue(0, value);
}

int main() {
  check::Session session;
  check::Device<int32_t> out(8);
  store<<<1, 0, session.stream>>>(out.Addr(), 42);
  session.Done("store");
  check::That("store", out.Read()[0] == 42);
  return check::Result();
}
