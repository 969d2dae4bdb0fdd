// The Ascend C kernel API.
#pragma once

#include "ascendc/base.h"
#include "ascendc/block_order.h"
#include "ascendc/buffer_pool.h"
#include "ascendc/data_copy.h"
#include "ascendc/data_copy_slice.h"
#include "ascendc/debug.h"
#include "ascendc/fixpipe.h"
#include "ascendc/load_data.h"
#include "ascendc/mmad.h"
#include "ascendc/pipe.h"
#include "ascendc/scalar_gm.h"
#include "ascendc/sync.h"
#include "ascendc/tensor.h"
#include "ascendc/tiling.h"
#include "ascendc/utilities.h"
#include "ascendc/vector.h"
