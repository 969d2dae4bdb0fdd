# The toolkit tree: what a CANN installation looks like from outside.
install(DIRECTORY include/ DESTINATION include
        FILES_MATCHING PATTERN "*.h" PATTERN "launch.h" EXCLUDE)

if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/toolchain")
  install(DIRECTORY toolchain/ascendc_kernel_cmake DESTINATION compiler/tikcpp OPTIONAL
          USE_SOURCE_PERMISSIONS PATTERN "__pycache__" EXCLUDE)
  install(FILES toolchain/set_env.sh toolchain/version.info DESTINATION . OPTIONAL)
  # torch_npu looks for these folders when ASCEND_HOME_PATH is set.
  install(DIRECTORY DESTINATION runtime)
  install(DIRECTORY DESTINATION opp/vendors)
endif()

set(staged_libraries)
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
