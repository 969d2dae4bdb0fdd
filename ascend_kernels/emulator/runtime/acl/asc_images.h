// Kernel images that the ASC compiler driver put into host objects.
#pragma once

#include <cstdint>
#include <string>

#include "dav/asc_launch.h"

namespace dav::rt {

// What names an entry of an image, from what both sides of a launch know of it.
std::string entry_symbol(uint64_t launch, const std::string& callable, const std::string& types);

// The entry for a core kind, loading the image at first use. Null when the module has no image for
// the kind; throws TaskError when the image cannot be loaded or lacks the entry.
asc::Entry aic_entry(const asc::Module& module, const std::string& symbol);
asc::Entry aiv_entry(const asc::Module& module, const std::string& symbol);

}  // namespace dav::rt
