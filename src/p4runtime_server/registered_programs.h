// The programs that clients may have softswitch run: NAME.so, as the build makes them, in one
// directory. Their names to clients are their hashes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace turntable::p4runtime_server {

// Throws std::runtime_error that names the directory: it is none, or others than its owner and
// group may write into it, whose code softswitch would run.
void check_program_directory(const std::filesystem::path& directory);

// The library of that hash. Empty directory: there are no programs. It is looked at each time.
std::optional<std::filesystem::path> find_program(const std::filesystem::path& directory,
                                                  const std::string& hash);

}  // namespace turntable::p4runtime_server
