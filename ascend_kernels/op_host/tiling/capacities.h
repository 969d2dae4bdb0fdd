// Buffer sizes a plan has to fit into, per chip family.
#pragma once

#include <cstdint>
#include <string>

namespace ascendfa {

struct Capacities {
  std::string chip;         // as messages name it
  uint32_t cube_cores = 0;  // core groups of the device
  uint64_t l1_bytes = 0;    // usable by a kernel
  uint64_t l0c_bytes = 0;
  uint64_t ub_bytes = 0;      // usable by a kernel
  uint32_t vector_cores = 0;  // per cube core; 0: the core is both
};

// Architecture 2201 with the given number of cube cores, as PlatformAscendC reports its memories.
Capacities Dav2201(uint32_t cube_cores);

// Architecture 1001, whose cores are cube and vector core in one.
Capacities Dav1001(uint32_t cores);

}  // namespace ascendfa
