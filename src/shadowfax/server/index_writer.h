// Writes a store's index to files of its own again and again, for the checkpoints that come after.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "hybridlog/store.h"

namespace turntable::shadowfax {

// Thread-safe. A checkpoint waits for none of it.
class IndexWriter {
 public:
  // checkpoint_file: beside which the files lie. last: what the newest checkpoint names.
  IndexWriter(hybridlog::Store& store, std::string checkpoint_file,
              std::optional<hybridlog::IndexFile> last);
  ~IndexWriter() = default;  // a file that is being written is given up
  IndexWriter(const IndexWriter&) = delete;
  IndexWriter& operator=(const IndexWriter&) = delete;

  // For a checkpoint whose cut begins after this was asked for.
  std::optional<hybridlog::IndexFile> newest() const;
  // The checkpoint on the device names this one. Others are removed, and if the log behind it is
  // several times as large as the index, a new one is written.
  void named(const std::optional<hybridlog::IndexFile>& index);

  struct Counts {
    std::uint64_t written = 0, failed = 0;
    std::string why;  // the last one failed; empty: it did not
  };
  Counts counts() const;

 private:
  void work(const std::stop_token& stop);
  bool is_due() const;
  void write(const std::stop_token& stop);
  void remove_others() const;

  hybridlog::Store& store_;
  const std::string prefix_;          // of the files' paths
  hybridlog::Address failed_at_ = 0;  // the log's end then; of the thread
  mutable std::mutex mutex_;          // of what follows
  std::condition_variable_any changed_;
  bool is_asked_ = false;
  std::optional<hybridlog::IndexFile> newest_, named_;
  Counts counts_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace turntable::shadowfax
