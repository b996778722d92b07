#include "homa/endpoint.h"

#include <string>
#include <utility>

#include "common/command_error.h"

namespace turntable::homa {

Statistics& Statistics::operator+=(const Statistics& other) noexcept {
  calls += other.calls;
  responses += other.responses;
  aborted += other.aborted;
  executed += other.executed;
  requests_dropped += other.requests_dropped;
  data_packets_sent += other.data_packets_sent;
  control_packets_sent += other.control_packets_sent;
  packets_sent_again += other.packets_sent_again;
  duplicate_packets += other.duplicate_packets;
  resends_asked += other.resends_asked;
  busy_answers += other.busy_answers;
  restarts += other.restarts;
  unknown += other.unknown;
  strangers += other.strangers;
  malformed += other.malformed;
  refused_again += other.refused_again;
  return *this;
}

Endpoint::Endpoint(const Settings& settings, std::uint64_t client, Application& application)
    : settings_(settings), client_(client), application_(application), grants_(settings_) {
  check(settings_);
}

void Endpoint::check_size(std::uint32_t bytes) const {
  if (bytes >= 1 && bytes <= settings_.max_message_bytes) return;
  throw bad_argument("a message has " + std::to_string(bytes) + " bytes; expected 1 to " +
                     std::to_string(settings_.max_message_bytes) + " (max_message_bytes)");
}

void Endpoint::call(Peer server, Content request, std::uint64_t tag) {
  check_size(request.size);
  const RpcId id{client_, next_sequence_++};
  Rpc& rpc = calls_[id.sequence];
  rpc.id = id;
  rpc.peer = server;
  rpc.tag = tag;
  ++statistics_.calls;
  begin_sending(rpc, std::move(request));
}

bool Endpoint::reply(RpcId id, Content response) {
  check_size(response.size);
  const auto found = serving_.find(id);
  if (found == serving_.end() || found->second.state != RpcState::kExecuting) return false;
  found->second.state = RpcState::kResponding;
  begin_sending(found->second, std::move(response));
  return true;
}

void Endpoint::begin_sending(Rpc& rpc, Content content) {
  rpc.out = OutgoingMessage(std::move(content), settings_);
  rpc.number = next_number_++;
  rpc.silent_ticks = 0;
  if (rpc.out.size() < settings_.direct_below_bytes) {
    due_.push_back({.kind = Due::Kind::kFirst, .of_call = rpc.is_call(), .id = rpc.id});
  } else {
    resume_sending(rpc);
  }
}

// More of `rpc.out` may be sent now, perhaps.
void Endpoint::resume_sending(Rpc& rpc) {
  if (!rpc.out.may_send() || rpc.sending.taken()) return;
  if (rpc.out.size() < settings_.direct_below_bytes) return;
  sending_.insert(rpc.sending, rpc.out.left(), rpc.number, rpc);
}

bool Endpoint::next(Outgoing& outgoing) {
  last_sent_ = {};
  if (take_due(outgoing)) return true;
  if (sending_.empty()) return false;
  Rpc& rpc = sending_.first();
  return take_data(rpc, rpc.out.sent(), false, outgoing);
}

bool Endpoint::take_due(Outgoing& outgoing) {
  while (!due_.empty()) {
    const Due due = due_.front();
    due_.pop_front();
    if (due.kind == Due::Kind::kControl) {
      outgoing = {due.to, due.packet};
      ++statistics_.control_packets_sent;
      return true;
    }
    Rpc* rpc = find(due.id, due.of_call);
    if (rpc == nullptr) continue;
    if (due.kind == Due::Kind::kGrant) {
      Receiving& in = rpc->in;
      if (!std::exchange(in.grant_is_due, false)) continue;
      Packet grant{.opcode = Opcode::kGrant, .id = in.id};
      grant.flags = rpc->is_call() ? kFromClient : std::uint8_t{0};
      grant.offset = in.message.granted();
      grant.granted_priority = in.granted_priority;
      grant.priority = highest_priority(settings_);
      outgoing = {rpc->peer, grant};
      ++statistics_.control_packets_sent;
      return true;
    }
    const bool again = due.kind == Due::Kind::kAgain;
    // Since it was asked for, the message may have begun anew.
    if (again ? due.offset >= rpc->out.sent() : rpc->out.sent() > 0) continue;
    return take_data(*rpc, due.offset, again, outgoing);
  }
  return false;
}

bool Endpoint::take_data(Rpc& rpc, std::uint32_t offset, bool again, Outgoing& outgoing) {
  OutgoingMessage& out = rpc.out;
  const std::uint32_t length = out.packet_length(offset, settings_.payload_bytes);
  Packet packet{.opcode = length == out.size() ? Opcode::kAllData : Opcode::kData, .id = rpc.id};
  packet.flags =
      static_cast<std::uint8_t>((rpc.is_call() ? kFromClient : 0) | (again ? kRetransmission : 0));
  packet.total = out.size();
  packet.offset = offset;
  packet.length = length;
  packet.unscheduled = out.unscheduled();
  packet.payload = out.content().part(offset, length);
  packet.priority = out.priority();
  outgoing = {rpc.peer, packet};
  ++statistics_.data_packets_sent;
  if (again) {
    ++statistics_.packets_sent_again;
    return true;
  }
  out.count_sent(length, tick_);
  if (!out.may_send()) {
    sending_.erase(rpc.sending);
  } else if (rpc.sending.taken()) {
    sending_.update(rpc.sending, out.left());
  }
  if (out.all_sent()) sent_all(rpc);
  return true;
}

// A server forgets a call with the last byte of its response, unless it is to execute it once.
void Endpoint::sent_all(Rpc& rpc) {
  if (rpc.state != RpcState::kResponding) return;
  if (settings_.at_most_once) {
    rpc.state = RpcState::kAwaitingAck;
    return;
  }
  last_sent_ = rpc.out.take_content();
  forget_serving(rpc);
}

void Endpoint::send_control(const Rpc& rpc, Packet packet) {
  send_control(rpc.peer, rpc.id, rpc.is_call(), packet);
}

void Endpoint::send_control(Peer to, RpcId id, bool from_client, Packet packet) {
  packet.id = id;
  packet.flags = static_cast<std::uint8_t>(packet.flags | (from_client ? kFromClient : 0));
  packet.priority = highest_priority(settings_);
  due_.push_back({.kind = Due::Kind::kControl, .to = to, .packet = packet});
}

// Grants that are made before the packet goes out are one packet.
void Endpoint::send_grant(Receiving& receiving) {
  if (std::exchange(receiving.grant_is_due, true)) return;
  due_.push_back({.kind = Due::Kind::kGrant, .of_call = receiving.is_response, .id = receiving.id});
}

void Endpoint::send_again(Rpc& rpc, std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t at = begin; at < end; at += settings_.payload_bytes)
    due_.push_back(
        {.kind = Due::Kind::kAgain, .of_call = rpc.is_call(), .id = rpc.id, .offset = at});
  rpc.out.count_sent_again(tick_);
}

Rpc* Endpoint::find(RpcId id, bool is_call) {
  if (is_call) {
    const auto found = id.client == client_ ? calls_.find(id.sequence) : calls_.end();
    return found == calls_.end() ? nullptr : &found->second;
  }
  const auto found = serving_.find(id);
  return found == serving_.end() ? nullptr : &found->second;
}

}  // namespace turntable::homa
