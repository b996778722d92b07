// Reads histories as kvclient writes them: docs/history-format.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "history/operation.h"

namespace turntable::history {

// A file is no history, or no part of one with the others. The message has file:line, what is
// wrong there, and what was expected.
class HistoryFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Where an operation was read.
struct Place {
  std::uint32_t file = 0;  // index into History::files
  std::uint32_t line = 0;  // from 1
};

struct History {
  std::vector<std::filesystem::path> files;
  std::vector<Operation> operations;
  std::vector<Place> places;  // of each operation

  std::string place(std::size_t operation) const;  // file:line
};

// The files `*.ndjson` of a directory in the order of their names; of a file itself. Throws
// HistoryFileError if there are none.
std::vector<std::filesystem::path> history_files(const std::filesystem::path& path);

// All operations of the files, which together are one history: values unique, clients doing one
// thing at a time. `copy_lifetime_ns` after its last transmission no copy of a write is left;
// none: that is not known. Throws HistoryFileError.
History read_history(const std::vector<std::filesystem::path>& files,
                     std::optional<std::int64_t> copy_lifetime_ns);

}  // namespace turntable::history
