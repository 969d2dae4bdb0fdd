// The whole vector API.
#pragma once

#include "ascendc/vector_binary.h"
#include "ascendc/vector_binary_cast.h"
#include "ascendc/vector_cast.h"
#include "ascendc/vector_common.h"
#include "ascendc/vector_compare.h"
#include "ascendc/vector_fill.h"
#include "ascendc/vector_gather.h"
#include "ascendc/vector_operators.h"
#include "ascendc/vector_reduce.h"
#include "ascendc/vector_scalar.h"
#include "ascendc/vector_sort.h"
#include "ascendc/vector_transpose.h"
#include "ascendc/vector_unary.h"
