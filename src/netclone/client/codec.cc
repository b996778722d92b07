#include "netclone/client/codec.h"

#include "netclone/choices.h"

namespace turntable::netclone {

unsigned Codec::send(std::uint64_t number, std::int64_t now_ns, net::Datagrams& out) noexcept {
  Packet packet{.op = Op::kRequest,
                .request = request_id(client_, number),
                .sent_at_ns = static_cast<std::uint64_t>(now_ns + to_realtime_ns_),
                .client = client_};
  draw(packet);
  const auto add = [&](const sockaddr_in& to) { out.add(encode(packet, out.buffer()), &to); };
  const std::uint32_t servers = traffic_->server_count();
  switch (traffic_->method) {
    case Method::kNoClone:
      add(traffic_->servers[chosen_server(traffic_->seed, packet.request, servers)]);
      return 1;
    case Method::kCClone: {
      const Pair pair = chosen_servers(traffic_->seed, packet.request, servers);
      packet.clone = Clone::kOriginal;
      add(traffic_->servers[pair.first]);
      packet.clone = Clone::kClone;
      add(traffic_->servers[pair.second]);
      return 2;
    }
    default:
      add(traffic_->gate);
      return 1;
  }
}

void Codec::draw(Packet& packet) const noexcept {
  const std::uint64_t seed = traffic_->seed;
  packet.operation = traffic_->mix.operation(seed, packet.request);
  if (traffic_->objects) {
    packet.object = static_cast<std::uint32_t>(
        traffic_->objects->rank(uniform(seed, Stream::kObject, packet.request)));
  }
  if (!clones_in_switch(traffic_->method)) return;
  const std::uint32_t servers = traffic_->server_count();
  packet.group = chosen_group(seed, packet.request, servers);
  packet.server = index_of(uniform(seed, Stream::kSid, packet.request), servers);
  packet.table = chosen_table(seed, packet.request);
}

std::optional<std::uint64_t> Codec::decode(const net::Datagrams::Received& datagram) noexcept {
  Packet answer;
  if (datagram.truncated || netclone::decode(datagram.bytes, answer) != DecodeStatus::kOk ||
      answer.op != Op::kResponse) {
    ++counts_.malformed;
    return std::nullopt;
  }
  if (answer.sent_at_ns < since_ns_) {
    ++counts_.late;
    return std::nullopt;
  }
  if (answer.client != client_ || !traffic_->is_answer_from(datagram.from, answer.server)) {
    ++counts_.not_mine;
    return std::nullopt;
  }
  const std::uint64_t number = number_of(answer.request);
  if (number >= kFirstProbe) return std::nullopt;  // late, and measured already
  answer_ = answer;
  return number;
}

void Codec::counted(const load::OpenLoop::Counted& answer) noexcept {
  const bool counts = answer.in_window && answer.answer == load::OpenLoop::Answer::kFirst;
  if (!counts) return;
  if (traffic_->method == Method::kLaedge) credit_delays_.note(answer_);
  if (answer_.clone == Clone::kNone) return;
  ++counts_.cloned;
  if (answer_.clone == Clone::kClone) ++counts_.clone_first;
}

}  // namespace turntable::netclone
