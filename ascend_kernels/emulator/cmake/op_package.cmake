# The op package is a project of its own: it sees the staged toolkit exactly as it would see CANN.
include(ExternalProject)

get_filename_component(op_package_dir "${CMAKE_CURRENT_SOURCE_DIR}/.." ABSOLUTE)
if(NOT EXISTS "${op_package_dir}/CMakeLists.txt")
  message(WARNING "The op package is left out: ${op_package_dir}/CMakeLists.txt does not exist")
  return()
endif()

string(REPLACE ";" "|" units_argument "${ASCENDFA_COMPUTE_UNITS}")
ExternalProject_Add(op_package
  SOURCE_DIR "${op_package_dir}"
  BINARY_DIR "${CMAKE_BINARY_DIR}/op_package"
  LIST_SEPARATOR |
  CONFIGURE_COMMAND ${CMAKE_COMMAND} -E env "ASCEND_HOME_PATH=${ASCENDFA_STAGE_DIR}"
    ${CMAKE_COMMAND} -S <SOURCE_DIR> -B <BINARY_DIR> -G ${CMAKE_GENERATOR}
      "-DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}"
      "-DCMAKE_PREFIX_PATH=${ASCENDFA_STAGE_DIR}/lib64/cmake"
      "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
      -DCMAKE_BUILD_TYPE=Release
      "-DASCEND_COMPUTE_UNIT=${units_argument}"
      "-Dvendor_name=${ASCENDFA_VENDOR}"
  BUILD_COMMAND ${CMAKE_COMMAND} -E env "ASCEND_HOME_PATH=${ASCENDFA_STAGE_DIR}"
    ${CMAKE_COMMAND} --build <BINARY_DIR> --target all binary
  INSTALL_COMMAND ${CMAKE_COMMAND} -E env "ASCEND_HOME_PATH=${ASCENDFA_STAGE_DIR}"
    ${CMAKE_COMMAND} --install <BINARY_DIR> --prefix "${CMAKE_BINARY_DIR}/op_package_tree"
  COMMAND ${CMAKE_COMMAND} "-DPACKAGES=${CMAKE_BINARY_DIR}/op_package_tree/packages"
    "-DOPP=${ASCENDFA_STAGE_DIR}/opp" "-DVENDOR=${ASCENDFA_VENDOR}"
    -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/install_vendor.cmake"
  BUILD_ALWAYS TRUE
  USES_TERMINAL_BUILD TRUE
  DEPENDS toolkit)

install(DIRECTORY "${ASCENDFA_STAGE_DIR}/opp/" DESTINATION opp COMPONENT op_package
        USE_SOURCE_PERMISSIONS)
