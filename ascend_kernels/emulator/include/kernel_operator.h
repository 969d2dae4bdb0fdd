// The Ascend C kernel API.
#pragma once

#include "ascendc/base.h"
#include "ascendc/tensor.h"
#include "ascendc/sync.h"
#include "ascendc/block_order.h"
#include "ascendc/scalar_gm.h"
#include "ascendc/utilities.h"
#if __has_include("ascendc/debug.h")
#include "ascendc/debug.h"
#endif
#include "ascendc/pipe.h"
#include "ascendc/buffer_pool.h"
#include "ascendc/data_copy.h"
#include "ascendc/data_copy_slice.h"
#include "ascendc/load_data.h"
#include "ascendc/mmad.h"
#include "ascendc/fixpipe.h"
#include "ascendc/vector.h"
#include "ascendc/tiling.h"
#include "ascendc/debug.h"
