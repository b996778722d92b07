// A trace that was recorded elsewhere, as a workload (docs/workloads.md §9): the first requests of
// a file, which clients share by turns.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "workload/key.h"
#include "workload/trace.h"

namespace turntable::workload {

// What the requests say of one key.
struct RecordedKey {
  std::uint64_t requests = 0;
  std::uint64_t reads = 0;
  std::uint32_t shortest = 0;  // of its values, those that were there before included
  std::uint32_t longest = 0;
  std::uint32_t loaded_bytes = 0;  // of its first value
  bool is_loaded = true;           // there before; not where its first request is an insert

  bool fits_a_switch() const;
};

using RecordedKeys = std::unordered_map<KeyId, RecordedKey>;

class RecordedTrace {
 public:
  // At most the first `operations` requests of the file. digest: of the requests that were planned
  // with, all of them; "": not known yet. Reads nothing yet. All others throw bad_argument naming
  // file and line, or when the digest is another.
  RecordedTrace(std::string file, std::uint64_t operations, std::string digest);

  const std::string& file() const { return file_; }
  // As given, or what was read.
  std::string digest() const;

  std::uint64_t requests() const { return read().requests; }
  std::uint64_t deletes() const { return read().deletes; }
  const RecordedKeys& keys() const { return read().keys; }
  std::uint32_t longest_value() const { return read().longest_value; }
  // Whether the file has more requests.
  bool is_cut() const { return read().is_cut; }

  // See hottest_keys().
  std::vector<KeyId> hottest(std::uint64_t k) const;

  // Request t is that of client t mod `clients`.
  std::vector<std::vector<Operation>> traces(unsigned clients, unsigned first,
                                             unsigned count) const;

 private:
  struct Contents {
    std::uint64_t requests = 0;
    std::uint64_t deletes = 0;
    std::uint32_t longest_value = 0;
    std::string digest;
    bool is_cut = false;
    RecordedKeys keys;
  };

  // The file's, on the first call.
  const Contents& read() const;
  Contents read_file() const;

  const std::string file_;
  const std::uint64_t operations_;
  const std::string planned_digest_;
  mutable std::mutex mutex_;
  mutable std::optional<Contents> contents_;
};

}  // namespace turntable::workload
