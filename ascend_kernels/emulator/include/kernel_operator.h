// The Ascend C kernel API.
#pragma once

#include "ascendc/base.h"
#include "ascendc/tensor.h"
#include "ascendc/sync.h"
#include "ascendc/pipe.h"
#include "ascendc/data_copy.h"
#include "ascendc/load_data.h"
#include "ascendc/mmad.h"
#include "ascendc/fixpipe.h"
#if __has_include("ascendc/vector.h")
#include "ascendc/vector.h"
#endif
#include "ascendc/tiling.h"
