#include "farreach/kv/value_updates.h"

#include <sys/socket.h>

#include <algorithm>
#include <stdexcept>

#include "common/clock.h"

namespace turntable::kv {

ValueUpdates::ValueUpdates(int socket, const Settings& settings)
    : socket_(socket), settings_(settings) {}

bool ValueUpdates::pending(workload::KeyId key) const {
  const auto found = keys_.find(key);
  return found != keys_.end() && found->second.pending;
}

std::int64_t ValueUpdates::free_since_ns(workload::KeyId key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? 0 : found->second.free_since_ns;
}

std::uint32_t ValueUpdates::take_place() {
  if (free_places_.empty()) {
    if (places_.size() >> kPlaceBits != 0) {
      throw std::runtime_error("more value updates are under way than a switch has slots");
    }
    free_places_.push_back(static_cast<std::uint32_t>(places_.size()));
    places_.push_back({.request_id = free_places_.back()});
  }
  const std::uint32_t place = free_places_.back();
  free_places_.pop_back();
  return place;
}

void ValueUpdates::add(workload::KeyId key, Packet update, const sockaddr_in& client) {
  Place& place = places_[take_place()];
  place.request_id += std::uint32_t{1} << kPlaceBits;
  place.used = true;
  place.key = key;
  place.client = client;
  update.request_id = place.request_id;
  place.size = encode(update, place.datagram);
  place.sent_ns = 0;
  keys_[key].pending = true;
  added_ = place.request_id;
}

void ValueUpdates::finished(std::int64_t finish_ns) {
  if (!added_) return;
  place_of(*added_)->finish_ns = finish_ns;
  first_.push_back({finish_ns + settings_.delay_ns, *added_});
  added_.reset();
}

ValueUpdates::Place* ValueUpdates::place_of(std::uint32_t request_id) noexcept {
  const std::uint32_t index = request_id & ((std::uint32_t{1} << kPlaceBits) - 1);
  if (index >= places_.size()) return nullptr;
  Place& place = places_[index];
  return place.used && place.request_id == request_id ? &place : nullptr;
}

std::int64_t ValueUpdates::next_ns() const noexcept {
  return std::min(first_.empty() ? INT64_MAX : first_.front().at_ns,
                  again_.empty() ? INT64_MAX : again_.front().at_ns);
}

void ValueUpdates::run(std::int64_t now_ns) noexcept {
  receive();
  send_due(first_, now_ns);
  send_due(again_, now_ns);
}

void ValueUpdates::send_due(std::deque<Due>& queue, std::int64_t now_ns) noexcept {
  while (!queue.empty() && queue.front().at_ns <= now_ns) {
    Place* place = place_of(queue.front().request_id);
    queue.pop_front();
    if (place != nullptr) send(*place, now_ns);  // else it has been acknowledged
  }
}

void ValueUpdates::send(Place& place, std::int64_t now_ns) noexcept {
  if (place.sent_ns == 0) {
    place.sent_ns = monotonic_ns();
    counters_.sent.add();
  } else {
    counters_.retries.add();
  }
  const auto* to = reinterpret_cast<const sockaddr*>(&place.client);
  if (::sendto(socket_, place.datagram.data(), place.size, 0, to, sizeof place.client) < 0) {
    counters_.send_errors.add();
  }
  again_.push_back({now_ns + settings_.retry_ns, place.request_id});
}

void ValueUpdates::receive() noexcept {
  if (places_.size() == free_places_.size()) return;  // nothing to acknowledge
  const std::int64_t to_monotonic = realtime_to_monotonic_ns();
  for (int count = received_.receive(socket_); count > 0; count = received_.receive(socket_)) {
    for (int i = 0; i < count; ++i) {
      const auto datagram = received_.at(static_cast<std::size_t>(i));
      Packet packet;
      const bool well = !datagram.truncated &&
                        decode(datagram.bytes, packet) == DecodeStatus::kOk &&
                        packet.type == PacketType::kValueUpdateAck;
      if (!well) {
        counters_.unexpected.add();
        continue;
      }
      acknowledge(packet.request_id,
                  datagram.has_stamp ? datagram.received_ns + to_monotonic : monotonic_ns());
    }
  }
}

void ValueUpdates::acknowledge(std::uint32_t request_id, std::int64_t at_ns) noexcept {
  Place* place = place_of(request_id);
  if (place == nullptr || place->sent_ns == 0) {
    counters_.unexpected.add();
    return;
  }
  const std::int64_t round_trip =
      settings_.delay_ns + std::max<std::int64_t>(0, at_ns - place->sent_ns);
  counters_.acknowledged.add();
  counters_.round_trip_sum_ns.add(round_trip);
  counters_.round_trip_max_ns.raise_to(round_trip);
  keys_[place->key] = {.pending = false, .free_since_ns = place->finish_ns + round_trip};
  place->used = false;
  free_places_.push_back(request_id & ((std::uint32_t{1} << kPlaceBits) - 1));
  while (!again_.empty() && place_of(again_.front().request_id) == nullptr) again_.pop_front();
}

}  // namespace turntable::kv
