# GoogleTest target over tests/emulator/*.cpp of the repository.
find_package(GTest REQUIRED)
enable_testing()

get_filename_component(tests_dir "${CMAKE_CURRENT_SOURCE_DIR}/../../tests/emulator" ABSOLUTE)
file(GLOB test_sources CONFIGURE_DEPENDS "${tests_dir}/*.cpp")
if(NOT test_sources)
  message(WARNING "emulator_tests is left out: no source in ${tests_dir}")
  return()
endif()

# The generator is a program, so the parts of it under test are compiled in.
add_executable(emulator_tests EXCLUDE_FROM_ALL ${test_sources}
  toolchain/op_build/names.cpp toolchain/op_build/combinations.cpp)
target_link_libraries(emulator_tests PRIVATE toolkit_flags GTest::gtest GTest::gtest_main)
foreach(library davinci_emulator ascendcl nnopbase)
  if(TARGET ${library})
    target_link_libraries(emulator_tests PRIVATE ${library})
  endif()
endforeach()
# Unlike the libraries, tests reach internals that are not exported, so those are compiled in by
# the test that needs them.
set_target_properties(emulator_tests PROPERTIES
  BUILD_RPATH "${CMAKE_BINARY_DIR}/lib64"
  RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
add_test(NAME emulator_tests COMMAND emulator_tests)
