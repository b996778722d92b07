#include "netclone/client/path_probe.h"

#include <arpa/inet.h>
#include <poll.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "common/clock.h"
#include "common/command_error.h"
#include "netclone/choices.h"
#include "netclone/client/codec.h"
#include "netclone/packet.h"

namespace turntable::netclone {
namespace {

constexpr std::int64_t kLostAfterNs = 100'000'000;

std::int64_t median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string text_of(const sockaddr_in& address) {
  char text[INET_ADDRSTRLEN] = "?";
  ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  return std::string(text) + ", UDP port " + std::to_string(ntohs(address.sin_port));
}

class Prober {
 public:
  Prober(const Traffic& traffic, const ProbeSettings& settings, net::Datagrams& datagrams)
      : traffic_(traffic), settings_(settings), datagrams_(datagrams), delays_(servers()) {}

  std::uint32_t servers() const { return traffic_.server_count(); }

  // Until the server has answered as many as it should, or the deadline.
  bool probe(std::uint32_t server) {
    const std::int64_t deadline = monotonic_ns() + settings_.deadline_ns;
    for (unsigned sent = 0; delays_[server].size() < settings_.per_server; ++sent) {
      if (monotonic_ns() >= deadline) break;
      send(server, sent);
      await(std::min(deadline, sent_ns_ + kLostAfterNs));
    }
    return !delays_[server].empty();
  }

  PathDelay result() const {
    PathDelay result;
    std::vector<std::int64_t> all;
    for (const auto& of_server : delays_) {
      result.by_server_ns.push_back(median(of_server));
      all.insert(all.end(), of_server.begin(), of_server.end());
    }
    result.median_ns = median(all);
    return result;
  }

 private:
  // `turn`: the group's other server changes.
  void send(std::uint32_t server, unsigned turn) {
    Packet packet{.op = Op::kRequest,
                  .request = request_id(settings_.client, kFirstProbe + probes_++),
                  .client = settings_.client,
                  .operation = Operation::kProbe};
    const bool direct = traffic_.method == Method::kNoClone || traffic_.method == Method::kCClone;
    if (clones_in_switch(traffic_.method)) packet.group = group_to(server, turn);
    packet.sent_at_ns = static_cast<std::uint64_t>(realtime_ns());
    datagrams_.add(encode(packet, datagrams_.buffer()),
                   direct ? &traffic_.servers[server] : &traffic_.gate);
    expected_ = packet.request;
    sent_ns_ = monotonic_ns();
    datagrams_.flush([](std::uint32_t, int) {});  // it is lost then
  }

  std::uint32_t group_to(std::uint32_t server, unsigned turn) const {
    std::uint32_t group = 1;
    for (unsigned found = 0;; group = group % group_count(servers()) + 1)
      if (pair_of_group(group, servers()).first == server && found++ == turn % (servers() - 1))
        return group;
  }

  // An answer to the probe that was sent last. Others are late, or slower copies'.
  void await(std::int64_t until_ns) {
    for (;;) {
      for (int i = 0, count = datagrams_.receive(); i < count; ++i)
        if (note(datagrams_.at(static_cast<std::size_t>(i)))) return;
      const std::int64_t left_ns = until_ns - monotonic_ns();
      if (left_ns <= 0) return;
      pollfd polled{datagrams_.fd(), POLLIN, 0};
      const timespec left = to_timespec(left_ns);
      ::ppoll(&polled, 1, &left, nullptr);
    }
  }

  bool note(const net::Datagrams::Received& datagram) {
    const std::int64_t now = monotonic_ns();
    const std::int64_t lay_ns =
        datagram.has_stamp ? realtime_ns() - datagram.received_ns : std::int64_t{0};
    Packet answer;
    if (decode(datagram.bytes, answer) != DecodeStatus::kOk || answer.op != Op::kResponse ||
        answer.request != expected_ || !traffic_.is_answer_from(datagram.from, answer.server))
      return false;
    expected_ = UINT64_MAX;
    delays_[answer.server].push_back(std::max<std::int64_t>(0, now - lay_ns - sent_ns_));
    return true;
  }

  const Traffic& traffic_;
  const ProbeSettings& settings_;
  net::Datagrams& datagrams_;
  std::vector<std::vector<std::int64_t>> delays_;
  std::uint64_t probes_ = 0;
  std::uint64_t expected_ = UINT64_MAX;
  std::int64_t sent_ns_ = 0;
};

}  // namespace

PathDelay probe_path(const std::string& where, const Traffic& traffic,
                     const ProbeSettings& settings, net::Datagrams& datagrams) {
  Prober prober(traffic, settings, datagrams);
  for (std::uint32_t server = 0; server < prober.servers(); ++server) {
    if (prober.probe(server)) continue;
    std::ostringstream message;
    message << where << ": server " << server << " (" << text_of(traffic.servers[server])
            << ") answered no probe within " << static_cast<double>(settings.deadline_ns) / 1e9
            << " s";
    if (clones_in_switch(traffic.method) || traffic.method == Method::kLaedge)
      message << " through " << text_of(traffic.gate);
    message << "; expected an rpcserver there and a way to it: look at its log and the switch's";
    throw CommandError("unavailable", message.str());
  }
  return prober.result();
}

}  // namespace turntable::netclone
