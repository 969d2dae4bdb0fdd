// Marks what the emulator library exports; everything else is compiled hidden.
#pragma once

#define DAV_API __attribute__((visibility("default")))
