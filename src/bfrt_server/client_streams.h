// The streams of clients. Nothing here waits for a client: reading and writing go on by themselves.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "bfrt/bfruntime.pb.h"
#include "bfrt_server/outbox.h"
#include "bfrt_server/sessions.h"

namespace turntable::bfrt_server {

class ClientStreams;

// One StreamChannel; deletes itself when gRPC is done with it.
class ClientStream final : public grpc::ServerBidiReactor<bfrt_proto::StreamMessageRequest,
                                                          bfrt_proto::StreamMessageResponse> {
 public:
  using Message = bfrt_proto::StreamMessageResponse;

  ClientStream(ClientStreams& streams, Sessions& sessions, StreamId id);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  // Never waits; the message is lost where too many wait already.
  void send(Message message);
  // The client's id is free at once; its stream ends when what is being sent has left.
  void finish(const grpc::Status& status);

  std::optional<ClientId> client() const;
  bfrt_proto::Subscribe::Notifications notifications() const;

 private:
  std::optional<grpc::Status> handle(const bfrt_proto::StreamMessageRequest& request);

  ClientStreams& streams_;
  Sessions& sessions_;
  const StreamId id_;
  bfrt_proto::StreamMessageRequest request_;  // being read
  mutable std::mutex mutex_;
  Outbox outbox_;
  bool writing_ = false;
  std::optional<grpc::Status> end_;  // no more reads and writes begin
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
