// Loops compiled once per x86 level and dispatched at load time; plain functions elsewhere. Files
// that use them are compiled with DAV_LOOP_OPTIONS of CMakeLists.txt: no contraction (results would
// depend on the host), no floating-point traps or errno (loops would stay scalar).
#pragma once

#if defined(__clang__)
#define DAV_NO_DEPENDENCE _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define DAV_NO_DEPENDENCE _Pragma("GCC ivdep")
#else
#define DAV_NO_DEPENDENCE
#endif

// Sanitizers instrument before the dispatch symbols are resolved.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DAV_VECTOR_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DAV_VECTOR_CLONES
#endif
