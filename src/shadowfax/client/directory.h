// What a client knows of the metadata service's state, for all of its threads.
#pragma once

#include <netinet/in.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "shadowfax/cluster/asking.h"
#include "shadowfax/cluster/cluster_state.h"

namespace turntable::shadowfax {

// Thread-safe.
class Directory {
 public:
  // Asks, and waits for the first answer. Throws NoAnswer at the deadline.
  Directory(const sockaddr_in& metadata, net::Credentials credentials, Deadline deadline);
  ~Directory() = default;
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  // That servers are shown, too.
  const net::Credentials& credentials() const noexcept { return credentials_; }
  // As it was answered last.
  std::shared_ptr<const ClusterState> newest() const;
  // Asks again, and does not wait.
  void look();

 private:
  void work(const std::stop_token& stop);

  const net::Credentials credentials_;
  Asking metadata_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable_any changed_;
  std::shared_ptr<const ClusterState> newest_;
  bool is_wanted_ = false;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace turntable::shadowfax
