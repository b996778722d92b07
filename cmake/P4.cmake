# P4 programs for the software target: translated by src/p4soft, compiled to a shared library that softswitch loads.

find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
file(GLOB_RECURSE P4SOFT_SOURCES CONFIGURE_DEPENDS
  "${CMAKE_SOURCE_DIR}/src/p4soft/*.py" "${CMAKE_SOURCE_DIR}/src/p4soft/include/*.p4")

# Generated code names every parameter and key, used or not, and compares as the program does. What g++ finds out about
# pointers of a large program takes it minutes, and makes no program faster.
set(TURNTABLE_GENERATED_CODE_OPTIONS
  -Wno-unused -Wno-unused-parameter -Wno-shadow -Wno-tautological-compare -Wno-type-limits
  $<$<CXX_COMPILER_ID:GNU>:-fno-tree-pta>)

# turntable_p4_numbers(SOURCE): what a P4 file declares, for C++: a target turntable_p4_numbers that brings the header
# p4/NAME.h in namespace turntable::p4.
function(turntable_p4_numbers source)
  cmake_path(GET source STEM name)
  set(include "${CMAKE_BINARY_DIR}/generated/include")
  set(header "${include}/p4/${name}.h")
  file(GLOB_RECURSE parts CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/p4/shared/*.p4")
  add_custom_command(
    OUTPUT "${header}.stamp"
    BYPRODUCTS "${header}"
    COMMAND ${CMAKE_COMMAND} -E env "PYTHONPATH=${CMAKE_SOURCE_DIR}/src" PYTHONDONTWRITEBYTECODE=1
            ${Python3_EXECUTABLE} -m p4soft constants "${source}" --namespace turntable::p4 --output "${include}/p4"
    COMMAND ${CMAKE_COMMAND} -E touch "${header}.stamp"
    DEPENDS ${parts} ${P4SOFT_SOURCES}
    COMMENT "Reading the numbers of ${name}.p4"
    VERBATIM)
  add_custom_target(p4_numbers DEPENDS "${header}.stamp")
  add_library(turntable_p4_numbers INTERFACE)
  target_include_directories(turntable_p4_numbers INTERFACE "${include}")
  add_dependencies(turntable_p4_numbers p4_numbers)
endfunction()

# turntable_translate(SOURCE OUTPUT): .../NAME.p4 -> OUTPUT/NAME.cpp, NAME.bfrt.json, NAME.p4info.txtpb and NAME.stamp.
function(turntable_translate source output)
  cmake_path(GET source STEM name)
  cmake_path(GET source PARENT_PATH directory)
  file(GLOB_RECURSE parts CONFIGURE_DEPENDS "${directory}/*.p4" "${directory}/../shared/*.p4"
       "${CMAKE_SOURCE_DIR}/p4/shared/*.p4")
  # p4soft leaves an unchanged file alone, so the stamp says that it ran.
  add_custom_command(
    OUTPUT "${output}/${name}.stamp"
    BYPRODUCTS "${output}/${name}.cpp" "${output}/${name}.bfrt.json" "${output}/${name}.p4info.txtpb"
    COMMAND ${CMAKE_COMMAND} -E env "PYTHONPATH=${CMAKE_SOURCE_DIR}/src" PYTHONDONTWRITEBYTECODE=1
            ${Python3_EXECUTABLE} -m p4soft translate "${source}" --output "${output}"
    COMMAND ${CMAKE_COMMAND} -E touch "${output}/${name}.stamp"
    DEPENDS ${parts} ${P4SOFT_SOURCES}
    COMMENT "Translating ${name}.p4"
    VERBATIM)
endfunction()

# turntable_p4_module(TARGET NAME GENERATED OUTPUT): GENERATED/NAME.cpp, which turntable_translate makes -> OUTPUT/NAME.so.
function(turntable_p4_module target name generated output)
  add_library(${target} MODULE "${generated}/${name}.cpp" "${generated}/${name}.stamp")
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME "${name}" LIBRARY_OUTPUT_DIRECTORY "${output}")
  target_link_libraries(${target} PRIVATE turntable_dataplane)
  target_compile_options(${target} PRIVATE ${TURNTABLE_GENERATED_CODE_OPTIONS})
endfunction()

# turntable_p4_library(TARGET SOURCE OUTPUT): .../NAME.p4 -> OUTPUT/NAME.so, NAME.bfrt.json and NAME.p4info.txtpb.
function(turntable_p4_library target source output)
  cmake_path(GET source STEM name)
  cmake_path(GET output FILENAME kind)
  set(generated "${CMAKE_BINARY_DIR}/generated/${kind}")
  turntable_translate("${source}" "${generated}")
  turntable_p4_module(${target} ${name} "${generated}" "${output}")
  foreach(description IN ITEMS ${name}.bfrt.json ${name}.p4info.txtpb)
    add_custom_command(
      OUTPUT "${output}/${description}"
      COMMAND ${CMAKE_COMMAND} -E copy "${generated}/${description}" "${output}/${description}"
      DEPENDS "${generated}/${name}.stamp"
      VERBATIM)
    target_sources(${target} PRIVATE "${output}/${description}")
  endforeach()
endfunction()

# turntable_p4_program(SOURCE): .../NAME.p4 -> lib/p4/NAME.so, its two descriptions and, for `softswitch --trace`
# (src/dataplane/trace.h), NAME.trace.so: quick to compile, as it need not be quick.
function(turntable_p4_program source)
  cmake_path(GET source STEM name)
  set(output "${TURNTABLE_P4_OUTPUT_DIRECTORY}")
  turntable_p4_library(p4_${name} "${source}" "${output}")
  turntable_p4_module(p4_${name}_trace ${name} "${CMAKE_BINARY_DIR}/generated/p4" "${output}")
  set_target_properties(p4_${name}_trace PROPERTIES OUTPUT_NAME "${name}.trace")
  target_compile_definitions(p4_${name}_trace PRIVATE TURNTABLE_TRACE)
  target_compile_options(p4_${name}_trace PRIVATE -O0)
endfunction()
