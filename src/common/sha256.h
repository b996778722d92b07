// SHA-256, in hexadecimal, lower case.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace turntable {

// Throws std::runtime_error where libcrypto refuses.
std::string sha256_of(std::string_view bytes);

// Empty: the file cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace turntable
