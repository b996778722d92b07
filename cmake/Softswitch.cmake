# The software switch as a product of its own (docs/softswitch.md): what `make softswitch` builds and the tree that is installed.
#
#   cmake --install build --component softswitch --prefix PREFIX    beside a p4soft that pip installed in PREFIX
#   scripts/package                                                 both components, as a tarball
#
#   bin/      softswitch, bfrt-server, p4runtime-server, nodectl, p4run     component softswitch
#   lib/      the runtime's library, which compiled programs contain
#   include/  what it declares of others' headers
#   share/    descriptors of both protocols, licences, documentation
#   bin/p4soft, lib/python/, include/turntable/                             component p4soft

set(programs softswitch bfrt-server p4runtime-server nodectl p4run)
add_custom_target(turntable_softswitch_product DEPENDS ${programs} turntable_dataplane)

install(TARGETS ${programs} RUNTIME DESTINATION bin COMPONENT softswitch)
install(TARGETS turntable_dataplane ARCHIVE DESTINATION lib COMPONENT softswitch)
# A compiled program has to name json as the library does: other versions call it otherwise.
get_target_property(nlohmann_include nlohmann_json::nlohmann_json INTERFACE_INCLUDE_DIRECTORIES)
list(GET nlohmann_include 0 nlohmann_include)
install(FILES "${nlohmann_include}/nlohmann/json_fwd.hpp" DESTINATION include/turntable/nlohmann COMPONENT softswitch)
install(FILES "${nlohmann_include}/nlohmann/detail/abi_macros.hpp"
  DESTINATION include/turntable/nlohmann/detail COMPONENT softswitch)
install(FILES "${CMAKE_BINARY_DIR}/lib/bfrt/bfruntime.desc" "${CMAKE_BINARY_DIR}/lib/p4runtime/p4runtime.desc"
  DESTINATION share/turntable COMPONENT softswitch)
set(documentation share/doc/turntable-softswitch)
install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" DESTINATION ${documentation} COMPONENT softswitch)
# All pages: they point to each other.
install(DIRECTORY docs/ DESTINATION ${documentation} COMPONENT softswitch FILES_MATCHING PATTERN "*.md")
# Of header-only libraries that are in the programs.
foreach(package nlohmann-json3-dev libcli11-dev)
  install(FILES "/usr/share/doc/${package}/copyright" DESTINATION ${documentation}/licenses RENAME ${package}
    COMPONENT softswitch OPTIONAL)
endforeach()

install(PROGRAMS cmake/p4soft.py DESTINATION bin RENAME p4soft COMPONENT p4soft)
install(DIRECTORY src/p4soft DESTINATION lib/python COMPONENT p4soft
  FILES_MATCHING PATTERN "*.py" PATTERN "*.p4" PATTERN __pycache__ EXCLUDE)
install(DIRECTORY src/dataplane DESTINATION include/turntable COMPONENT p4soft FILES_MATCHING PATTERN "*.h")
