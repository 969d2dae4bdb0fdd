// Synchronisation between cores under its path in newer toolkits.
#pragma once

#include "kernel_operator.h"
