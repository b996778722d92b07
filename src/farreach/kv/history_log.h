// Writes what the logical clients of one thread did to a file, a line of JSON per operation, for
// the checker of histories: docs/history-format.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "common/unique_fd.h"
#include "workload/trace.h"

namespace turntable::kv {

struct HistoryOperation {
  std::uint32_t client = 0;  // number in the whole run
  workload::KeyId key = 0;
  workload::OperationType type{};
  std::uint64_t version = 0;                 // of the value that a PUT writes
  std::span<const std::int64_t> sends_ns{};  // one per transmission, at least one; CLOCK_MONOTONIC
  std::int64_t invoke_ns = 0;

  struct Answer {
    std::int64_t response_ns = 0;
    std::optional<std::uint32_t> number{};  // none: the method has no numbers
    std::uint16_t node = 0;
    bool found = true;                       // GET
    std::optional<std::uint64_t> version{};  // GET: of the value; none if it is none of this system
  };
  std::optional<Answer> answer{};
};

class HistoryLog {
 public:
  // Creates the file, with its first line. Throws CommandError.
  explicit HistoryLog(const std::filesystem::path& file);
  ~HistoryLog();
  HistoryLog(const HistoryLog&) = delete;
  HistoryLog& operator=(const HistoryLog&) = delete;

  void add(const HistoryOperation& operation) noexcept;
  void flush() noexcept;

  std::uint64_t operations() const noexcept { return operations_; }
  // False: the file is not whole, since the disk was full for instance.
  bool complete() const noexcept { return complete_; }

 private:
  UniqueFd file_;
  std::string buffer_;
  std::int64_t to_realtime_ns_;
  std::uint64_t operations_ = 0;
  bool complete_ = true;
};

}  // namespace turntable::kv
