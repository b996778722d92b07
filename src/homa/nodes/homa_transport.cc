#include "homa/nodes/homa_transport.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/command_error.h"
#include "net/network_interface.h"

namespace turntable::homa {
namespace {

constexpr std::uint32_t kIpAndUdp = 28;

void check_mtu(const net::Datagrams& datagrams, std::uint32_t payload_bytes) {
  const auto needed = static_cast<std::uint32_t>(payload_bytes + kDataHeaderBytes + kIpAndUdp);
  const std::string interface = net::interface_with(datagrams.local());
  if (interface.empty()) return;
  const std::uint32_t mtu = net::NetworkInterface(interface).mtu();
  if (mtu >= needed) return;
  throw bad_argument("a packet of " + std::to_string(payload_bytes) + " bytes of payload needs " +
                     std::to_string(needed) + " bytes, and the MTU at " +
                     net::text_of(datagrams.local()) + " is " + std::to_string(mtu) +
                     "; expected a larger MTU, or payload_bytes up to " +
                     std::to_string(mtu - kDataHeaderBytes - kIpAndUdp));
}

}  // namespace

HomaTransport::HomaTransport(const HomaSettings& settings, std::uint64_t client, const Peers& peers,
                             Application& application, std::unique_ptr<net::Datagrams> datagrams)
    : settings_(settings),
      peers_(peers),
      datagrams_(std::move(datagrams)),
      endpoint_(settings.protocol, client, application),
      next_tick_ns_(monotonic_ns() + settings.tick_ns) {
  check_mtu(*datagrams_, settings.protocol.payload_bytes);
  uplink_.configure(settings.uplink);
}

int HomaTransport::receive() noexcept {
  count_ = datagrams_->receive();
  if (count_ < 0) ++counts_.receive_errors;
  return count_;
}

std::optional<std::int64_t> HomaTransport::first_came_ns() const noexcept {
  const auto first = datagrams_->at(0);
  return first.has_stamp ? std::optional(first.received_ns) : std::nullopt;
}

void HomaTransport::handle_batch(std::int64_t now_ns) noexcept {
  const std::int64_t to_monotonic_ns = realtime_to_monotonic_ns();
  for (int i = 0; i < count_; ++i) {
    const auto datagram = datagrams_->at(static_cast<std::size_t>(i));
    ++counts_.received;
    const auto peer = peers_.find(datagram.from);
    if (!peer) {
      ++counts_.strangers;
      continue;
    }
    Packet packet;
    if (datagram.truncated || decode(datagram.bytes, packet) != DecodeStatus::kOk) {
      ++counts_.malformed;
      continue;
    }
    now_ns_ =
        datagram.has_stamp ? std::min(now_ns, datagram.received_ns + to_monotonic_ns) : now_ns;
    ready_ns_ = std::min(ready_ns_, now_ns_);
    endpoint_.receive(*peer, packet);
  }
  count_ = 0;
}

void HomaTransport::act(std::int64_t now_ns, std::int64_t ready_ns) noexcept {
  if (now_ns >= next_tick_ns_) {
    endpoint_.tick();
    // Ticks that were missed are not made good: nobody was silent because this node was late.
    next_tick_ns_ = std::max(next_tick_ns_ + settings_.tick_ns, now_ns);
  }
  use_uplink(now_ns, std::min(ready_ns, ready_ns_));
  ready_ns_ = INT64_MAX;
}

void HomaTransport::use_uplink(std::int64_t now_ns, std::int64_t ready_ns) noexcept {
  // What had to wait for the link was there before it was free.
  const std::int64_t since_ns = is_blocked_ ? 0 : std::min(now_ns, ready_ns);
  const auto room_until_ns = static_cast<std::uint64_t>(now_ns + settings_.ahead_ns);
  Endpoint::Outgoing outgoing;
  is_blocked_ = true;
  while (!uplink_.limits() || uplink_.free_at_ns() <= room_until_ns) {
    if (datagrams_->full()) depart(now_ns);
    if (datagrams_->full()) break;
    is_blocked_ = endpoint_.next(outgoing);
    if (!is_blocked_) break;
    hand_over(outgoing, since_ns);
  }
  depart(now_ns);
}

void HomaTransport::hand_over(const Endpoint::Outgoing& outgoing, std::int64_t ready_ns) noexcept {
  const auto buffer = datagrams_->buffer();
  std::size_t bytes = encode_header(outgoing.packet, buffer);
  const auto payload = outgoing.packet.payload;
  std::memcpy(buffer.data() + bytes, payload.data(), payload.size());
  bytes += payload.size();
  const auto dscp = static_cast<std::uint8_t>(outgoing.packet.priority * 8);
  datagrams_->add(bytes, &peers_.address(outgoing.to), dscp);
  const auto frame_bytes = static_cast<std::uint32_t>(bytes) + kHeadersBelow;
  if (uplink_.limits())
    departures_ns_.push(uplink_.send(static_cast<std::uint64_t>(ready_ns), frame_bytes));
  ++counts_.datagrams_sent;
  counts_.wire_bytes_sent += frame_bytes + settings_.uplink.overhead_bytes;
}

void HomaTransport::depart(std::int64_t now_ns) noexcept {
  std::size_t count = datagrams_->waiting();
  if (uplink_.limits()) {
    count = 0;
    for (; !departures_ns_.empty(); ++count) {
      if (departures_ns_.front() > static_cast<std::uint64_t>(now_ns)) break;
      departures_ns_.pop();
    }
  }
  if (count > 0) datagrams_->flush(count, [this](std::uint32_t, int) { ++counts_.refused; });
}

std::int64_t HomaTransport::next_due_ns() const noexcept {
  std::int64_t due_ns = next_tick_ns_;
  if (!departures_ns_.empty())
    due_ns = std::min(due_ns, static_cast<std::int64_t>(departures_ns_.front()));
  if (is_blocked_ && !datagrams_->full())
    due_ns = std::min(due_ns, static_cast<std::int64_t>(uplink_.free_at_ns()) - settings_.ahead_ns);
  return due_ns;
}

nlohmann::json HomaTransport::statistics() const {
  const Statistics& protocol = endpoint_.statistics();
  return {{"datagrams_sent", counts_.datagrams_sent},
          {"wire_bytes_sent", counts_.wire_bytes_sent},
          {"refused", counts_.refused},
          {"received", counts_.received},
          {"malformed", counts_.malformed + protocol.malformed},
          {"strangers", counts_.strangers + protocol.strangers},
          {"receive_errors", counts_.receive_errors},
          {"calls", protocol.calls},
          {"executed", protocol.executed},
          {"requests_dropped", protocol.requests_dropped},
          {"data_packets_sent", protocol.data_packets_sent},
          {"control_packets_sent", protocol.control_packets_sent},
          {"packets_sent_again", protocol.packets_sent_again},
          {"duplicate_packets", protocol.duplicate_packets},
          {"resends_asked", protocol.resends_asked},
          {"busy_answers", protocol.busy_answers},
          {"restarts", protocol.restarts},
          {"unknown", protocol.unknown},
          {"refused_again", protocol.refused_again}};
}

}  // namespace turntable::homa
