#include "farreach/kv/client_thread.h"

#include <algorithm>
#include <utility>

#include "farreach/kv/value.h"
#include "net/udp.h"

namespace turntable::kv {
namespace {

std::size_t longest_value(const ClientThread::Settings& settings) {
  return std::max(settings.value_bytes, settings.variations.large_bytes);
}

}  // namespace

net::DatagramSettings ClientThread::datagrams_for(const Settings& settings) {
  const std::size_t longest = longest_value(settings);
  const std::size_t datagrams = std::max<std::size_t>(1, fragments_of(longest));
  return {
      .queued = 2 * settings.clients * datagrams,  // twice: room for stale answers
      .datagram_bytes = longest > kMaxValueBytes ? net::kLargeDatagramBytes : net::kDatagramBytes,
      .stamps = net::Stamps::kOldest};
}

ClientThread::ClientThread(const Settings& settings, const Replay& replay,
                           std::unique_ptr<net::Datagrams> datagrams)
    : datagrams_(std::move(datagrams)),
      clients_(settings, replay, *this),
      value_(longest_value(settings)),
      large_answers_(2 * settings.clients),  // twice: room for stale answers
      frame_(*this) {}

void ClientThread::set_schedule(const load::Schedule& schedule) {
  frame_.set_schedule(schedule);
  clients_.set_window(schedule.window_from_ns, schedule.window_until_ns);
}

void ClientThread::begin(std::int64_t now_ns) noexcept {
  clients_.begin(now_ns);
  flush();
}

void ClientThread::enter(load::Phase phase) noexcept {
  clients_.enter(phase);
  if (phase == load::Phase::kDrain)
    clients_.statistics().in_flight_at_stop = static_cast<std::int64_t>(clients_.outstanding());
}

std::optional<std::int64_t> ClientThread::oldest_arrival_ns() const noexcept {
  const auto oldest = datagrams_->at(0);
  return oldest.has_stamp ? std::optional(oldest.received_ns) : std::nullopt;
}

void ClientThread::handle_batch(std::int64_t now_ns) noexcept {
  for (int i = 0; i < count_; ++i) handle(datagrams_->at(static_cast<std::size_t>(i)), now_ns);
}

void ClientThread::act(std::int64_t now_ns) noexcept {
  clients_.act(now_ns);
  flush();
}

void ClientThread::end() noexcept {
  clients_.statistics().unanswered = static_cast<std::int64_t>(clients_.outstanding());
  clients_.end();
}

void ClientThread::send(const ClientRequest& request) noexcept {
  Packet packet{
      .type = request.type, .key = workload::wire_key(request.key), .request_id = request.id};
  if (request.type == PacketType::kPutRequest || request.type == PacketType::kLargePutRequest) {
    const auto bytes = std::span(value_).first(request.value_bytes);
    fill_value(bytes, request.key, request.version);
    packet.value = bytes;
    if (is_large(request.type)) {
      packet.fragment = {.client = static_cast<std::uint16_t>(request.client),
                         .transmission = request.id};  // every transmission has a new id
      return send_fragments(packet, request.running);
    }
  }
  datagrams_->add(encode(packet, datagrams_->buffer()), nullptr, /*dscp=*/0, request.running);
  if (datagrams_->full()) flush();
}

void ClientThread::send_fragments(const Packet& whole, std::uint32_t running) noexcept {
  for (std::size_t i = 0; i < fragments_of(whole.value.size()); ++i) {
    datagrams_->add(encode(fragment_of(whole, i), datagrams_->buffer()), nullptr, /*dscp=*/0,
                    running);
    if (datagrams_->full()) flush();
  }
}

void ClientThread::flush() noexcept {
  datagrams_->flush([&](std::uint32_t running, int) {
    --clients_.statistics().partitions[running].requests_total;
    ++clients_.statistics().send_errors;
  });
}

void ClientThread::handle(const net::Datagrams::Received& datagram, std::int64_t now_ns) noexcept {
  Packet answer;
  if (datagram.truncated || decode(datagram.bytes, answer) != DecodeStatus::kOk) {
    ++clients_.statistics().malformed;
    return;
  }
  const bool is_part = answer.type == PacketType::kLargeGetResponse ||
                       answer.type == PacketType::kLargeGetResponseSeq;
  if (is_part && !large_answers_.add(/*sender=*/0, answer)) return clients_.handle_part(answer);
  clients_.handle(answer, now_ns);
}

}  // namespace turntable::kv
