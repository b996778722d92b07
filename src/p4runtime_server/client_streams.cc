#include "p4runtime_server/client_streams.h"

#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {

using p4::v1::StreamMessageRequest;
using p4::v1::StreamMessageResponse;

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
  StreamMessageResponse answer;
  p4::v1::StreamError& error = *answer.mutable_error();
  error.set_canonical_code(grpc::StatusCode::UNIMPLEMENTED);
  if (request.has_packet()) {
    error.mutable_packet_out();
    error.set_message("packets go through the switch's CPU port, not through this server");
  } else if (request.has_digest_ack()) {
    *error.mutable_digest_list_ack()->mutable_digest_list_ack() = request.digest_ack();
    error.set_message("digests are not served here yet");
  } else {
    error.mutable_other();
    error.set_message("a message of this kind is not known");
  }
  send(std::move(answer));
  return std::nullopt;
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
  streams_[id] = stream;
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
