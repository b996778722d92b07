# A build from nothing in about half of the time: headers that most sources include are parsed once for each way to compile, and
# the sources of a target are compiled some at a time as one. A source includes what it uses, and names in unnamed
# namespaces are unique in a component, all the same: builds without this (under a compiler launcher such as ccache, which
# keeps single sources better, and under sanitizers) and clang-tidy notice a missing include.

option(TURNTABLE_COMPILE_TOGETHER "Parse common headers once, compile sources together; never with a compiler launcher" OFF)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(TURNTABLE_COMPILE_TOGETHER OFF)
endif()

# turntable_together(TARGET): its sources, eight at a time.
function(turntable_together target)
  if(TURNTABLE_COMPILE_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# turntable_compiled_as(TARGET KIND): so, with the headers of KIND: library, program or test.
function(turntable_compiled_as target kind)
  turntable_together(${target})
  if(TURNTABLE_COMPILE_TOGETHER)
    target_precompile_headers(${target} REUSE_FROM precompiled_${kind})
  endif()
endfunction()

if(NOT TURNTABLE_COMPILE_TOGETHER)
  return()
endif()

set(TURNTABLE_COMMON_HEADERS
  <algorithm> <array> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional> <map> <memory> <optional> <set> <span>
  <stdexcept> <string> <string_view> <thread> <utility> <vector> <nlohmann/json.hpp>)

# Some libraries of others bring these, -pthread with _REENTRANT; headers that are parsed once need them everywhere.
target_compile_options(turntable_options INTERFACE -pthread)
target_compile_definitions(turntable_options INTERFACE _FILE_OFFSET_BITS=64)

# Lambdas of coroutines have no linkage; GCC says so of every source but that which it was called with.
target_compile_options(turntable_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)

# They differ in their options: position-independent or of a program, and how far they are optimised.
set(nothing "${CMAKE_BINARY_DIR}/generated/nothing.cc")
file(WRITE "${nothing}.new" "int main() {}\n")
file(COPY_FILE "${nothing}.new" "${nothing}" ONLY_IF_DIFFERENT)
add_library(precompiled_library STATIC EXCLUDE_FROM_ALL "${nothing}")
add_executable(precompiled_program EXCLUDE_FROM_ALL "${nothing}")
add_executable(precompiled_test EXCLUDE_FROM_ALL "${nothing}")
foreach(kind library program test)
  # Not among the programs.
  set_target_properties(precompiled_${kind} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/precompiled")
  target_link_libraries(precompiled_${kind} PRIVATE turntable_options nlohmann_json::nlohmann_json)
  target_precompile_headers(precompiled_${kind} PRIVATE ${TURNTABLE_COMMON_HEADERS})
endforeach()
target_link_libraries(precompiled_test PRIVATE GTest::gtest)
target_compile_options(precompiled_test PRIVATE ${TURNTABLE_TEST_OPTIONS})
target_precompile_headers(precompiled_test PRIVATE <gtest/gtest.h>)
