// Who is connected, and which client owns which program: the rules of subscribing and binding,
// apart from gRPC. An SDE's server has the same; its texts are kept where clients may look at them.
//
//   a client's stream subscribes once, with an id that no other stream has
//   a program is bound by at most one client; a client is bound to at most one program at a time
//   both last until the stream closes
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace turntable::bfrt_server {

using ClientId = std::uint32_t;
using StreamId = std::uint64_t;  // of one StreamChannel; never used again

// Thread-safe.
class Sessions {
 public:
  struct Client {
    ClientId id;
    StreamId stream;
    std::optional<std::string> program;  // it is bound to
  };

  explicit Sessions(std::size_t most_clients) : most_clients_(most_clients) {}

  // Throws Failure: INVALID_ARGUMENT where another stream has the id, RESOURCE_EXHAUSTED where
  // there are too many clients.
  void subscribe(StreamId stream, ClientId id);

  // `known`: whether the switch has the program. Throws Failure: UNAVAILABLE where the client has
  // not subscribed, ALREADY_EXISTS where a client owns the program (be it the same), NOT_FOUND.
  // A client that binds another program gives up its first.
  void bind(ClientId id, const std::string& program, bool known);

  // Ends what subscribe() began on this stream; nothing where it did not.
  void close(StreamId stream);

  bool is_subscribed(ClientId id) const;
  // Throws Failure UNKNOWN where the client is not bound.
  std::string program_of(ClientId id) const;
  std::optional<ClientId> owner_of(const std::string& program) const;
  std::vector<Client> clients() const;

 private:
  mutable std::mutex mutex_;
  std::size_t most_clients_;
  std::map<ClientId, Client> clients_;
};

}  // namespace turntable::bfrt_server
