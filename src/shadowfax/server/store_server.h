// A store with the workers that serve it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/unique_fd.h"
#include "hybridlog/store.h"
#include "shadowfax/server/checkpointer.h"
#include "shadowfax/server/cluster_member.h"
#include "shadowfax/server/commits.h"
#include "shadowfax/server/compactor.h"
#include "shadowfax/server/source_logs.h"
#include "shadowfax/server/worker.h"

namespace turntable::shadowfax {

class StoreServer {
 public:
  struct Settings {
    hybridlog::StoreSettings store{};  // its threads: those beside the workers
    std::string file{};                // what has no room in memory goes there
    WorkerSettings worker{};           // its port: the first one's; 0: any that are free
    unsigned workers = 1;
    std::vector<int> cpus{};  // worker i runs on the one at i modulo their number; empty: anywhere
    // Checkpoints are made, and one that is there is what the store begins with. Nothing: neither.
    struct Checkpoints {
      std::string file{};
      std::chrono::nanoseconds interval{2'000'000'000};
    };
    std::optional<Checkpoints> checkpoints{};
    // What the log may take of the file before it is compacted; at least a page. Nothing: whatever
    // it takes.
    std::optional<std::uint64_t> compact_above_bytes{};
    // Servers that own ranges of hashes, and know a metadata service; it needs checkpoints.
    // Nothing: whatever clients ask for is served.
    std::optional<ClusterSettings> cluster{};
    RangeCheckSettings range_check{};
  };

  // Opens the store, which is empty unless there is a checkpoint, listens and serves. Throws
  // std::system_error, also for a log that another server has, std::invalid_argument;
  // std::runtime_error for a checkpoint that is not the store's, or was changed; NoAnswer of the
  // metadata service.
  explicit StoreServer(const Settings& settings);
  ~StoreServer();  // ends all sessions
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  hybridlog::Store& store() noexcept { return store_; }
  std::vector<std::uint16_t> ports() const;
  std::uint16_t peer_port() const { return member_ ? member_->peer_port() : std::uint16_t{0}; }
  // Null: it is no server of a cluster.
  ClusterMember* member() noexcept { return member_ ? &*member_ : nullptr; }

  using Readings = std::vector<WorkerReading>;  // by worker
  Readings read() const;

  const hybridlog::Recovered& recovered() const noexcept { return store_.recovered(); }
  Checkpointer::Counts checkpoints() const {
    return checkpointer_ ? checkpointer_->counts() : Checkpointer::Counts();
  }
  IndexWriter::Counts indexes() const {
    return checkpointer_ ? checkpointer_->indexes() : IndexWriter::Counts();
  }
  Compactor::Counts compactions() const {
    return compactor_ ? compactor_->counts() : Compactor::Counts();
  }

 private:
  // What the store begins with: nobody else may write there from before it is read.
  struct Found {
    UniqueFd lock{};
    std::optional<hybridlog::Checkpoint> checkpoint{};
  };
  static Found find(const Settings& settings);
  StoreServer(const Settings& settings, Found found);
  void begin_compacting(const Settings& settings);
  RangeCheck* ranges() noexcept { return ranges_ ? &*ranges_ : nullptr; }
  void stop();

  UniqueFd lock_;  // of the log, until all else has ended
  Commits commits_;
  NewerViews newer_views_;
  Serving serving_;
  std::optional<RangeCheck> ranges_;  // nothing: views alone are compared
  SourceLogs logs_;                   // of others, that the store points into
  hybridlog::Store store_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::jthread> threads_;
  std::optional<Checkpointer> checkpointer_;
  CompactionGate gate_;
  std::optional<ClusterMember> member_;
  std::optional<Compactor> compactor_;
};

}  // namespace turntable::shadowfax
