# What frameworks built for CANN link or open by name beyond the runtime: libopapi with the few
# operators that tensors need to be filled and copied, and libraries that only have to exist.
toolkit_library(opapi FOLDERS runtime/opapi LINK nnopbase ascendcl davinci_emulator)
# Callers look the descriptors' functions up in this library's handle.
target_link_options(opapi PRIVATE LINKER:--no-as-needed)
set(framework_libraries opapi)

file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/empty_shell.cpp" "")
foreach(name hccl acl_op_compiler ge_runner graph acl_tdt_channel)
  set(source "runtime/shells/${name}.cpp")
  if(NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
    set(source "${CMAKE_CURRENT_BINARY_DIR}/empty_shell.cpp")
  endif()
  add_library(${name} SHARED ${source})
  target_link_libraries(${name} PRIVATE toolkit_flags ascendcl)
  target_link_options(${name} PRIVATE LINKER:--no-as-needed -Wl,--no-undefined)
  install(TARGETS ${name} LIBRARY DESTINATION lib64)
  list(APPEND framework_libraries ${name})
endforeach()

# Looked for by torch_npu when ASCEND_HOME_PATH is set. A wheel drops empty folders.
install(FILES toolchain/version.info DESTINATION runtime)
install(DIRECTORY DESTINATION compiler)
