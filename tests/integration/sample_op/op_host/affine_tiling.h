// Tiling data in the macro form: a struct in a struct, and an array.
#pragma once

#include "register/tilingdata_base.h"

namespace optiling {

BEGIN_TILING_DATA_DEF(AffineFactors)
TILING_DATA_FIELD_DEF(float, scale);
TILING_DATA_FIELD_DEF_ARR(float, 2, offsets);
END_TILING_DATA_DEF;

BEGIN_TILING_DATA_DEF(AffineTiling)
TILING_DATA_FIELD_DEF(uint8_t, marker);
TILING_DATA_FIELD_DEF(uint32_t, elements);
TILING_DATA_FIELD_DEF_STRUCT(AffineFactors, factors);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(Affine, AffineTiling)

}  // namespace optiling
