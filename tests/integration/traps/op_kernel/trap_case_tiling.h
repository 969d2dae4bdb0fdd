#pragma once

#include <cstdint>

// A case's name as one number, on both sides.
constexpr uint64_t CaseId(const char* name) {
  uint64_t hash = 14695981039346656037ull;
  for (; *name != '\0'; ++name) hash = (hash ^ static_cast<uint8_t>(*name)) * 1099511628211ull;
  return hash;
}

// Elements of x, of z and of the user's workspace, all fp32.
constexpr uint32_t kElements = 4096;
constexpr uint32_t kWorkspaceElements = 1024;

struct TrapCaseTiling {
  uint64_t which;
};
