// The programs that clients may have softswitch run: NAME.so, as the build makes them, with
// NAME.p4info.txtpb beside it, in one directory. Their names to clients are their hashes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "p4/config/v1/p4info.pb.h"

namespace turntable::p4runtime_server {

// SHA-256 in hexadecimal, lower case. Empty: the file cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

struct RegisteredProgram {
  std::filesystem::path library;
  p4::config::v1::P4Info info;
};

// Empty path: there are no programs. The directory is looked at each time. Throws
// std::runtime_error where the P4Info of the program cannot be read.
std::optional<RegisteredProgram> find_program(const std::filesystem::path& directory,
                                              const std::string& hash);

}  // namespace turntable::p4runtime_server
