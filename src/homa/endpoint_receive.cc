// What comes in.
#include <algorithm>
#include <utility>

#include "homa/endpoint.h"

namespace turntable::homa {

void Endpoint::receive(Peer from, const Packet& packet) {
  if (packet.from_client()) {
    receive_at_server(from, packet);
  } else {
    receive_at_client(from, packet);
  }
}

void Endpoint::receive_at_client(Peer from, const Packet& packet) {
  if (packet.id.client != client_) {
    ++statistics_.strangers;
    return;
  }
  Rpc* rpc = find(packet.id, true);
  if (rpc == nullptr) return receive_unknown_at_client(from, packet);
  if (rpc->peer != from) {
    ++statistics_.strangers;
    return;
  }
  // A server that asks for an acknowledgement has sent all, which is not here: that is silence.
  if (packet.opcode == Opcode::kNeedAck) return;
  rpc->silent_ticks = 0;
  switch (packet.opcode) {
    case Opcode::kAllData:
    case Opcode::kData:
      return receive_data(*rpc, packet);
    case Opcode::kGrant:
      return granted(*rpc, packet.offset, packet.granted_priority);
    case Opcode::kResend:
      return (packet.flags & kRestart) != 0 ? restart(*rpc) : receive_resend(*rpc, packet);
    case Opcode::kAbort:
      return abort(*rpc, AbortReason::kByServer);
    case Opcode::kNeedAck:
    case Opcode::kBusy:
    case Opcode::kAck:
      return;
  }
}

// The call is over. Whoever waits for something of it need not.
void Endpoint::receive_unknown_at_client(Peer from, const Packet& packet) {
  ++statistics_.unknown;
  if (packet.id.sequence >= next_sequence_) return;  // never made: nothing is known of it
  const bool wants_answer = packet.opcode == Opcode::kData || packet.opcode == Opcode::kGrant ||
                            packet.opcode == Opcode::kResend || packet.opcode == Opcode::kNeedAck;
  if (!wants_answer) return;
  if (settings_.at_most_once) return acknowledge(from, packet.id);
  send_control(from, packet.id, true, {.opcode = Opcode::kAbort});
}

void Endpoint::receive_at_server(Peer from, const Packet& packet) {
  if (packet.opcode == Opcode::kAck) acknowledged(packet);
  Rpc* rpc = find(packet.id, false);
  if (rpc == nullptr) {
    receive_unknown_at_server(from, packet);
    rpc = packet.is_data() ? find(packet.id, false) : nullptr;
    if (rpc == nullptr) return;
  }
  if (rpc->peer != from) {
    ++statistics_.strangers;
    return;
  }
  rpc->silent_ticks = 0;
  switch (packet.opcode) {
    case Opcode::kAllData:
    case Opcode::kData:
      return receive_data(*rpc, packet);
    case Opcode::kGrant:
      return granted(*rpc, packet.offset, packet.granted_priority);
    case Opcode::kResend:
      return receive_resend(*rpc, packet);
    case Opcode::kAbort:
      ++statistics_.requests_dropped;
      return forget_serving(*rpc);
    case Opcode::kAck:
      return forget_serving(*rpc);
    case Opcode::kBusy:
    case Opcode::kNeedAck:
      return;
  }
}

// A request's first packet makes a record of it.
void Endpoint::receive_unknown_at_server(Peer from, const Packet& packet) {
  if (!packet.is_data()) {
    ++statistics_.unknown;
    if (packet.opcode != Opcode::kResend) return;
    if (is_finished(packet.id))
      return send_control(from, packet.id, false, {.opcode = Opcode::kAbort});
    // Its request was lost, or its response: the call begins anew.
    return send_control(from, packet.id, false,
                        {.opcode = Opcode::kResend,
                         .flags = kRestart,
                         .length = settings_.rtt_bytes,
                         .granted_priority = highest_priority(settings_)});
  }
  if (is_finished(packet.id)) {
    ++statistics_.refused_again;
    return;
  }
  if (!is_possible(packet)) {
    ++statistics_.malformed;
    return;
  }
  Rpc& rpc = serving_[packet.id];
  rpc.id = packet.id;
  rpc.peer = from;
  rpc.state = RpcState::kReceiving;
}

// A message that a node with these settings may send.
bool Endpoint::is_possible(const Packet& packet) const noexcept {
  return packet.total <= settings_.max_message_bytes &&
         packet.unscheduled == std::min(packet.total, settings_.rtt_bytes) &&
         IncomingMessage::is_packet_of(packet.total, packet.offset, packet.length,
                                       settings_.payload_bytes);
}

void Endpoint::receive_data(Rpc& rpc, const Packet& packet) {
  if (!rpc.is_call() && rpc.state != RpcState::kReceiving) {
    ++statistics_.duplicate_packets;
    return;
  }
  Receiving& in = rpc.in;
  if (!is_possible(packet) || (in.message.started() && in.message.total() != packet.total)) {
    ++statistics_.malformed;
    return;
  }
  if (!in.message.started()) {
    in.message = IncomingMessage(packet.total, packet.unscheduled, settings_.payload_bytes);
    in.id = rpc.id;
    in.is_response = rpc.is_call();
    in.sender = rpc.peer;
    in.number = next_number_++;
  }
  data_since_tick_ = true;
  if (!in.message.add(packet.offset, packet.length, packet.payload))
    ++statistics_.duplicate_packets;
  if (in.message.is_scheduled()) schedule_grants(in);
  if (in.message.complete()) completed(rpc);
}

// At most one message is granted for a packet that came.
void Endpoint::schedule_grants(Receiving& receiving) {
  if (settings_.independent_grants) {
    if (grant_independently(settings_, receiving)) send_grant(receiving);
    return;
  }
  grants_.received(receiving);
  grant_one();
}

// The next packet of the first message that may be granted one.
void Endpoint::grant_one() {
  if (settings_.independent_grants) return;
  if (Receiving* granted = grants_.grant()) send_grant(*granted);
}

void Endpoint::completed(Rpc& rpc) {
  Content content = rpc.in.message.take_content();
  if (!rpc.is_call()) {
    rpc.state = RpcState::kExecuting;
    rpc.silent_ticks = 0;
    ++statistics_.executed;
    application_.request(rpc.id, rpc.peer, std::move(content));
    return;
  }
  const RpcId id = rpc.id;
  const Peer server = rpc.peer;
  const std::uint64_t tag = rpc.tag;
  forget_call(rpc);
  ++statistics_.responses;
  if (settings_.at_most_once) acknowledge(server, id);
  application_.response(tag, std::move(content));
}

// Bytes of the message below `offset` may be sent.
void Endpoint::granted(Rpc& rpc, std::uint32_t offset, std::uint8_t priority) {
  // Its peer may have more levels.
  rpc.out.grant(offset, std::min(priority, highest_priority(settings_)), settings_.payload_bytes);
  resume_sending(rpc);
}

void Endpoint::receive_resend(Rpc& rpc, const Packet& packet) {
  const bool is_sender = rpc.state != RpcState::kReceiving && rpc.state != RpcState::kExecuting;
  OutgoingMessage& out = rpc.out;
  if (is_sender && packet.offset >= out.size()) {
    ++statistics_.malformed;
    return;
  }
  if (is_sender) {
    granted(rpc, packet.offset + packet.length, packet.granted_priority);
    const std::uint32_t begin = packet.offset - packet.offset % settings_.payload_bytes;
    const std::uint32_t end = std::min(packet.offset + packet.length, out.size());
    // What has just been sent, or will be, is only late.
    if (end <= out.sent() && out.is_quiet_at(tick_)) return send_again(rpc, begin, end);
  }
  ++statistics_.busy_answers;
  send_control(rpc, {.opcode = Opcode::kBusy});
}

// The server knows nothing of the call. It gets another name where it may be executed twice, so
// that parts of two responses are not taken for one.
void Endpoint::restart(Rpc& rpc) {
  ++statistics_.restarts;
  sending_.erase(rpc.sending);
  grants_.forget(rpc.in);
  rpc.in = {};
  if (!settings_.at_most_once) {
    auto node = calls_.extract(rpc.id.sequence);
    node.key() = node.mapped().id.sequence = next_sequence_++;
    calls_.insert(std::move(node));
  }
  begin_sending(rpc, rpc.out.take_content());
}

void Endpoint::acknowledge(Peer server, RpcId id) {
  const std::uint64_t oldest = calls_.empty() ? next_sequence_ : calls_.begin()->first;
  send_control(server, id, true, {.opcode = Opcode::kAck, .oldest = oldest});
}

// The call's own record becomes one of those when it is forgotten.
void Endpoint::acknowledged(const Packet& packet) {
  if (!settings_.at_most_once) return;
  Finished& finished = finished_[packet.id.client];
  finished.below = std::max(finished.below, packet.oldest);
  finished.sequences.erase(finished.sequences.begin(),
                           finished.sequences.lower_bound(finished.below));
}

bool Endpoint::is_finished(RpcId id) const {
  const auto found = finished_.find(id.client);
  return found != finished_.end() &&
         (id.sequence < found->second.below || found->second.sequences.contains(id.sequence));
}

}  // namespace turntable::homa
