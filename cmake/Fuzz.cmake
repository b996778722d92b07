# Translated programs under the address and undefined-behaviour sanitizers, given malformed frames. They are no part of `make
# build`: ctest builds them first (in every preset). tests/fuzz/frame_fuzzer.cc says how to run them longer.

set(TURNTABLE_SANITIZERS -fsanitize=address,undefined -fno-sanitize-recover=undefined)
get_target_property(sources turntable_dataplane SOURCES)
list(TRANSFORM sources PREPEND "${CMAKE_SOURCE_DIR}/src/dataplane/")
add_library(turntable_dataplane_sanitized STATIC EXCLUDE_FROM_ALL ${sources})
target_compile_options(turntable_dataplane_sanitized PUBLIC ${TURNTABLE_SANITIZERS} -fno-omit-frame-pointer -g1
                                                     PRIVATE -O0)
target_link_options(turntable_dataplane_sanitized PUBLIC ${TURNTABLE_SANITIZERS})
target_link_libraries(turntable_dataplane_sanitized PUBLIC turntable_options nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
turntable_together(turntable_dataplane_sanitized)
if(TURNTABLE_COMPILE_TOGETHER)
  target_precompile_headers(turntable_dataplane_sanitized PRIVATE ${TURNTABLE_COMMON_HEADERS})
endif()

add_library(frame_fuzzer OBJECT EXCLUDE_FROM_ALL "${CMAKE_SOURCE_DIR}/tests/fuzz/frame_fuzzer.cc")
target_compile_options(frame_fuzzer PRIVATE -O0)
target_link_libraries(frame_fuzzer PUBLIC turntable_dataplane_sanitized CLI11::CLI11)

add_custom_target(fuzz_programs)
add_test(NAME build_fuzz_programs COMMAND ${CMAKE_COMMAND} --build "${CMAKE_BINARY_DIR}" --target fuzz_programs)
set_tests_properties(build_fuzz_programs PROPERTIES FIXTURES_SETUP fuzz_programs TIMEOUT 2400)

# turntable_fuzzer(SOURCE): build/tests/fuzz_NAME from a program's file NAME.p4.
function(turntable_fuzzer source)
  cmake_path(GET source STEM name)
  turntable_translate("${source}" "${CMAKE_BINARY_DIR}/generated/fuzz")
  add_executable(fuzz_${name} EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/generated/fuzz/${name}.cpp"
                                               "${CMAKE_BINARY_DIR}/generated/fuzz/${name}.stamp")
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  # Half the time of the compiler, and frames enough in some seconds.
  target_compile_options(fuzz_${name} PRIVATE ${TURNTABLE_GENERATED_CODE_OPTIONS} -O0)
  target_link_libraries(fuzz_${name} PRIVATE frame_fuzzer)
endfunction()

# The same, and its bounded run in ctest.
function(turntable_fuzz source)
  turntable_fuzzer("${source}")
  cmake_path(GET source STEM name)
  add_dependencies(fuzz_programs fuzz_${name})
  add_test(NAME fuzz_${name} COMMAND fuzz_${name} "${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name}")
  set_tests_properties(fuzz_${name} PROPERTIES FIXTURES_REQUIRED fuzz_programs TIMEOUT 300)
endfunction()
