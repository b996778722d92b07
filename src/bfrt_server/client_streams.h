// The streams of clients. Nothing here waits for a client: reading and writing go on by themselves.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "bfrt/bfruntime.pb.h"
#include "bfrt_server/message_stream.h"
#include "bfrt_server/sessions.h"

namespace turntable::bfrt_server {

class ClientStreams;

// One StreamChannel.
class ClientStream final
    : public MessageStream<bfrt_proto::StreamMessageRequest, bfrt_proto::StreamMessageResponse> {
 public:
  using Message = bfrt_proto::StreamMessageResponse;

  ClientStream(ClientStreams& streams, Sessions& sessions, StreamId id);

  std::optional<ClientId> client() const;
  bfrt_proto::Subscribe::Notifications notifications() const;

 private:
  std::optional<grpc::Status> handle(const bfrt_proto::StreamMessageRequest& request) override;
  void closing() override;
  void done() override;

  ClientStreams& streams_;
  Sessions& sessions_;
  const StreamId id_;
  mutable std::mutex mutex_;
  std::optional<ClientId> client_;
  bfrt_proto::Subscribe::Notifications notifications_;
};

// Thread-safe.
class ClientStreams {
 public:
  explicit ClientStreams(Sessions& sessions) : sessions_(sessions) {}

  ClientStream* open();
  void remove(StreamId id);

  // Calls `use` with each stream that has subscribed.
  void each(const std::function<void(ClientStream&)>& use);
  // That of a client, if it has one.
  void with(ClientId client, const std::function<void(ClientStream&)>& use);

 private:
  Sessions& sessions_;
  std::mutex mutex_;
  StreamId next_ = 1;
  std::map<StreamId, ClientStream*> streams_;
};

}  // namespace turntable::bfrt_server
