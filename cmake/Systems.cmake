# What the runs of a system need, as one target: its programs and P4 programs without tests and benchmarks.

# Programs of every system: on each host, on the switch, and for planning.
set(TURNTABLE_RUN_PROGRAMS supervisor nodectl softswitch workload-analyze)

# With the traced P4 programs: what playbooks/build.yml compiles for a testbed.
add_custom_target(programs)

file(REMOVE_RECURSE "${CMAKE_BINARY_DIR}/system_programs")  # of systems that are no longer there

# turntable_system(NAME PROGRAMS targets... [P4_PROGRAMS names...]), in src/NAME/CMakeLists.txt: a target NAME, and a file
# build/system_programs/NAME with what it builds, in words. P4 programs lie in p4/ beside that src/: p4/PROGRAM/PROGRAM.p4.
function(turntable_system name)
  cmake_parse_arguments(ARG "" "" "PROGRAMS;P4_PROGRAMS" ${ARGN})
  set(programs ${TURNTABLE_RUN_PROGRAMS} ${ARG_PROGRAMS})
  list(LENGTH programs count)
  list(JOIN programs " " words)
  set(contents "${count} programs (${words})")

  add_custom_target(${name})
  add_dependencies(${name} ${programs})
  add_dependencies(programs ${name})
  foreach(program IN LISTS ARG_P4_PROGRAMS)
    cmake_path(SET source NORMALIZE "${CMAKE_CURRENT_SOURCE_DIR}/../../p4/${program}/${program}.p4")
    if(NOT TARGET p4_${program})  # systems may share one
      turntable_p4_program("${source}")
    endif()
    add_dependencies(${name} p4_${program})
    add_dependencies(programs p4_${program}_trace)
  endforeach()
  if(ARG_P4_PROGRAMS)
    list(LENGTH ARG_P4_PROGRAMS count)
    list(JOIN ARG_P4_PROGRAMS " " words)
    string(APPEND contents " and ${count} P4 programs (${words})")
  endif()
  file(WRITE "${CMAKE_BINARY_DIR}/system_programs/${name}" "${contents}\n")
endfunction()
