// The metadata service: one process that knows the state of the cluster (cluster_state.h), and
// keeps it in a file. What it has answered is in the file, so it may be killed and begun again at
// any time: until it is there again, views stay as they are, and migrations wait. Of a second one
// with the same file each would forget what the other has answered: it is refused.
#pragma once

#include <netinet/in.h>

#include <functional>
#include <string>

#include "common/unique_fd.h"
#include "messages/listener.h"
#include "shadowfax/cluster/cluster_message.h"
#include "shadowfax/cluster/cluster_state.h"

namespace turntable::shadowfax {

// Lives on the loop's thread.
class MetadataServer {
 public:
  // Of a file that is there, the state in it; else a new one, in which servers 0 to owners - 1 own
  // equal ranges. Its lock is the file of that name and ".lock". Throws std::system_error, also
  // where another service has the lock, CheckedFileError, std::runtime_error.
  MetadataServer(net::EventLoop& loop, const sockaddr_in& address, net::Credentials credentials,
                 std::string file, ServerNumber owners);

  std::uint16_t port() const { return listener_.port(); }
  const ClusterState& state() const noexcept { return state_; }

 private:
  using SessionId = messages::SessionListener::SessionId;

  nlohmann::json answer(const ClusterMessage& message);
  nlohmann::json changed(const std::function<void(ClusterState&)>& change);

  const std::string file_;
  const UniqueFd lock_;  // of a file beside it, which is not replaced
  ClusterState state_;
  messages::Listener<ClusterMessage> listener_;
};

}  // namespace turntable::shadowfax
