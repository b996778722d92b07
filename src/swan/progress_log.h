// What an aggressor prints: its lines `progress N` with the instants at which they came, and the
// last of the others.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/deadline.h"
#include "common/unique_fd.h"

namespace turntable::swan {

// Cumulative progress over time.
class ProgressLine {
 public:
  void add(std::int64_t at_ns, double amount) { points_.push_back({at_ns, amount}); }
  // Between the points around the instant; before the first and after the last one, theirs. Empty:
  // there is none.
  std::optional<double> at(std::int64_t at_ns) const;

 private:
  struct Point {
    std::int64_t at_ns;
    double amount;
  };
  std::vector<Point> points_;
};

// Several processes may print into it; each line counts for the process that it came from.
class ProgressLog {
 public:
  // Everything is copied to `file`, up to a few MiB.
  explicit ProgressLog(const std::filesystem::path& file);
  ~ProgressLog();
  ProgressLog(const ProgressLog&) = delete;
  ProgressLog& operator=(const ProgressLog&) = delete;

  // Where one process writes to; it is read until its end.
  UniqueFd open_writer();
  // Reads until all writers have closed. False: some have not until then, so something that was
  // started still runs.
  bool finish(Deadline deadline);

  // Thread-safe.
  bool has_line_with(const std::string& text) const;
  // Those that are no progress, up to what was written when it was called; "  (empty)" for none.
  std::string last_lines();
  // Between two instants (CLOCK_MONOTONIC), of all processes.
  std::optional<double> difference(std::int64_t from_ns, std::int64_t until_ns) const;

 private:
  struct Source {
    UniqueFd reader;
    std::string rest;  // the beginning of a line
    ProgressLine progress;
  };

  void loop();
  bool read_from(Source& source);
  void take_line(Source& source, const std::string& line, std::int64_t at_ns);

  std::ofstream file_;
  std::size_t written_ = 0;
  UniqueFd wake_;
  mutable std::mutex mutex_;  // of what follows
  std::deque<Source> sources_;
  std::deque<std::string> last_;
  std::deque<std::string> first_;  // for probes: what is printed at the beginning
  bool ending_ = false;
  bool ended_ = false;
  std::condition_variable changed_;

  std::thread thread_;
};

}  // namespace turntable::swan
