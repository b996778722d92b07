# Helpers that keep each component's CMakeLists.txt to one line per target.

add_library(turntable_options INTERFACE)
target_include_directories(turntable_options INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_options(turntable_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion
                                                   -Wno-sign-conversion -Wshadow)
target_link_libraries(turntable_options INTERFACE Threads::Threads)
# A program needs only the shared libraries that it calls: not AF_XDP's because others of its library do.
target_link_options(turntable_options INTERFACE -Wl,--as-needed)

# Half the time of the compiler; what is tested is in libraries, which have -O2.
set(TURNTABLE_TEST_OPTIONS -O1)
include(CompileTogether)

# turntable_library(NAME SOURCES... [LINK targets...]): a static library `turntable_NAME`.
function(turntable_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(turntable_${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(turntable_${name} PUBLIC turntable_options ${ARG_LINK})
  turntable_compiled_as(turntable_${name} library)
endfunction()

# turntable_program(NAME SOURCES... [LINK targets...]): an executable build/bin/NAME.
function(turntable_program name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE turntable_options ${ARG_LINK})
  turntable_compiled_as(${name} program)
endfunction()

# turntable_test(NAME SOURCES... [LINK targets...]): a GoogleTest binary run by ctest.
function(turntable_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_compile_options(${name} PRIVATE ${TURNTABLE_TEST_OPTIONS})
  target_link_libraries(${name} PRIVATE turntable_options GTest::gtest_main GTest::gtest ${ARG_LINK})
  turntable_compiled_as(${name} test)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()
