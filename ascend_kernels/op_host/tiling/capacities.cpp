#include "capacities.h"

namespace ascendfa {

Capacities Dav2201(uint32_t cube_cores) {
  Capacities capacities;
  capacities.chip = "Ascend 910B/910_93";
  capacities.cube_cores = cube_cores;
  // 512 KiB and 192 KiB less what the toolchain keeps.
  capacities.l1_bytes = 524032;
  capacities.ub_bytes = 196352;
  capacities.l0c_bytes = 128 * 1024;
  capacities.vector_cores = 2;
  return capacities;
}

Capacities Dav1001(uint32_t cores) {
  Capacities capacities;
  capacities.chip = "Ascend 910A";
  capacities.cube_cores = cores;
  capacities.l1_bytes = 1024 * 1024;
  // 256 KiB less what the kernel library works in.
  capacities.ub_bytes = 248 * 1024;
  capacities.vector_cores = 0;
  return capacities;
}

}  // namespace ascendfa
