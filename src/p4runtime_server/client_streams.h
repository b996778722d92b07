// The streams of clients, and which of them is primary.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "bfrt_server/message_stream.h"
#include "p4/v1/p4runtime.pb.h"
#include "p4runtime_server/arbitration.h"

namespace turntable::p4runtime_server {

inline constexpr std::size_t kMostStreams = 128;  // those that have asked for nothing yet, too

class ClientStreams;

// What a primary asks on its stream. Throw Refusal, which is told on the stream.
struct StreamHandlers {
  std::function<void(const p4::v1::PacketOut&)> packet_out;
  std::function<void(const p4::v1::DigestListAck&)> digest_ack;
};

// One StreamChannel.
class ClientStream final : public bfrt_server::MessageStream<p4::v1::StreamMessageRequest,
                                                             p4::v1::StreamMessageResponse> {
 public:
  ClientStream(ClientStreams& streams, StreamId id);

 private:
  std::optional<grpc::Status> handle(const p4::v1::StreamMessageRequest& request) override;
  // Throws Refusal.
  void handle_primarys(const p4::v1::StreamMessageRequest& request);
  void closing() override;
  void done() override;

  ClientStreams& streams_;
  const StreamId id_;
};

// Thread-safe.
class ClientStreams {
 public:
  using Update = Arbitration::Update;

  explicit ClientStreams(StreamHandlers handlers) : handlers_(std::move(handlers)) {}

  // One that ends at once with RESOURCE_EXHAUSTED where there are kMostStreams.
  ClientStream* open();
  void remove(StreamId id);
  void finish_all(const grpc::Status& status);
  std::size_t clients() const;

  // Throws Refusal.
  void arbitrate(StreamId id, const Update& asked);
  void leave(StreamId id);

  // Throw Refusal PERMISSION_DENIED where the stream is not a primary's, and what the handler says.
  // Nobody else becomes primary meanwhile.
  void packet_out(StreamId id, const p4::v1::PacketOut& packet);
  void digest_ack(StreamId id, const p4::v1::DigestListAck& acknowledgement);

  bool has_primary() const;
  void send_to_primaries(const p4::v1::StreamMessageResponse& message);

  // Runs `write` for the primary of a role: nobody else becomes primary, reads or writes before it
  // returns. Throws Refusal where the election id is not the primary's.
  void as_primary(const std::string& role, const p4::v1::Uint128& election_id,
                  const std::function<void()>& write);
  // Runs `read` while nobody writes.
  void alone(const std::function<void()>& read);

 private:
  void tell(std::vector<Arbitration::Notice> notices);
  void check_primary(StreamId id) const;

  const StreamHandlers handlers_;
  std::mutex working_;  // taken before mutex_
  mutable std::mutex mutex_;
  Arbitration arbitration_;
  StreamId next_ = 1;
  std::map<StreamId, ClientStream*> streams_;
};

}  // namespace turntable::p4runtime_server
