// The basic part of the Ascend C kernel API; here the same as the whole.
#pragma once

#include "kernel_operator.h"
