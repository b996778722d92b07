#include "homa/testing_watch.h"

#include <algorithm>
#include <sstream>

namespace turntable::homa {
namespace {

// `from_client` of data and of what asks for data are opposite directions.
MessageName name_of(const Packet& packet) {
  return {packet.id.client, packet.id.sequence, packet.from_client() == packet.is_data()};
}

}  // namespace

void Watch::tell(const std::string& rule, const Packet& packet) {
  std::ostringstream text;
  text << rule << ": opcode " << int{static_cast<std::uint8_t>(packet.opcode)} << " of call "
       << packet.id.client << "/" << packet.id.sequence << ", flags " << int{packet.flags}
       << ", total " << packet.total << ", offset " << packet.offset << ", length " << packet.length
       << ", priority " << int{packet.priority} << "/" << int{packet.granted_priority};
  broken_(text.str());
}

std::uint8_t Watch::unscheduled(std::uint32_t size) const {
  std::uint32_t priority = settings_.levels - 1;
  for (const std::uint32_t cutoff : settings_.cutoffs)
    if (size >= cutoff) --priority;
  return static_cast<std::uint8_t>(priority);
}

void Watch::begins(Peer to, std::uint32_t size, std::optional<MessageName> name) {
  sending_.push_back({to, size, 0, std::min(size, settings_.rtt_bytes), name});
}

void Watch::forget(RpcId id) {
  for (const bool request : {true, false}) {
    const MessageName name{id.client, id.sequence, request};
    std::erase_if(sending_, [&](const Sending& sending) { return sending.name == name; });
    incoming_.erase(name);
  }
}

void Watch::over(RpcId id) {
  forget(id);
  over_.insert({id.client, id.sequence, false});
}

// Executed twice is allowed, unless it is at-most-once.
void Watch::server_forgets(RpcId id) {
  forget(id);
  if (settings_.at_most_once) over_.insert({id.client, id.sequence, true});
}

Watch::Sending* Watch::find_sending(const MessageName& name) {
  for (Sending& sending : sending_)
    if (sending.name == name) return &sending;
  return nullptr;
}

void Watch::receives(Peer from, const Packet& packet) {
  const MessageName name = name_of(packet);
  if (packet.is_data()) return receives_data(from, packet);
  if (packet.opcode == Opcode::kAbort || packet.opcode == Opcode::kAck) {
    if (packet.from_client()) server_forgets(packet.id);
    return;
  }
  Sending* sending = find_sending(name);
  if (sending == nullptr) return;
  if (packet.opcode == Opcode::kResend && (packet.flags & kRestart) != 0) {
    const Sending anew{sending->to, sending->size, 0, std::min(sending->size, settings_.rtt_bytes),
                       std::nullopt};
    incoming_.erase({packet.id.client, packet.id.sequence, false});
    if (settings_.at_most_once) {
      *sending = anew;
      sending->name = name;
    } else {
      over_.insert({packet.id.client, packet.id.sequence, false});
      *sending = anew;
    }
    return;
  }
  std::uint64_t limit = 0;
  if (packet.opcode == Opcode::kGrant) limit = packet.offset;
  if (packet.opcode == Opcode::kResend) limit = std::uint64_t{packet.offset} + packet.length;
  limit = (limit + settings_.payload_bytes - 1) / settings_.payload_bytes * settings_.payload_bytes;
  sending->limit = std::max(
      sending->limit, static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, sending->size)));
}

void Watch::receives_data(Peer from, const Packet& packet) {
  const MessageName name = name_of(packet);
  if (over_.contains(name)) return;
  if (!packet.from_client() &&
      find_sending({packet.id.client, packet.id.sequence, true}) == nullptr)
    return;
  const auto [found, is_new] = incoming_.try_emplace(name);
  Incoming& incoming = found->second;
  if (is_new) {
    incoming.from = from;
    incoming.total = packet.total;
    incoming.number = next_number_++;
    incoming.granted = std::min(packet.total, settings_.rtt_bytes);
  }
  if (incoming.contiguous == incoming.total) return;
  data_since_tick_ = true;
  incoming.offsets.insert(packet.offset);
  // A record anew, of a call that was served before: what comes was granted then.
  incoming.granted = std::max(incoming.granted, packet.offset + packet.length);
  while (incoming.contiguous < incoming.total && incoming.offsets.contains(incoming.contiguous))
    incoming.contiguous = std::min(incoming.total, incoming.contiguous + settings_.payload_bytes);
  if (exact_ && incoming.total > settings_.rtt_bytes) expect_grant(incoming, name);
}

// At most one for each packet.
void Watch::expect_grant(const Incoming& arrived, const MessageName& name) {
  if (settings_.independent_grants) {
    if (arrived.granted < arrived.total &&
        arrived.granted < arrived.contiguous + settings_.rtt_bytes) {
      const std::uint32_t ahead = arrived.contiguous + settings_.rtt_bytes +
                                  settings_.independent_ahead_packets * settings_.payload_bytes;
      expected_.push_back({name, std::min(arrived.total, ahead), 0});
    }
    return;
  }
  std::map<Peer, const std::pair<const MessageName, Incoming>*> best;
  const auto shorter = [](const Incoming& a, const Incoming& b) {
    return std::pair(a.total - a.contiguous, a.number) <
           std::pair(b.total - b.contiguous, b.number);
  };
  for (const auto& entry : incoming_) {
    const Incoming& incoming = entry.second;
    if (incoming.granted == incoming.total) continue;
    auto& of_sender = best[incoming.from];
    if (of_sender == nullptr || shorter(incoming, of_sender->second)) of_sender = &entry;
  }
  std::vector<const std::pair<const MessageName, Incoming>*> active;
  active.reserve(best.size());
  for (const auto& [sender, entry] : best) active.push_back(entry);
  std::sort(active.begin(), active.end(),
            [&](const auto* a, const auto* b) { return shorter(a->second, b->second); });
  if (active.size() > settings_.degree) active.resize(settings_.degree);
  for (std::size_t rank = 0; rank < active.size(); ++rank) {
    const Incoming& incoming = active[rank]->second;
    if (incoming.granted >= incoming.contiguous + settings_.rtt_bytes) continue;
    const int scheduled_levels = static_cast<int>(settings_.levels - settings_.unscheduled_levels);
    const int top = std::max(scheduled_levels - 1, 0);
    int priority =
        std::max(0, std::min(static_cast<int>(active.size()) - 1, top) - static_cast<int>(rank));
    if (incoming.total - incoming.granted <= settings_.rtt_bytes)
      priority = unscheduled(std::min(settings_.rtt_bytes, incoming.total - settings_.rtt_bytes));
    expected_.push_back({active[rank]->first,
                         std::min(incoming.total, incoming.granted + settings_.payload_bytes),
                         static_cast<std::uint8_t>(priority)});
    return;
  }
}

void Watch::ticks() {
  if (!exact_ || std::exchange(data_since_tick_, false) || settings_.independent_grants) return;
  expect_grant({}, {});
}

void Watch::has_sent_all() {
  for (const Grant& grant : expected_) {
    Packet packet{.opcode = Opcode::kGrant};
    packet.id = {std::get<0>(grant.name), std::get<1>(grant.name)};
    packet.offset = grant.offset;
    packet.granted_priority = grant.priority;
    tell("a grant is missing", packet);
  }
  expected_.clear();
}

void Watch::sends(Peer to, const Packet& packet) {
  if (packet.is_data()) return sends_data(to, packet);
  if (packet.opcode == Opcode::kGrant) return sends_grant(packet);
  if (packet.priority != settings_.levels - 1)
    tell("control is not at the highest priority", packet);
}

// Requests are named by their endpoint: the oldest of this size to this node has this name.
Watch::Sending* Watch::name_first(Peer to, const Packet& packet) {
  for (Sending& sending : sending_) {
    if (sending.name || sending.to != to || sending.size != packet.total) continue;
    sending.name = name_of(packet);
    return &sending;
  }
  return nullptr;
}

void Watch::sends_data(Peer to, const Packet& packet) {
  Sending* sending = find_sending(name_of(packet));
  if (sending == nullptr && packet.from_client()) sending = name_first(to, packet);
  if (sending == nullptr) return tell("data of no message", packet);
  if (packet.total != sending->size || to != sending->to) tell("another message's name", packet);
  if ((packet.flags & kRetransmission) != 0) {
    if (packet.offset + packet.length > sending->sent)
      tell("sent again before it was sent", packet);
    return;
  }
  if (packet.offset != sending->sent) tell("bytes are out of order", packet);
  if (packet.length != std::min(settings_.payload_bytes, sending->size - sending->sent))
    tell("not a full packet, nor the last", packet);
  if (packet.offset + packet.length > sending->limit) tell("sent without permission", packet);
  if (packet.offset < settings_.rtt_bytes && sending->limit <= settings_.rtt_bytes &&
      packet.priority != unscheduled(sending->size))
    tell("not at the priority of unscheduled bytes", packet);
  const std::uint32_t left = sending->size - sending->sent;
  if (sending->size >= settings_.direct_below_bytes) {
    for (const Sending& other : sending_) {
      if (other.size < settings_.direct_below_bytes || other.sent >= other.limit) continue;
      if (other.size - other.sent < left) tell("a message with fewer bytes left waits", packet);
    }
  }
  sending->sent += packet.length;
  const bool forgets = !packet.from_client() && !settings_.at_most_once;
  if (forgets && sending->sent == sending->size) server_forgets(packet.id);
}

void Watch::sends_grant(const Packet& packet) {
  const MessageName name = name_of(packet);
  const auto found = incoming_.find(name);
  if (found == incoming_.end()) return tell("a grant for no message", packet);
  Incoming& incoming = found->second;
  const std::uint32_t ahead =
      settings_.rtt_bytes + (settings_.independent_grants
                                 ? settings_.independent_ahead_packets * settings_.payload_bytes
                                 : 0);
  if (packet.offset > incoming.total) tell("granted beyond the end", packet);
  if (packet.offset > incoming.contiguous + ahead) tell("granted too far ahead", packet);
  if (packet.offset <= incoming.granted) tell("nothing new is granted", packet);
  incoming.granted = packet.offset;
  if (!exact_) return;
  const auto grant = std::find_if(expected_.begin(), expected_.end(), [&](const Grant& expected) {
    return expected.name == name && expected.offset == packet.offset &&
           expected.priority == packet.granted_priority;
  });
  if (grant == expected_.end()) return tell("another grant was expected, or none", packet);
  expected_.erase(grant);
}

}  // namespace turntable::homa
