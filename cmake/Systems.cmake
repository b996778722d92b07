# What the runs of a system need, as one target: its programs and P4 programs without tests and benchmarks.

# Programs of every system: on each host, on the switch, and for planning.
set(TURNTABLE_RUN_PROGRAMS supervisor nodectl softswitch workload-analyze)

# With the traced P4 programs: what playbooks/build.yml compiles for a testbed.
add_custom_target(programs)

# turntable_system(NAME PROGRAMS targets... P4_PROGRAMS names...): a target NAME, and a file build/systems/NAME with what it
# builds, in words.
function(turntable_system name)
  cmake_parse_arguments(ARG "" "" "PROGRAMS;P4_PROGRAMS" ${ARGN})
  set(programs ${TURNTABLE_RUN_PROGRAMS} ${ARG_PROGRAMS})
  list(TRANSFORM ARG_P4_PROGRAMS PREPEND "p4_" OUTPUT_VARIABLE p4_targets)
  list(TRANSFORM p4_targets APPEND "_trace" OUTPUT_VARIABLE trace_targets)
  add_custom_target(${name} DEPENDS ${programs} ${p4_targets})
  add_dependencies(programs ${name} ${trace_targets})

  list(LENGTH programs count)
  list(LENGTH ARG_P4_PROGRAMS p4_count)
  list(JOIN programs " " program_names)
  list(JOIN ARG_P4_PROGRAMS " " p4_names)
  file(WRITE "${CMAKE_BINARY_DIR}/systems/${name}"
       "${count} programs (${program_names}) and ${p4_count} P4 programs (${p4_names})\n")
endfunction()
