# P4 programs for the software target: translated by src/p4soft, compiled to a shared library that softswitch loads.

find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
file(GLOB_RECURSE P4SOFT_SOURCES CONFIGURE_DEPENDS
  "${CMAKE_SOURCE_DIR}/src/p4soft/*.py" "${CMAKE_SOURCE_DIR}/src/p4soft/include/*.p4")

# turntable_p4_program(NAME): p4/NAME/NAME.p4 -> ${TURNTABLE_P4_OUTPUT_DIRECTORY}/NAME.so and NAME.bfrt.json.
function(turntable_p4_program name)
  set(source "${CMAKE_SOURCE_DIR}/p4/${name}/${name}.p4")
  set(generated "${CMAKE_BINARY_DIR}/generated/p4")
  set(schema "${TURNTABLE_P4_OUTPUT_DIRECTORY}/${name}.bfrt.json")
  file(GLOB parts CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/p4/${name}/*.p4" "${CMAKE_SOURCE_DIR}/p4/shared/*.p4")

  # p4soft leaves an unchanged file alone, so the stamp says that it ran.
  add_custom_command(
    OUTPUT "${generated}/${name}.stamp"
    BYPRODUCTS "${generated}/${name}.cpp" "${generated}/${name}.bfrt.json" "${schema}"
    COMMAND ${CMAKE_COMMAND} -E env "PYTHONPATH=${CMAKE_SOURCE_DIR}/src" PYTHONDONTWRITEBYTECODE=1
            ${Python3_EXECUTABLE} -m p4soft "${source}" --output "${generated}"
    COMMAND ${CMAKE_COMMAND} -E copy_if_different "${generated}/${name}.bfrt.json" "${schema}"
    COMMAND ${CMAKE_COMMAND} -E touch "${generated}/${name}.stamp"
    DEPENDS ${parts} ${P4SOFT_SOURCES}
    COMMENT "Translating p4/${name}/${name}.p4"
    VERBATIM)

  add_library(p4_${name} MODULE "${generated}/${name}.cpp" "${generated}/${name}.stamp")
  set_target_properties(p4_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME "${name}" LIBRARY_OUTPUT_DIRECTORY "${TURNTABLE_P4_OUTPUT_DIRECTORY}")
  target_link_libraries(p4_${name} PRIVATE turntable_dataplane)
  # Generated code names every parameter and key, used or not, and compares as the program does.
  target_compile_options(p4_${name} PRIVATE -Wno-unused -Wno-unused-parameter -Wno-shadow
                                              -Wno-tautological-compare -Wno-type-limits)
endfunction()
