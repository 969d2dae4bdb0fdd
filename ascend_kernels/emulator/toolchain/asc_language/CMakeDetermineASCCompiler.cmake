# Finds the ASC compiler driver of the toolkit this module lies in.
if(NOT CMAKE_ASC_COMPILER)
  find_program(CMAKE_ASC_COMPILER NAMES ascc PATHS "${CMAKE_CURRENT_LIST_DIR}/../../../../bin"
               NO_DEFAULT_PATH DOC "ASC compiler")
endif()
if(NOT CMAKE_ASC_COMPILER)
  message(FATAL_ERROR "No ASC compiler at ${CMAKE_CURRENT_LIST_DIR}/../../../../bin/ascc")
endif()
mark_as_advanced(CMAKE_ASC_COMPILER)
if(NOT CMAKE_AR)
  find_program(CMAKE_AR NAMES ar)
endif()
if(NOT CMAKE_RANLIB)
  find_program(CMAKE_RANLIB NAMES ranlib)
endif()
set(CMAKE_ASC_COMPILER_ENV_VAR "ASC")
configure_file("${CMAKE_CURRENT_LIST_DIR}/CMakeASCCompiler.cmake.in"
               "${CMAKE_PLATFORM_INFO_DIR}/CMakeASCCompiler.cmake" @ONLY)
