// What the ASC compiler driver includes in front of every source.
#pragma once

#include "dav/asc_launch.h"
#ifdef DAV_ASC_DEVICE
#include "dav/asc_image.h"
#endif

// The driver puts the declaration of the source's module in the place of this line.
__dav_prologue_ends__
