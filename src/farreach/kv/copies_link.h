// kvclient's end of the control plane (docs/kvcache.md §8-9, src/farreach/cache/messages.h): tells
// the cache-controller which copies the clients keep, and releases those that a snapshot holds.
//
// One connection, on a thread of its own, for all clients of the process. A controller that is not
// there, or dies, is waited for.
#pragma once

#include <netinet/in.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "farreach/cache/links.h"
#include "farreach/kv/client_copies.h"
#include "farreach/kv/client_part.h"

namespace turntable::kv {

class CopiesLink {
 public:
  using Json = nlohmann::json;

  // Connects. The clients must outlive this object.
  CopiesLink(const sockaddr_in& controller, net::Credentials credentials,
             std::vector<ClientPart*> clients);
  ~CopiesLink();
  CopiesLink(const CopiesLink&) = delete;
  CopiesLink& operator=(const CopiesLink&) = delete;

  // {"connected", "lists", "repeated_lists", "refused"}; any thread.
  Json statistics();

 private:
  cache::Message answer(const cache::Message& request);
  cache::Message release(const cache::Message& request);
  cache::Message page(const cache::Message& request);
  void collect();

  const std::vector<ClientPart*> clients_;
  std::optional<std::uint32_t> last_list_;  // id of its snapshot
  std::vector<ClientCopies::Copy> pages_;   // what is being asked for, in order
  std::uint64_t lists_ = 0, repeated_lists_ = 0, refused_ = 0;
  net::EventLoop loop_;
  std::optional<cache::MessageLink> link_;
  std::thread thread_;  // of all above
};

}  // namespace turntable::kv
