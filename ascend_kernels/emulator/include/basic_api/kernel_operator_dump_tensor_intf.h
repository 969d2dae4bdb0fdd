// DumpTensor and printf of kernels.
#pragma once

#include "kernel_operator.h"
