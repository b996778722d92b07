// A JSON document in a file of its own, for what must survive a crash: the file is replaced in one
// step, and says when it was changed.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace turntable {

// A file that holds something else, or was changed.
class CheckedFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Replaces the file: after a crash of the machine there is the old one or the new one, whole.
// what: the document's name in the file and in messages, "checkpoint". Throws std::system_error;
// the old file holds then. Where the new one is there and its directory cannot be synced nobody
// knows which of the two holds: the process ends, with a message and EXIT_FAILURE.
void write_checked(const std::string& path, const std::string& what, const nlohmann::json& content);

// Nothing where there is no file. Throws CheckedFileError, std::system_error.
std::optional<nlohmann::json> read_checked(const std::string& path, const std::string& what);

}  // namespace turntable
