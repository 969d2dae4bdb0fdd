# Variables a package's CMakeLists.txt may set before find_package(ASC), and those it may use after.

# Op packages ask for the package inside their project. Programs with kernels of their own ask
# before it, and keep CMake's default, under which assert() in kernels is alive.
if(NOT CMAKE_BUILD_TYPE AND PROJECT_NAME)
  set(CMAKE_BUILD_TYPE Release)
endif()
if(NOT DEFINED vendor_name)
  set(vendor_name customize CACHE STRING "Vendor folder of the package")
endif()
if(NOT DEFINED ASCEND_COMPUTE_UNIT)
  set(ASCEND_COMPUTE_UNIT ascend910b CACHE STRING "Chips to build kernels for")
endif()
if(NOT DEFINED ENABLE_SOURCE_PACKAGE)
  set(ENABLE_SOURCE_PACKAGE TRUE CACHE BOOL "Put kernel sources into the package")
endif()
if(NOT DEFINED ENABLE_BINARY_PACKAGE)
  set(ENABLE_BINARY_PACKAGE TRUE CACHE BOOL "Put kernel binaries into the package")
endif()
if(NOT DEFINED ASCEND_PYTHON_EXECUTABLE)
  set(ASCEND_PYTHON_EXECUTABLE python3 CACHE STRING "Python that runs the kernel compiler")
endif()
set(ASCEND_AUTOGEN_PATH "${CMAKE_BINARY_DIR}/autogen")
file(MAKE_DIRECTORY "${ASCEND_AUTOGEN_PATH}")

# Chip families with their architecture; the ones with a dash have no kernels in this toolkit.
set(_ASC_UNITS
  ascend910=1001 ascend910b=2201 ascend910_93=2201 ascend950=-
  ascend310b=- ascend310p=- ascend610=- ascend610lite=- ascend910_96=- ascend350=-
  bs9sx1a=- bs9sx2a=- mc61am21a=- mc62=- kirinx90=- kirin9030=- mc32dm11a=-)

# Sets `output` to the units of ASCEND_COMPUTE_UNIT kernels can be compiled for.
function(_asc_buildable_units output)
  set(result)
  foreach(unit IN LISTS ASCEND_COMPUTE_UNIT)
    set(known FALSE)
    foreach(entry IN LISTS _ASC_UNITS)
      if(entry MATCHES "^${unit}=(.*)$")
        set(known TRUE)
        if(CMAKE_MATCH_1 STREQUAL "-")
          get_property(told GLOBAL PROPERTY _ASC_TOLD_${unit})
          if(NOT told)
            message(WARNING "No kernel is built for ${unit}: this toolkit does not implement it")
            set_property(GLOBAL PROPERTY _ASC_TOLD_${unit} TRUE)
          endif()
        else()
          list(APPEND result ${unit})
        endif()
      endif()
    endforeach()
    if(NOT known)
      message(FATAL_ERROR "ASCEND_COMPUTE_UNIT ${unit} is unknown. Known: ${_ASC_UNITS}")
    endif()
  endforeach()
  set(${output} ${result} PARENT_SCOPE)
endfunction()

# What host libraries are compiled and linked with.
if(NOT TARGET intf_pub)
  add_library(intf_pub INTERFACE)
  target_compile_features(intf_pub INTERFACE cxx_std_17)
  target_compile_options(intf_pub INTERFACE -fPIC -fvisibility=hidden -fvisibility-inlines-hidden)
  target_include_directories(intf_pub SYSTEM INTERFACE "${ASCEND_CANN_PACKAGE_PATH}/include")
  target_link_directories(intf_pub INTERFACE "${ASCEND_CANN_PACKAGE_PATH}/lib64")
  target_link_options(intf_pub INTERFACE -Wl,-z,now -Wl,--no-undefined)
endif()
