# Headers that most sources include, parsed once for each way to compile: a quarter of the compiler's time. A source includes what
# it uses all the same: builds without these (under a compiler launcher such as ccache, which could not keep what is
# compiled with them, and under sanitizers) and clang-tidy notice one that does not.

option(TURNTABLE_PRECOMPILE "Parse common headers once; never with a compiler launcher" OFF)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(TURNTABLE_PRECOMPILE OFF)
endif()

# turntable_precompiled(TARGET KIND): TARGET takes the headers of KIND: library, program or test.
function(turntable_precompiled target kind)
  if(TURNTABLE_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM precompiled_${kind})
  endif()
endfunction()

if(NOT TURNTABLE_PRECOMPILE)
  return()
endif()

set(TURNTABLE_COMMON_HEADERS
  <algorithm> <array> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional> <map> <memory> <optional> <set> <span>
  <stdexcept> <string> <string_view> <thread> <utility> <vector> <nlohmann/json.hpp>)

# Some libraries of others bring this option, which defines _REENTRANT; headers that are parsed once need it everywhere.
target_compile_options(turntable_options INTERFACE -pthread)

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
