# find_package(ASC): functions for building custom operator packages, and the language ASC.
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/asc_language")
if(COMMAND npu_op_package)
  return()
endif()

get_filename_component(_asc_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(ASCEND_CANN_PACKAGE_PATH "${_asc_root}" CACHE PATH "Toolkit root" FORCE)
set(ASCENDC_CMAKE_SCRIPTS_PATH "${CMAKE_CURRENT_LIST_DIR}" CACHE INTERNAL "")
unset(_asc_root)

include("${CMAKE_CURRENT_LIST_DIR}/modules/settings.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/modules/package.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/modules/host.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/modules/kernel.cmake")
