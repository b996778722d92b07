// Requests that were recorded elsewhere, one after the other from a file (docs/workloads.md §9):
// CSV, or what YCSB's BasicDB prints. Never more than a line of it is in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workload/key.h"
#include "workload/trace.h"

namespace turntable::workload {

struct RecordedRequest {
  KeyId key;
  OperationType type;
  bool inserts;               // a PUT of a key that was not there before
  std::uint32_t value_bytes;  // 0: the line does not say it
};

// The id that a key of a file has here: of `user<id>` this id, of others a hash of their bytes.
KeyId recorded_key_id(std::string_view key);

// A longer value takes more than one datagram.
inline constexpr std::uint32_t kLongestRecordedValue = 1412;

class RecordedReader {
 public:
  // Plain or compressed by gzip. Throws bad_argument, as next() does, naming file and line.
  explicit RecordedReader(const std::string& file);
  ~RecordedReader();

  // False at the end of the file, which has one request at least.
  bool next(RecordedRequest& request);

 private:
  struct Columns {
    std::size_t key = 0, operation = 1, value = 2;
    std::size_t least = 2, most = 3;  // of a line
  };
  struct Closer {
    void operator()(void* file) const;
  };

  bool next_line();
  [[noreturn]] void fail_empty() const;
  void recognize();
  void read_header(const std::vector<std::string_view>& names);
  RecordedRequest of_csv() const;
  bool of_ycsb(RecordedRequest& request) const;
  std::uint32_t value_bytes(std::string_view text, OperationType type) const;
  [[noreturn]] void fail(const std::string& what, const std::string& expected) const;

  std::string file_;
  std::unique_ptr<void, Closer> stream_;
  std::vector<char> buffer_;
  std::string_view line_;
  std::uint64_t number_ = 0;  // of the line
  bool is_ycsb_ = false;
  bool has_request_ = false;
  bool is_pending_ = false;  // the line has been read, but is no request yet
  Columns columns_;
};

}  // namespace turntable::workload
