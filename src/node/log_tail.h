// The last lines of a node's log, to be quoted in an error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace turntable::node {

// Size of the file in bytes; 0 when it does not exist.
std::uint64_t log_size(const std::filesystem::path& log_file);

// Up to `max_lines` last lines written after byte `from`, each indented; "  (empty)" when there are
// none.
std::string log_tail(const std::filesystem::path& log_file, std::uint64_t from,
                     std::size_t max_lines = 12);

}  // namespace turntable::node
