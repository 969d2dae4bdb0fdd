// The basic part of the Ascend C kernel API under its path in newer toolkits.
#pragma once

#include "kernel_operator.h"
