# Host side: code generation from the op definitions, and the libraries compiled from them.

# npu_op_code_gen(SRC <file>... OUT_DIR <path> PACKAGE <name> [COMPILE_OPTIONS <option>...]
#   [JOIN_OP_DEF <bool>])
# Runs while configuring, because what it generates is globbed by the caller.
function(npu_op_code_gen)
  cmake_parse_arguments(arg "" "OUT_DIR;PACKAGE;JOIN_OP_DEF" "SRC;COMPILE_OPTIONS" ${ARGN})
  foreach(name SRC OUT_DIR PACKAGE)
    if(NOT arg_${name})
      message(FATAL_ERROR "npu_op_code_gen: ${name} is missing")
    endif()
  endforeach()
  set(sources)
  foreach(source IN LISTS arg_SRC)
    get_filename_component(source "${source}" ABSOLUTE)
    list(APPEND sources "${source}")
  endforeach()
  # The definitions decide what is generated: an edit of any of them configures anew.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})

  file(MAKE_DIRECTORY "${arg_OUT_DIR}")
  set(library "${arg_OUT_DIR}/libascend_all_ops.so")
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++17 -O0 -fPIC -shared ${arg_COMPILE_OPTIONS}
            "-I${ASCEND_CANN_PACKAGE_PATH}/include" ${sources}
            "-L${ASCEND_CANN_PACKAGE_PATH}/lib64" -lnnopbase -lascendcl -o "${library}"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "npu_op_code_gen: the op definitions do not compile:\n${output}")
  endif()
  execute_process(
    COMMAND "${ASCEND_CANN_PACKAGE_PATH}/tools/opbuild/op_build" "${library}" "${arg_OUT_DIR}"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "npu_op_code_gen: ${output}")
  endif()
  set_property(GLOBAL PROPERTY _ASC_PKG_${arg_PACKAGE}_AUTOGEN "${arg_OUT_DIR}")
endfunction()

# npu_op_library(<name> <ACLNN|TILING|GRAPH> <file>...); TYPE may precede the kind.
function(npu_op_library name)
  set(arguments ${ARGN})
  list(GET arguments 0 kind)
  list(REMOVE_AT arguments 0)
  if(kind STREQUAL "TYPE")
    list(GET arguments 0 kind)
    list(REMOVE_AT arguments 0)
  endif()
  string(TOUPPER "${kind}" kind)
  if(kind MATCHES "^(TF_PLUGIN|ONNX_PLUGIN)$")
    message(WARNING "npu_op_library(${name}): ${kind} is left out, this toolkit has no graph framework")
    add_library(${name} INTERFACE)
    set_property(GLOBAL PROPERTY _ASC_LIB_${name}_KIND LEFT_OUT)
    return()
  elseif(NOT kind MATCHES "^(ACLNN|TILING|GRAPH)$")
    message(FATAL_ERROR "npu_op_library(${name}): '${kind}' is none of ACLNN, TILING, GRAPH")
  endif()
  cmake_parse_arguments(arg "" "" "CONFIG" ${arguments})
  add_library(${name} OBJECT ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PRIVATE intf_pub)
  if(kind STREQUAL "TILING")
    target_compile_definitions(${name} PRIVATE OP_TILING_LIB)
  elseif(kind STREQUAL "GRAPH")
    target_compile_definitions(${name} PRIVATE OP_PROTO_LIB)
  endif()
  set_property(GLOBAL PROPERTY _ASC_LIB_${name}_KIND ${kind})
endfunction()

# npu_op_device_tiling_library(<name> <SHARED|STATIC> <file>...)
function(npu_op_device_tiling_library name)
  message(FATAL_ERROR "npu_op_device_tiling_library(${name}): tiling on the device's own CPU is not emulated")
endfunction()

function(_asc_add_host_library package library kind root)
  get_property(autogen GLOBAL PROPERTY _ASC_PKG_${package}_AUTOGEN)
  if(kind STREQUAL "TILING")
    set(output cust_opmaster_rt2.0)
    set(folder op_impl/ai_core/tbe/op_tiling)
    set(library_folder "${folder}/lib/linux/${CMAKE_SYSTEM_PROCESSOR}")
  elseif(kind STREQUAL "GRAPH")
    set(output cust_opsproto_rt2.0)
    set(library_folder "op_proto/lib/linux/${CMAKE_SYSTEM_PROCESSOR}")
    if(EXISTS "${autogen}/op_proto.h")
      install(FILES "${autogen}/op_proto.h" DESTINATION "${root}/op_proto/inc")
    endif()
  else()
    set(output cust_opapi)
    set(library_folder op_api/lib)
    file(GLOB headers "${autogen}/aclnn_*.h")
    install(FILES ${headers} DESTINATION "${root}/op_api/include")
  endif()

  set(shared ${package}_ascendc_${library})
  add_library(${shared} SHARED $<TARGET_OBJECTS:${library}>)
  set_target_properties(${shared} PROPERTIES
    OUTPUT_NAME ${output} LINKER_LANGUAGE CXX SKIP_BUILD_RPATH ON
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/host_libraries")
  target_link_libraries(${shared} PRIVATE intf_pub nnopbase ascendcl)
  # The toolkit's libraries are found by its rpath when linking, and by the process at run time.
  target_link_options(${shared} PRIVATE "-Wl,-rpath-link,${ASCEND_CANN_PACKAGE_PATH}/lib64")
  install(TARGETS ${shared} LIBRARY DESTINATION "${root}/${library_folder}")

  if(TARGET package)
    add_dependencies(package ${shared})
  endif()

  if(kind STREQUAL "TILING")
    file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/host_libraries")
    set(link "${CMAKE_BINARY_DIR}/host_libraries/liboptiling.so")
    execute_process(COMMAND ${CMAKE_COMMAND} -E create_symlink
      "lib/linux/${CMAKE_SYSTEM_PROCESSOR}/lib${output}.so" "${link}")
    install(FILES "${link}" DESTINATION "${root}/${folder}")
  endif()
endfunction()
