#include "p4runtime_server/client_streams.h"

#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {

using p4::v1::StreamMessageRequest;
using p4::v1::StreamMessageResponse;

namespace {

StreamMessageResponse stream_error(const StreamMessageRequest& request, const Refusal& refusal) {
  StreamMessageResponse answer;
  p4::v1::StreamError& error = *answer.mutable_error();
  error.set_canonical_code(refusal.code());
  error.set_message(refusal.what());
  if (request.has_packet()) {
    *error.mutable_packet_out()->mutable_packet_out() = request.packet();
  } else if (request.has_digest_ack()) {
    *error.mutable_digest_list_ack()->mutable_digest_list_ack() = request.digest_ack();
  } else {
    error.mutable_other();
  }
  return answer;
}

}  // namespace

ClientStream::ClientStream(ClientStreams& streams, StreamId id)
    : MessageStream("p4runtime-server: stream " + std::to_string(id) + ": its client"),
      streams_(streams),
      id_(id) {
  begin();
}

std::optional<grpc::Status> ClientStream::handle(const StreamMessageRequest& request) {
  if (request.has_arbitration()) {
    try {
      streams_.arbitrate(id_, request.arbitration());
      return std::nullopt;
    } catch (const Refusal& refusal) {
      return refusal.status();
    }
  }
  try {
    handle_primarys(request);
  } catch (const Refusal& refusal) {
    send(stream_error(request, refusal));
  }
  return std::nullopt;
}

void ClientStream::handle_primarys(const StreamMessageRequest& request) {
  if (request.has_packet()) return streams_.packet_out(id_, request.packet());
  if (request.has_digest_ack()) return streams_.digest_ack(id_, request.digest_ack());
  throw not_supported("a message of this kind is not known");
}

void ClientStream::closing() {
  streams_.leave(id_);
}

void ClientStream::done() {
  streams_.remove(id_);
}

ClientStream* ClientStreams::open() {
  const std::lock_guard lock(mutex_);
  const StreamId id = next_++;
  auto* stream = new ClientStream(*this, id);
  if (streams_.size() >= kMostStreams) {
    stream->end({grpc::StatusCode::RESOURCE_EXHAUSTED,
                 "there are " + std::to_string(kMostStreams) + " streams already; end one"});
  } else {
    streams_[id] = stream;
  }
  return stream;
}

void ClientStreams::remove(StreamId id) {
  const std::lock_guard lock(mutex_);
  streams_.erase(id);
}

void ClientStreams::finish_all(const grpc::Status& status) {
  std::vector<StreamId> ids;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, stream] : streams_) ids.push_back(id);
  }
  for (const StreamId id : ids) leave(id);
  const std::lock_guard lock(mutex_);
  for (const auto& [id, stream] : streams_) stream->end(status);
}

std::size_t ClientStreams::clients() const {
  const std::lock_guard lock(mutex_);
  return arbitration_.clients();
}

void ClientStreams::arbitrate(StreamId id, const Update& asked) {
  const std::lock_guard work_lock(working_);
  const std::lock_guard lock(mutex_);
  tell(arbitration_.update(id, asked));
}

void ClientStreams::leave(StreamId id) {
  const std::lock_guard work_lock(working_);
  const std::lock_guard lock(mutex_);
  tell(arbitration_.leave(id));
}

void ClientStreams::check_primary(StreamId id) const {
  if (!arbitration_.is_primary(id)) throw denied("this stream's client is not primary");
}

void ClientStreams::packet_out(StreamId id, const p4::v1::PacketOut& packet) {
  const std::lock_guard lock(mutex_);
  check_primary(id);
  handlers_.packet_out(packet);
}

void ClientStreams::digest_ack(StreamId id, const p4::v1::DigestListAck& acknowledgement) {
  const std::lock_guard lock(mutex_);
  check_primary(id);
  handlers_.digest_ack(acknowledgement);
}

bool ClientStreams::has_primary() const {
  const std::lock_guard lock(mutex_);
  return !arbitration_.primaries().empty();
}

void ClientStreams::send_to_primaries(const StreamMessageResponse& message) {
  const std::lock_guard lock(mutex_);
  for (const StreamId id : arbitration_.primaries()) {
    const auto stream = streams_.find(id);
    if (stream != streams_.end()) stream->second->send(message);
  }
}

void ClientStreams::as_primary(const std::string& role, const p4::v1::Uint128& election_id,
                               const std::function<void()>& write) {
  const std::lock_guard work_lock(working_);
  {
    const std::lock_guard lock(mutex_);
    arbitration_.check_primary(role, election_id);
  }
  write();
}

void ClientStreams::alone(const std::function<void()>& read) {
  const std::lock_guard work_lock(working_);
  read();
}

// Sending waits for nobody.
void ClientStreams::tell(std::vector<Arbitration::Notice> notices) {
  for (Arbitration::Notice& notice : notices) {
    const auto stream = streams_.find(notice.stream);
    if (stream == streams_.end()) continue;
    StreamMessageResponse message;
    *message.mutable_arbitration() = std::move(notice.update);
    stream->second->send(std::move(message));
  }
}

}  // namespace turntable::p4runtime_server
