# The toolkit tree: what a CANN installation looks like from outside.
install(DIRECTORY include/ DESTINATION include
        FILES_MATCHING PATTERN "*.h" PATTERN "launch.h" EXCLUDE)

install(DIRECTORY toolchain/ascendc_kernel_cmake DESTINATION compiler/tikcpp
        USE_SOURCE_PERMISSIONS PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY toolchain/asc_language DESTINATION compiler/tikcpp/ascendc_kernel_cmake)
install(FILES toolchain/asc_compiler/ascc.py toolchain/asc_compiler/options.py
        toolchain/asc_compiler/rewrite.py
        DESTINATION compiler/asc_compiler)
install(PROGRAMS toolchain/asc_compiler/ascc DESTINATION bin)
install(FILES toolchain/asc-config.cmake DESTINATION lib64/cmake)
install(FILES toolchain/set_env.sh toolchain/version.info DESTINATION .)
install(DIRECTORY DESTINATION opp/vendors)

file(GLOB op_build_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/toolchain/op_build/*.cpp")
add_executable(op_build ${op_build_sources})
target_link_libraries(op_build PRIVATE toolkit_flags nnopbase ascendcl)
set_target_properties(op_build PROPERTIES
  INSTALL_RPATH "$ORIGIN/../../lib64" BUILD_RPATH "${CMAKE_BINARY_DIR}/lib64"
  RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
install(TARGETS op_build RUNTIME DESTINATION tools/opbuild)

include(cmake/frameworks.cmake)

set(staged_libraries op_build ${framework_libraries})
foreach(library davinci_emulator ascendcl nnopbase)
  if(TARGET ${library})
    list(APPEND staged_libraries ${library})
  endif()
endforeach()

# Staging runs the install rules into the build tree at every build; unchanged files keep their
# time stamps, so that what depends on them is not rebuilt.
add_custom_target(toolkit ALL
  COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${ASCENDFA_STAGE_DIR}
          --component Unspecified
  COMMENT "Staging the toolkit in ${ASCENDFA_STAGE_DIR}"
  VERBATIM)
if(staged_libraries)
  add_dependencies(toolkit ${staged_libraries})
endif()

# CANN spreads over many small libraries what lies in two here. A link line may name them, so each
# is a linker script that takes in the one with its functions.
set(alias_folder "${CMAKE_CURRENT_BINARY_DIR}/aliases")
foreach(name acl_rt runtime ascendc_runtime ascend_hal ascend_dump acl_prof unified_dlog ascendalog c_sec mmpa error_manager profapi)
  file(WRITE "${alias_folder}/lib${name}.so" "INPUT(-lascendcl)\n")
  list(APPEND alias_files "${alias_folder}/lib${name}.so")
endforeach()
foreach(name register platform tiling_api graph_base exe_graph metadef)
  file(WRITE "${alias_folder}/lib${name}.so" "INPUT(-lnnopbase)\n")
  list(APPEND alias_files "${alias_folder}/lib${name}.so")
endforeach()
install(FILES ${alias_files} DESTINATION lib64)
