# The driver comes with the toolkit; it is asked for its version, which needs the host compiler.
if(NOT CMAKE_ASC_COMPILER_WORKS)
  execute_process(COMMAND "${CMAKE_ASC_COMPILER}" --version
                  RESULT_VARIABLE _asc_result OUTPUT_VARIABLE _asc_version ERROR_VARIABLE _asc_error)
  if(NOT _asc_result EQUAL 0)
    message(FATAL_ERROR "The ASC compiler ${CMAKE_ASC_COMPILER} does not run:\n${_asc_error}")
  endif()
  message(STATUS "The ASC compiler: ${CMAKE_ASC_COMPILER}")
  set(CMAKE_ASC_COMPILER_WORKS 1 CACHE INTERNAL "")
endif()
