#include "p4runtime_server/registered_programs.h"

#include <stdexcept>

#include "common/sha256.h"

namespace turntable::p4runtime_server {
namespace {

// The library for tracing is not run so. Reading what is no file may wait for ever.
bool is_library(const std::filesystem::directory_entry& entry) {
  const std::filesystem::path& path = entry.path();
  std::error_code error;
  return path.extension() == ".so" && path.stem().extension() != ".trace" &&
         entry.is_regular_file(error);
}

}  // namespace

void check_program_directory(const std::filesystem::path& directory) {
  const std::string what = "--programs " + directory.string();
  std::error_code error;
  const auto status = std::filesystem::status(directory, error);
  if (status.type() != std::filesystem::file_type::directory)
    throw std::runtime_error(what + ": there is no such directory; `make programs` makes one");
  if ((status.permissions() & std::filesystem::perms::others_write) != std::filesystem::perms::none)
    throw std::runtime_error(what +
                             ": everybody may write there, and softswitch runs what is in "
                             "it; chmod o-w it, or take another");
}

std::optional<std::filesystem::path> find_program(const std::filesystem::path& directory,
                                                  const std::string& hash) {
  if (directory.empty()) return std::nullopt;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (is_library(entry) && sha256_of_file(entry.path()) == hash) return entry.path();
  }
  return std::nullopt;
}

}  // namespace turntable::p4runtime_server
