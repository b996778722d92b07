#include "bfrt_driver/switch_connection.h"

#include <algorithm>
#include <chrono>

#include "bfrt_driver/call_errors.h"

namespace turntable::bfrt_driver {
namespace {

using State = ConnectionState;
using Event = ConnectionEvent;
using std::chrono::milliseconds;

constexpr milliseconds kFirstBackoff{20};
constexpr milliseconds kMaxBackoff{500};
constexpr int kMaxReconnectMs = 500;
constexpr int kMaxMetadataBytes = 1 << 30;
constexpr std::size_t kMaxDifferences = 5;

std::shared_ptr<grpc::Channel> open_channel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // a table of 100,000 entries is one message
  arguments.SetMaxSendMessageSize(-1);
  // The errors of a batch come as metadata, one for each update; gRPC's own limit is 8 KiB.
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
  // Control traffic goes to the address given, whatever the environment says about proxies.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// gRPC's deadlines are of the system's clock; Deadline is of the monotonic one.
std::chrono::system_clock::time_point system_time(Deadline deadline) {
  if (deadline.is_never()) return std::chrono::system_clock::time_point::max();
  const auto left = deadline.time_point() - Deadline::Clock::now();
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(left);
}

}  // namespace

SwitchConnection::SwitchConnection(ConnectionOptions options, OnDigest take_digest)
    : options_(std::move(options)),
      take_digest_(std::move(take_digest)),
      channel_(open_channel(options_.address)),
      stub_(bfrt_proto::BfRuntime::NewStub(channel_)) {}

SwitchConnection::~SwitchConnection() {
  close();
}

ConnectionState SwitchConnection::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::uint64_t SwitchConnection::epoch() const {
  const std::lock_guard lock(mutex_);
  return epoch_;
}

std::string SwitchConnection::who() const {
  return "switch " + options_.address + ", client id " + std::to_string(options_.client_id);
}

ConnectionState SwitchConnection::take(Event event) {
  const std::lock_guard lock(mutex_);
  state_ = after(state_, event);
  changed_.notify_all();
  return state_;
}

SwitchConnection::Schema SwitchConnection::bound(Deadline deadline) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kBound) return schema_;
  }
  const std::lock_guard only_one(connecting_);
  backoff_ = kFirstBackoff;
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (state_ == State::kBound) return schema_;
    }
    step(deadline);
  }
}

void SwitchConnection::step(Deadline deadline) {
  switch (next_step(state())) {
    case ConnectionStep::kConnect:
      return connect(deadline);
    case ConnectionStep::kSubscribe:
      return subscribe(deadline);
    case ConnectionStep::kBind:
      return bind(deadline);
    case ConnectionStep::kClose:
      return close();
    case ConnectionStep::kServe:
      return;
  }
}

void SwitchConnection::connect(Deadline deadline) {
  if (!channel_->WaitForConnected(system_time(deadline))) {
    throw CommandError("unavailable", "switch " + options_.address +
                                          ": nobody answers there; expected bf_switchd or "
                                          "bfrt-server, and the address that it listens on");
  }
  take(Event::kChannelReady);
}

void SwitchConnection::subscribe(Deadline deadline) {
  {
    const std::lock_guard lock(mutex_);
    accepted_ = false;
    subscribe_status_ = grpc::Status();
  }
  stream_context_ = std::make_unique<grpc::ClientContext>();
  stream_ = stub_->StreamChannel(stream_context_.get());
  bfrt_proto::StreamMessageRequest request;
  request.set_client_id(options_.client_id);
  auto& subscription = *request.mutable_subscribe();
  subscription.set_device_id(options_.device_id);
  subscription.mutable_notifications()->set_enable_learn_notifications(true);
  stream_->Write(request);  // where it fails, the reader says so
  stream_reader_ = std::thread([this] { read_stream(); });

  std::unique_lock lock(mutex_);
  const auto answered = [&] { return accepted_ || state_ == State::kLost; };
  if (!changed_.wait_until(lock, deadline.time_point(), answered)) {
    lock.unlock();
    close();
    throw CommandError("timeout", who() + ": no answer to the subscription");
  }
  if (accepted_) {
    state_ = after(state_, Event::kSubscribed);
    return;
  }
  // The stream has ended. With this status another client has the id; else the switch has gone.
  const grpc::Status status = subscribe_status_;
  lock.unlock();
  close();
  const bool in_use = status.error_code() == grpc::StatusCode::INVALID_ARGUMENT ||
                      status.error_code() == grpc::StatusCode::ALREADY_EXISTS;
  wait_to_try_again(deadline, in_use ? "another client has this id (\"" + status.error_message() +
                                           "\"); end it, or choose another --client-id"
                                     : "the stream ended before the subscription (\"" +
                                           status.error_message() + "\")");
}

void SwitchConnection::bind(Deadline deadline) {
  const Schema schema = fetch_schema(deadline);
  if (!schema) return;  // lost
  try {
    check_program(*schema);
  } catch (const CommandError&) {
    take(Event::kOtherProgram);
    close();
    throw;
  }
  bfrt_proto::SetForwardingPipelineConfigRequest request;
  request.set_device_id(options_.device_id);
  request.set_client_id(options_.client_id);
  request.set_action(bfrt_proto::SetForwardingPipelineConfigRequest::BIND);
  request.add_config()->set_p4_name(options_.program);
  grpc::ClientContext context;
  context.set_deadline(system_time(deadline));
  bfrt_proto::SetForwardingPipelineConfigResponse response;
  const grpc::Status status = stub_->SetForwardingPipelineConfig(&context, request, &response);
  if (status.ok()) {
    const std::lock_guard lock(mutex_);
    state_ = after(state_, Event::kBound);
    if (state_ != State::kBound) return;
    schema_ = schema;
    ++epoch_;
    changed_.notify_all();
    return;
  }
  switch (status.error_code()) {
    case grpc::StatusCode::ALREADY_EXISTS:
      take(Event::kProgramOwned);
      return wait_to_try_again(deadline, "another client has program " + options_.program + " (\"" +
                                             status.error_message() +
                                             "\"); end it, or wait until the switch has noticed "
                                             "that it is gone");
    case grpc::StatusCode::UNAVAILABLE:
      if (lost_within(kFirstBackoff)) return;
      return wait_to_try_again(deadline, "the switch is busy (\"" + status.error_message() + "\")");
    default:
      close();
      throw error_of(status.error_code(), who() + ", bind to program " + options_.program,
                     status.error_message());
  }
}

// nullptr: the connection was lost meanwhile.
SwitchConnection::Schema SwitchConnection::fetch_schema(Deadline deadline) {
  while (true) {
    bfrt_proto::GetForwardingPipelineConfigRequest request;
    request.set_device_id(options_.device_id);
    request.set_client_id(options_.client_id);
    grpc::ClientContext context;
    context.set_deadline(system_time(deadline));
    bfrt_proto::GetForwardingPipelineConfigResponse response;
    const grpc::Status status = stub_->GetForwardingPipelineConfig(&context, request, &response);
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
      if (lost_within(kFirstBackoff)) return nullptr;
      wait_to_try_again(deadline, "the switch is busy (\"" + status.error_message() + "\")");
      continue;
    }
    if (!status.ok()) {
      close();
      throw error_of(status.error_code(), who() + ", what program it runs", status.error_message());
    }
    std::string names;
    for (const auto& config : response.config()) {
      if (config.p4_name() == options_.program) {
        return std::make_shared<SwitchSchema>(config.p4_name(), config.bfruntime_info(),
                                              response.non_p4_config().bfruntime_info());
      }
      names += (names.empty() ? "" : ", ") + config.p4_name();
    }
    take(Event::kOtherProgram);
    close();
    throw CommandError("wrong_state", "switch " + options_.address + " runs " +
                                          (names.empty() ? "no program" : "program " + names) +
                                          "; expected " + options_.program +
                                          ": start the switch with it, or this driver with " +
                                          "--program " + (names.empty() ? "NAME" : names));
  }
}

void SwitchConnection::check_program(const SwitchSchema& schema) const {
  if (!options_.expected) return;
  const auto lines = differences(schema.of_program(), *options_.expected, kMaxDifferences);
  if (lines.empty()) return;
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  throw CommandError("wrong_state",
                     "switch " + options_.address + " runs another version of " + options_.program +
                         ": " + text + ". Start the switch with the program as it is compiled now");
}

void SwitchConnection::close() {
  if (stream_context_) stream_context_->TryCancel();
  if (stream_reader_.joinable()) stream_reader_.join();
  stream_.reset();
  stream_context_.reset();
  take(Event::kClosed);
}

// Ends with the stream, which close() cancels.
void SwitchConnection::read_stream() {
  bfrt_proto::StreamMessageResponse message;
  while (stream_->Read(&message)) take_message(message);
  const grpc::Status status = stream_->Finish();
  const std::lock_guard lock(mutex_);
  subscribe_status_ = status;
  last_failure_ = status.error_message();
  state_ = after(state_, Event::kStreamEnded);
  changed_.notify_all();
}

void SwitchConnection::take_message(const bfrt_proto::StreamMessageResponse& message) {
  using Message = bfrt_proto::StreamMessageResponse;
  Schema schema;
  {
    const std::lock_guard lock(mutex_);
    if (message.update_case() == Message::kSubscribe && message.subscribe().status().code() == 0)
      accepted_ = true;
    if (message.update_case() == Message::kSetForwardingPipelineConfigResponse)
      state_ = after(state_, Event::kProgramChanged);
    changed_.notify_all();
    schema = schema_;
  }
  // Digests are not acknowledged: an SDE does that by itself, and ends the stream of who tries.
  if (message.update_case() == Message::kDigest && schema && take_digest_)
    take_digest_(*schema, message.digest());
}

// A switch that does not answer may have been cut off, which gRPC would not notice for minutes: the
// next command begins with a new connection. Unless that is being made already.
void SwitchConnection::give_up(std::uint64_t epoch_of_call) {
  const std::unique_lock only_one(connecting_, std::try_to_lock);
  if (only_one.owns_lock() && epoch() == epoch_of_call) close();
}

bool SwitchConnection::lost_within(milliseconds wait) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(
      lock, wait, [&] { return state_ == State::kLost || state_ == State::kDisconnected; });
}

void SwitchConnection::wait_to_try_again(Deadline deadline, const std::string& why) {
  const Deadline next = Deadline::after(backoff_);
  backoff_ = std::min(backoff_ * 2, kMaxBackoff);
  if (deadline.min(next).time_point() == deadline.time_point())
    throw CommandError("unavailable", who() + ": " + why);
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, next.time_point(), [&] { return state_ == State::kLost; });
}

// Runs `call` on a bound connection until it is answered with something else than "busy".
template <class Call>
grpc::Status SwitchConnection::call_while_busy(Deadline deadline, const Call& call,
                                               bool again_when_lost) {
  milliseconds backoff = kFirstBackoff;
  while (true) {
    const std::uint64_t before = (bound(deadline), epoch());
    grpc::ClientContext context;
    context.set_deadline(system_time(deadline));
    grpc::Status status = call(context);
    if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
      give_up(before);
      throw CommandError("timeout", who() + ": no answer before the deadline; is it alive?");
    }
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE) return status;
    // A switch that is busy says so and goes on; one that has gone takes the stream with it.
    const bool lost = lost_within(backoff) || epoch() != before;
    if (lost && !again_when_lost) {
      throw CommandError("unavailable",
                         who() + ": the connection was lost during a write (\"" +
                             status.error_message() +
                             "\"); whether it was applied is not known: read, or begin anew");
    }
    if (!lost && deadline.passed()) return status;
    backoff = std::min(backoff * 2, kMaxBackoff);
  }
}

void SwitchConnection::write(bfrt_proto::WriteRequest& request, Deadline deadline) {
  request.set_client_id(options_.client_id);
  bfrt_proto::WriteResponse response;
  const grpc::Status status = call_while_busy(
      deadline,
      [&](grpc::ClientContext& context) {
        response.Clear();
        return stub_->Write(&context, request, &response);
      },
      /*again_when_lost=*/false);
  if (!status.ok()) throw_batch_error(status, "write to switch " + options_.address);
}

std::vector<bfrt_proto::Entity> SwitchConnection::read(bfrt_proto::ReadRequest request,
                                                       Deadline deadline, Missing missing) {
  request.set_client_id(options_.client_id);
  std::vector<bfrt_proto::Entity> entities;
  const grpc::Status status = call_while_busy(
      deadline,
      [&](grpc::ClientContext& context) {
        entities.clear();
        const auto reader = stub_->Read(&context, request);
        bfrt_proto::ReadResponse response;
        while (reader->Read(&response)) {
          for (auto& entity : *response.mutable_entities()) entities.push_back(std::move(entity));
        }
        return reader->Finish();
      },
      /*again_when_lost=*/true);
  if (status.ok()) return entities;
  if (missing == Missing::kIsLeftOut) {
    const auto errors = details_of(status);
    const bool only_missing =
        !errors.empty() && std::all_of(errors.begin(), errors.end(), [](const auto& error) {
          return error.canonical_code() == grpc::StatusCode::OK ||
                 error.canonical_code() == grpc::StatusCode::NOT_FOUND;
        });
    if (only_missing || status.error_code() == grpc::StatusCode::NOT_FOUND) return entities;
  }
  throw_batch_error(status, "read from switch " + options_.address);
}

}  // namespace turntable::bfrt_driver
