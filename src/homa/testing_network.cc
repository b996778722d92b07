#include "homa/testing_network.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "common/bytes.h"

namespace turntable::homa {
namespace {

constexpr std::uint64_t kForever = 1U << 30U;  // no call takes as long

// What a request says first, where it is large enough: the tag of the call and the size of the
// response. Small ones have the tag only, in as many bytes as there are.
std::uint8_t content_byte(std::uint64_t tag, bool request, std::uint32_t at) {
  if (at < 4) return static_cast<std::uint8_t>(tag >> (8 * at));
  return static_cast<std::uint8_t>((tag * 131 + std::uint64_t{at} * 7 + at / 251) ^
                                   (request ? 0 : 0x5a));
}

Content content_of(std::uint64_t tag, bool request, std::uint32_t size) {
  Content content{size, std::vector<std::uint8_t>(size)};
  for (std::uint32_t at = 0; at < size; ++at) content.bytes[at] = content_byte(tag, request, at);
  return content;
}

class Network {
 public:
  explicit Network(const NetworkSettings& settings);
  NetworkResult run();

 private:
  class Node final : public Application {
   public:
    Node(Network& network, Peer self)
        : watch(network.settings_.transport,
                [&network](const std::string& text) { network.broken(text); }),
          endpoint(network.settings_.transport, self + 1, *this),
          network_(network),
          self_(self) {}

    void request(RpcId id, Peer client, Content content) override;
    void response(std::uint64_t tag, Content content) override;
    void aborted(std::uint64_t tag, AbortReason reason) override;
    void call();

    Watch watch;
    Endpoint endpoint;
    RpcId current;  // of the packet that is being received

   private:
    void ended(std::uint64_t tag);

    Network& network_;
    const Peer self_;
  };

  struct Datagram {
    Peer from;
    Peer to;
    std::vector<std::uint8_t> bytes;
  };
  struct Event {
    std::uint64_t at;
    std::uint64_t number;
    enum class Kind : std::uint8_t { kArrival, kUplink, kTick } kind;
    Peer node;
    std::uint64_t datagram;

    friend bool operator<(const Event& a, const Event& b) {  // for a queue whose top is the first
      return a.at != b.at ? a.at > b.at : a.number > b.number;
    }
  };
  struct Call {
    std::uint32_t request_bytes;
    std::uint32_t response_bytes;
    unsigned executed = 0;
    bool over = false;
  };

  void broken(const std::string& text) {
    if (result_.broken_rules++ == 0)
      result_.first_broken_rule = "at " + std::to_string(now_) + ": " + text;
  }
  void at(std::uint64_t time, Event::Kind kind, Peer node, std::uint64_t datagram = 0) {
    events_.push({time, number_++, kind, node, datagram});
  }
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  bool happens(double probability) {
    return probability > 0 && std::uniform_real_distribution<>()(random_) < probability;
  }
  void arrive(const Event& event);
  void use_uplink(Peer node);
  bool send_one(Peer node);
  void transmit(Peer from, const Endpoint::Outgoing& outgoing);

  const NetworkSettings settings_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::uint64_t> uplink_free_at_;
  std::vector<bool> uplink_is_due_;
  std::priority_queue<Event> events_;
  std::map<std::uint64_t, Datagram> under_way_;
  std::vector<Call> calls_;  // by tag
  std::uint64_t over_ = 0;
  std::uint64_t now_ = 0;
  std::uint64_t number_ = 0;
  NetworkResult result_;
};

Network::Network(const NetworkSettings& settings)
    : settings_(settings),
      random_(settings.seed),
      uplink_free_at_(settings.nodes),
      uplink_is_due_(settings.nodes) {
  for (Peer node = 0; node < settings_.nodes; ++node) {
    nodes_.push_back(std::make_unique<Node>(*this, node));
    if (settings_.at_once) nodes_.back()->watch.expects_exact_grants();
  }
}

void Network::Node::call() {
  if (network_.calls_.size() == network_.settings_.calls) return;
  const auto& sizes = network_.settings_.sizes;
  const std::uint64_t tag = network_.calls_.size();
  const Call call{sizes[network_.draw(sizes.size())], sizes[network_.draw(sizes.size())]};
  network_.calls_.push_back(call);
  const Peer server = static_cast<Peer>((self_ + 1 + network_.draw(network_.settings_.nodes - 1)) %
                                        network_.settings_.nodes);
  watch.begins(server, call.request_bytes, std::nullopt);
  endpoint.call(server, content_of(tag, true, call.request_bytes), tag);
}

void Network::Node::request(RpcId id, Peer, Content content) {
  std::uint64_t tag = 0;
  for (std::size_t i = 0; i < 4; ++i) tag |= std::uint64_t{content.bytes[i]} << (8 * i);
  if (tag >= network_.calls_.size() ||
      content.bytes != content_of(tag, true, network_.calls_[tag].request_bytes).bytes) {
    ++network_.result_.wrong_bytes;
    return;
  }
  Call& call = network_.calls_[tag];
  ++network_.result_.executed;
  if (call.executed++ > 0) ++network_.result_.executed_again;
  watch.begins(static_cast<Peer>(id.client - 1), call.response_bytes,
               MessageName{id.client, id.sequence, false});
  endpoint.reply(id, content_of(tag, false, call.response_bytes));
}

void Network::Node::response(std::uint64_t tag, Content content) {
  ++network_.result_.responses;
  if (content.bytes != content_of(tag, false, network_.calls_[tag].response_bytes).bytes)
    ++network_.result_.wrong_bytes;
  ended(tag);
}

void Network::Node::aborted(std::uint64_t tag, AbortReason) {
  ++network_.result_.aborted;
  ended(tag);
}

void Network::Node::ended(std::uint64_t tag) {
  if (std::exchange(network_.calls_[tag].over, true)) {
    ++network_.result_.answered_twice;
  } else {
    ++network_.over_;
  }
  watch.over(current);
  call();
}

void Network::arrive(const Event& event) {
  const auto found = under_way_.find(event.datagram);
  const Datagram datagram = std::move(found->second);
  under_way_.erase(found);
  Packet packet;
  if (decode(datagram.bytes, packet) != DecodeStatus::kOk) return broken("decode refuses a packet");
  Node& node = *nodes_[event.node];
  node.current = packet.id;
  node.watch.receives(datagram.from, packet);
  node.endpoint.receive(datagram.from, packet);
}

void Network::transmit(Peer from, const Endpoint::Outgoing& outgoing) {
  Datagram datagram{from, outgoing.to, std::vector<std::uint8_t>(kMaxHeaderBytes)};
  datagram.bytes.resize(encode_header(outgoing.packet, datagram.bytes));
  datagram.bytes.insert(datagram.bytes.end(), outgoing.packet.payload.begin(),
                        outgoing.packet.payload.end());
  const unsigned copies = happens(settings_.doubled) ? 2 : 1;
  for (unsigned copy = 0; copy < copies; ++copy) {
    if (happens(settings_.loss)) {
      ++result_.lost;
      continue;
    }
    const std::uint64_t delay =
        settings_.min_delay + draw(settings_.max_delay - settings_.min_delay + 1);
    under_way_[number_] = datagram;
    at(now_ + delay, Event::Kind::kArrival, outgoing.to, number_);
  }
}

bool Network::send_one(Peer node) {
  Endpoint::Outgoing outgoing;
  if (!nodes_[node]->endpoint.next(outgoing)) return false;
  nodes_[node]->watch.sends(outgoing.to, outgoing.packet);
  transmit(node, outgoing);
  return true;
}

// The node has been told something: it may have packets now.
void Network::use_uplink(Peer node) {
  if (settings_.at_once) {
    while (send_one(node)) {
    }
    nodes_[node]->watch.has_sent_all();
    return;
  }
  if (uplink_is_due_[node]) return;
  uplink_is_due_[node] = true;
  at(std::max(now_, uplink_free_at_[node]), Event::Kind::kUplink, node);
}

NetworkResult Network::run() {
  for (Peer node = 0; node < settings_.nodes; ++node) {
    for (unsigned i = 0; i < settings_.outstanding; ++i) nodes_[node]->call();
    use_uplink(node);
    at(settings_.tick_every + node, Event::Kind::kTick, node);
  }
  std::uint64_t progress_at = 0;
  for (std::uint64_t over = 0; over_ < settings_.calls && now_ - progress_at < kForever;) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.at;
    if (event.kind == Event::Kind::kArrival) arrive(event);
    if (event.kind == Event::Kind::kTick) {
      nodes_[event.node]->watch.ticks();
      nodes_[event.node]->endpoint.tick();
      at(now_ + settings_.tick_every, Event::Kind::kTick, event.node);
    }
    if (event.kind == Event::Kind::kUplink) {
      uplink_is_due_[event.node] = false;
      uplink_free_at_[event.node] = now_ + 1;
      if (!send_one(event.node)) continue;
    }
    use_uplink(event.node);
    if (over != over_) progress_at = now_;
    over = over_;
  }
  result_.unanswered = settings_.calls - over_;
  for (const auto& node : nodes_) result_.transport += node->endpoint.statistics();
  return result_;
}

}  // namespace

NetworkResult run_network(const NetworkSettings& settings) {
  return Network(settings).run();
}

}  // namespace turntable::homa
