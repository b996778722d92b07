// The rules of the transport, followed from outside: what a node sends is compared with what its
// packets, in and out, permit. Nothing of the endpoint's own state is looked at. Broken rules are
// told with the packet.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "homa/endpoint.h"

namespace turntable::homa {

// One direction of a call.
using MessageName = std::tuple<std::uint64_t, std::uint64_t, bool>;  // client, sequence, request

class Watch {
 public:
  Watch(const Settings& settings, std::function<void(const std::string&)> broken)
      : settings_(settings), broken_(std::move(broken)) {}

  // The node has a message to send. A request's name shows with its first packet.
  void begins(Peer to, std::uint32_t size, std::optional<MessageName> name);
  // A call is over at its client.
  void over(RpcId id);
  // Before the endpoint is given `packet`.
  void receives(Peer from, const Packet& packet);
  // What grants the endpoint has to send because of it. Only where all packets go out at once.
  void expects_exact_grants() { exact_ = true; }
  void has_sent_all();
  // The endpoint's timer is about to tick.
  void ticks();

  void sends(Peer to, const Packet& packet);

 private:
  struct Sending {
    Peer to = 0;
    std::uint32_t size = 0;
    std::uint32_t sent = 0;
    std::uint32_t limit = 0;
    std::optional<MessageName> name;
  };
  struct Incoming {
    Peer from = 0;
    std::uint32_t total = 0;
    std::uint64_t number = 0;
    std::set<std::uint32_t> offsets;
    std::uint32_t contiguous = 0;
    std::uint32_t granted = 0;
  };
  struct Grant {
    MessageName name;
    std::uint32_t offset;
    std::uint8_t priority;
  };

  void forget(RpcId id);
  void server_forgets(RpcId id);
  void receives_data(Peer from, const Packet& packet);
  void expect_grant(const Incoming& arrived, const MessageName& name);
  void sends_data(Peer to, const Packet& packet);
  void sends_grant(const Packet& packet);
  Sending* find_sending(const MessageName& name);
  Sending* name_first(Peer to, const Packet& packet);
  void tell(const std::string& rule, const Packet& packet);
  std::uint8_t unscheduled(std::uint32_t size) const;

  const Settings settings_;
  std::function<void(const std::string&)> broken_;
  std::vector<Sending> sending_;
  std::map<MessageName, Incoming> incoming_;
  std::set<MessageName> over_;
  std::uint64_t next_number_ = 0;
  bool exact_ = false;
  bool data_since_tick_ = false;
  std::vector<Grant> expected_;
};

}  // namespace turntable::homa
