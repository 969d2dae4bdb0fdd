# Found through CMAKE_PREFIX_PATH as set_env.sh sets it; the package itself lies with its scripts.
include("${CMAKE_CURRENT_LIST_DIR}/../../compiler/tikcpp/ascendc_kernel_cmake/asc-config.cmake")
