// The programs that clients may have softswitch run: NAME.so, as the build makes them, with
// NAME.p4info.txtpb beside it, in one directory. Their names to clients are their hashes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "p4/config/v1/p4info.pb.h"

namespace turntable::p4runtime_server {

struct RegisteredProgram {
  std::filesystem::path library;
  p4::config::v1::P4Info info;
};

// NAME.p4info.txtpb of NAME.so. Throws std::runtime_error where it cannot be read.
p4::config::v1::P4Info p4info_beside(std::filesystem::path library);

// Throws std::runtime_error that names the directory: it is none, or others than its owner and
// group may write into it, whose code softswitch would run.
void check_program_directory(const std::filesystem::path& directory);

// Empty path: there are no programs. The directory is looked at each time. Throws
// std::runtime_error where the P4Info of the program cannot be read.
std::optional<RegisteredProgram> find_program(const std::filesystem::path& directory,
                                              const std::string& hash);

}  // namespace turntable::p4runtime_server
