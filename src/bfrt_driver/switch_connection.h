// One client's connection to a switch that speaks BF Runtime: bf_switchd of an SDE, or bfrt-server
// beside softswitch. It is made when it is needed, checked each time it is made, and made again
// after it is lost (connection_state.h has the states and their order).
//
// The protocol has no authentication: whoever reaches the port owns the switch. So the address is
// one of the control network or of loopback.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "bfrt/bfruntime.grpc.pb.h"
#include "bfrt_driver/connection_state.h"
#include "bfrt_driver/switch_schema.h"
#include "common/command_error.h"
#include "common/deadline.h"

namespace turntable::bfrt_driver {

struct ConnectionOptions {
  std::string address;  // "10.0.0.1:50052"
  std::uint32_t client_id = 1;
  std::uint32_t device_id = 0;
  std::string program;                     // as the switch names it
  std::optional<nlohmann::json> expected;  // bfrt.json of the program as it was compiled
  double call_deadline_s = 8;              // of a command: all of its calls and what they wait for
};

// Thread-safe.
class SwitchConnection {
 public:
  using OnDigest = std::function<void(const SwitchSchema&, const bfrt_proto::DigestList&)>;
  using Schema = std::shared_ptr<const SwitchSchema>;

  // `take_digest` is called on the thread that reads the stream; it has to outlive this.
  explicit SwitchConnection(ConnectionOptions options, OnDigest take_digest = nullptr);
  ~SwitchConnection();
  SwitchConnection(const SwitchConnection&) = delete;
  SwitchConnection& operator=(const SwitchConnection&) = delete;

  // Connects, subscribes, checks the program and binds, where that is not so yet. A client id or
  // program that another client holds is waited for. Throws CommandError: unavailable (nobody
  // answers, or another client is in the way until the deadline; it is named) or wrong_state
  // (another program, or another version of it).
  Schema bound(Deadline deadline);

  // A batch that is applied wholly or not at all. Throws UpdateError of the first update
  // that failed, or another CommandError. While the switch says that it is busy (UNAVAILABLE) it is
  // asked again; when the connection is lost the batch is not sent again, as nobody knows whether
  // it was applied. The request gets this client's id.
  void write(bfrt_proto::WriteRequest& request, Deadline deadline);
  void write(bfrt_proto::WriteRequest&& request, Deadline deadline) { write(request, deadline); }

  // As write(); a read is sent again on a new connection. `missing`: entities that are not found
  // are left out of the answer rather than an error.
  enum class Missing : std::uint8_t { kIsAnError, kIsLeftOut };
  std::vector<bfrt_proto::Entity> read(bfrt_proto::ReadRequest request, Deadline deadline,
                                       Missing missing = Missing::kIsAnError);

  Deadline call_deadline() const { return Deadline::after_seconds(options_.call_deadline_s); }
  const ConnectionOptions& options() const { return options_; }
  ConnectionState state() const;
  // How often it was bound.
  std::uint64_t epoch() const;

 private:
  using Stream =
      grpc::ClientReaderWriter<bfrt_proto::StreamMessageRequest, bfrt_proto::StreamMessageResponse>;

  std::string who() const;
  ConnectionState take(ConnectionEvent event);
  void step(Deadline deadline);
  void connect(Deadline deadline);
  void subscribe(Deadline deadline);
  void bind(Deadline deadline);
  void close();
  void read_stream();
  void take_message(const bfrt_proto::StreamMessageResponse& message);
  Schema fetch_schema(Deadline deadline);
  void check_program(const SwitchSchema& schema) const;
  void give_up(std::uint64_t epoch_of_call);
  bool lost_within(std::chrono::milliseconds wait);
  void wait_to_try_again(Deadline deadline, const std::string& why);
  template <class Call>
  grpc::Status call_while_busy(Deadline deadline, const Call& call, bool again_when_lost);

  const ConnectionOptions options_;
  const OnDigest take_digest_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<bfrt_proto::BfRuntime::Stub> stub_;

  // Held on the way to `bound`, so that only one thread goes it.
  std::mutex connecting_;
  std::unique_ptr<grpc::ClientContext> stream_context_;
  std::unique_ptr<Stream> stream_;
  std::thread stream_reader_;
  std::chrono::milliseconds backoff_{0};

  // Short, and never while something is waited for.
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  ConnectionState state_ = ConnectionState::kDisconnected;
  std::uint64_t epoch_ = 0;
  Schema schema_;
  bool accepted_ = false;  // our client id, on this stream
  grpc::Status subscribe_status_;
  std::string last_failure_;  // why the stream has ended
};

}  // namespace turntable::bfrt_driver
