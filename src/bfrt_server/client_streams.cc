#include "bfrt_server/client_streams.h"

#include "bfrt_server/failure.h"

namespace turntable::bfrt_server {

ClientStream::ClientStream(ClientStreams& streams, Sessions& sessions, StreamId id)
    : MessageStream("bfrt-server: stream " + std::to_string(id) + ": its client"),
      streams_(streams),
      sessions_(sessions),
      id_(id) {
  begin();
}

std::optional<grpc::Status> ClientStream::handle(const bfrt_proto::StreamMessageRequest& request) {
  if (request.has_digest_ack())
    return not_supported("digests need no acknowledgement: Not yet implemented").status();
  // An SDE leaves a second subscription alone, too.
  if (!request.has_subscribe() || client()) return std::nullopt;
  if (request.subscribe().device_id() != 0) {
    return invalid("there is no device " + std::to_string(request.subscribe().device_id()) +
                   ", only 0;")
        .status();
  }
  try {
    sessions_.subscribe(id_, request.client_id());
  } catch (const Failure& failure) {
    return failure.status();
  }
  {
    const std::lock_guard lock(mutex_);
    client_ = request.client_id();
    notifications_ = request.subscribe().notifications();
  }
  Message answer;
  answer.mutable_subscribe()->mutable_status()->set_code(grpc::StatusCode::OK);
  send(std::move(answer));
  return std::nullopt;
}

void ClientStream::closing() {
  sessions_.close(id_);
}

void ClientStream::done() {
  streams_.remove(id_);
}

std::optional<ClientId> ClientStream::client() const {
  const std::lock_guard lock(mutex_);
  return client_;
}

bfrt_proto::Subscribe::Notifications ClientStream::notifications() const {
  const std::lock_guard lock(mutex_);
  return notifications_;
}

ClientStream* ClientStreams::open() {
  const std::lock_guard lock(mutex_);
  const StreamId id = next_++;
  auto* stream = new ClientStream(*this, sessions_, id);
  streams_[id] = stream;
  return stream;
}

void ClientStreams::remove(StreamId id) {
  const std::lock_guard lock(mutex_);
  streams_.erase(id);
}

void ClientStreams::each(const std::function<void(ClientStream&)>& use) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, stream] : streams_) {
    if (stream->client()) use(*stream);
  }
}

void ClientStreams::with(ClientId client, const std::function<void(ClientStream&)>& use) {
  each([&](ClientStream& stream) {
    if (stream.client() == client) use(stream);
  });
}

}  // namespace turntable::bfrt_server
