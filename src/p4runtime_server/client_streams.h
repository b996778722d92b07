// The streams of clients, and which of them is primary.
#pragma once

#include <functional>
#include <map>
#include <mutex>

#include "bfrt_server/message_stream.h"
#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/arbitration.h"

namespace turntable::p4runtime_server {

class ClientStreams;

// One StreamChannel.
class ClientStream final : public bfrt_server::MessageStream<p4::v1::StreamMessageRequest,
                                                             p4::v1::StreamMessageResponse> {
 public:
  ClientStream(ClientStreams& streams, StreamId id);

 private:
  std::optional<grpc::Status> handle(const p4::v1::StreamMessageRequest& request) override;
  void closing() override;
  void done() override;

  ClientStreams& streams_;
  const StreamId id_;
};

// Thread-safe.
class ClientStreams {
 public:
  using Update = Arbitration::Update;

  ClientStream* open();
  void remove(StreamId id);
  void finish_all(const grpc::Status& status);
  std::size_t clients() const;

  // Throws Refusal.
  void arbitrate(StreamId id, const Update& asked);
  void leave(StreamId id);

  // Runs `write` for the primary of a role: nobody else becomes primary, reads or writes before it
  // returns. Throws Refusal where the election id is not the primary's.
  void as_primary(const std::string& role, const p4::v1::Uint128& election_id,
                  const std::function<void()>& write);
  // Runs `read` while nobody writes.
  void alone(const std::function<void()>& read);

 private:
  void tell(std::vector<Arbitration::Notice> notices);

  std::mutex working_;  // taken before mutex_
  mutable std::mutex mutex_;
  Arbitration arbitration_;
  StreamId next_ = 1;
  std::map<StreamId, ClientStream*> streams_;
};

}  // namespace turntable::p4runtime_server
