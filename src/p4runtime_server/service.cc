#include "p4runtime_server/service.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "p4runtime_server/calls.h"
#include "p4runtime_server/controller_headers.h"
#include "p4runtime_server/pipeline_config.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

constexpr const char* kApiVersion = "1.4.1";

// Without the path of its socket.
constexpr const char* kNoAnswer = "softswitch does not answer; is it running?";

// Each holds its answer, and one of the server's threads, until its client has taken it.
constexpr int kMostAnswers = 32;

// A call is counted as long as the object lives.
class Counted {
 public:
  explicit Counted(std::atomic<int>& calls) : calls_(calls), number_(++calls) {}
  ~Counted() { --calls_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  int number() const { return number_; }  // with this one, when it began

 private:
  std::atomic<int>& calls_;
  int number_;
};

// Throws Refusal.
void check_answers(const Counted& answer) {
  if (answer.number() <= kMostAnswers) return;
  throw exhausted(std::to_string(kMostAnswers) +
                  " answers to Read wait for their clients to take them; try again");
}

// Of a fault here or in softswitch: its text may have paths of the installation.
grpc::Status internal_error(const std::string& text) {
  std::fprintf(stderr, "p4runtime-server: %s\n", text.c_str());
  return {grpc::StatusCode::INTERNAL,
          "a fault of the switch's own; the reason is on p4runtime-server's standard error"};
}

// Whatever goes wrong is the call's status, not the server's end.
template <typename Body>
grpc::Status status_of(const Body& body) noexcept {
  try {
    return body();
  } catch (const Refusal& refusal) {
    return refusal.status();
  } catch (const CommandError& error) {
    const Refusal refusal = from_switch(error);
    if (refusal.code() == grpc::StatusCode::INTERNAL) return internal_error(error.what());
    if (error.code() == "unavailable") return {refusal.code(), kNoAnswer};
    return refusal.status();
  } catch (const std::exception& error) {
    return internal_error(error.what());
  }
}

void check_device(std::uint64_t id) {
  if (id != kDeviceId) {
    throw not_found("there is no device " + std::to_string(id) + ", only " +
                    std::to_string(kDeviceId));
  }
}

}  // namespace

Service::Service(const SwitchAddress& address, const std::optional<std::string>& cpu_interface,
                 std::filesystem::path programs, SourceCompilerOptions compiler)
    : address_(address),
      streams_(stream_handlers()),
      pipeline_config_(std::move(programs)),
      compiler_(std::move(compiler)),
      notifications_(streams_, [this] { return current_or_null(); }),
      follower_(address.directory, address.name,
                {[this] { appeared(); }, [this] { go_on(); }, [this] { ended(); },
                 [this](const std::string& why) {
                   std::fprintf(stderr, "p4runtime-server: no switch: %s\n", why.c_str());
                   const std::lock_guard lock(mutex_);
                   why_not_ = kNoAnswer;
                 }}) {
  if (cpu_interface)
    cpu_port_.emplace(*cpu_interface, [this](std::string_view frame) { packet_in(frame); });
}

void Service::end() {
  compiler_.stop();
  end_streams({grpc::StatusCode::UNAVAILABLE, "p4runtime-server ends"});
}

StreamHandlers Service::stream_handlers() {
  return {[this](const p4::v1::PacketOut& packet) {
            if (!cpu_port_) {
              throw not_supported(
                  "the switch's CPU port is not known; start p4runtime-server with "
                  "--cpu-interface");
            }
            cpu_port_->send(frame_of(current()->info().document(), packet));
          },
          [this](const p4::v1::DigestListAck& acknowledgement) {
            const auto program = current();
            try {
              program->info().digest(acknowledgement.digest_id());
            } catch (const Refusal& refusal) {
              throw invalid(refusal.what());
            }
            program->digests().acknowledge(acknowledgement);
          }};
}

void Service::packet_in(std::string_view frame) {
  const auto program = current_or_null();
  if (program == nullptr) return;
  p4::v1::StreamMessageResponse message;
  try {
    *message.mutable_packet() = packet_of(program->info().document(), frame);
  } catch (const Refusal&) {  // nothing of the program's
    return;
  }
  streams_.send_to_primaries(message);
}

void Service::appeared() {
  streams_.alone([&] {
    pipeline_config_.forget();
    take_program();
  });
}

std::shared_ptr<RunningProgram> Service::take_program() {
  auto running = std::make_shared<RunningProgram>(address_);
  std::fprintf(stderr, "p4runtime-server: serves program %s\n", running->name().c_str());
  const std::lock_guard lock(mutex_);
  current_ = running;
  return running;
}

void Service::go_on() {
  std::string program;
  streams_.alone([&] {
    const auto before = current_or_null();
    if (before == nullptr || before->link().has_program()) return;
    pipeline_config_.forget();
    program = take_program()->name();
  });
  if (program.empty()) return;
  end_streams({grpc::StatusCode::UNAVAILABLE,
               "softswitch was given program " + program + ", and not by this server"});
}

void Service::ended() {
  {
    const std::lock_guard lock(mutex_);
    current_ = nullptr;
    why_not_ = "softswitch ended";
  }
  end_streams(
      {grpc::StatusCode::UNAVAILABLE, "softswitch ended, and with it all that was written"});
}

std::shared_ptr<RunningProgram> Service::current() const {
  const std::lock_guard lock(mutex_);
  if (current_ != nullptr) return current_;
  throw Refusal(grpc::StatusCode::UNAVAILABLE,
                "the switch behind this server does not run: " + why_not_);
}

std::shared_ptr<RunningProgram> Service::current_or_null() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

nlohmann::json Service::stats() const {
  const auto running = current_or_null();
  nlohmann::json program;
  if (running != nullptr) program = running->name();
  return {{"program", program}, {"clients", streams_.clients()}, {"reads", reads_.load()}};
}

grpc::Status Service::Write(Context*, const p4::v1::WriteRequest* request, p4::v1::WriteResponse*) {
  return status_of([&] {
    check_device(request->device_id());
    grpc::Status status;
    streams_.as_primary(request->role(), request->election_id(), [&] {
      pipeline_config_.check_committed();
      status = write(*current(), *request);
    });
    notifications_.wake();
    return status;
  });
}

grpc::Status Service::Read(Context* context, const p4::v1::ReadRequest* request,
                           grpc::ServerWriter<p4::v1::ReadResponse>* writer) {
  return status_of([&] {
    check_device(request->device_id());
    const Counted counted(reads_);
    ReadAnswer answer;
    streams_.alone([&] {
      pipeline_config_.check_committed();
      answer = read(*current(), *request, [&] { return context->IsCancelled(); });
    });
    const Counted answering(answers_);
    check_answers(answering);
    for (const p4::v1::ReadResponse& response : answer.messages) {
      if (!writer->Write(response)) break;  // the client has left
    }
    return answer.status;
  });
}

std::unique_ptr<CompiledSource> Service::compile_source(
    Context& context, const p4::v1::SetForwardingPipelineConfigRequest& request) {
  if (!compiler_.is_there()) return nullptr;
  std::optional<std::string> source;
  streams_.as_primary(request.role(), request.election_id(), [&] {
    compiler_.check_idle();
    source = pipeline_config_.source_of(request);
  });
  if (!source) return nullptr;
  return compiler_.compile(*source, [&] { return context.IsCancelled(); });
}

grpc::Status Service::SetForwardingPipelineConfig(
    Context* context, const p4::v1::SetForwardingPipelineConfigRequest* request,
    p4::v1::SetForwardingPipelineConfigResponse*) {
  return status_of([&] {
    check_device(request->device_id());
    const auto compiled = compile_source(*context, *request);
    streams_.as_primary(request->role(), request->election_id(), [&] {
      pipeline_config_.set(*current(), *request, compiled.get(), [this] { return take_program(); });
    });
    return grpc::Status::OK;
  });
}

grpc::Status Service::GetForwardingPipelineConfig(
    Context*, const p4::v1::GetForwardingPipelineConfigRequest* request,
    p4::v1::GetForwardingPipelineConfigResponse* response) {
  return status_of([&] {
    check_device(request->device_id());
    get_pipeline_config(*current(), *request, *response->mutable_config());
    return grpc::Status::OK;
  });
}

grpc::Status Service::Capabilities(Context*, const p4::v1::CapabilitiesRequest*,
                                   p4::v1::CapabilitiesResponse* response) {
  response->set_p4runtime_api_version(kApiVersion);
  return grpc::Status::OK;
}

grpc::ServerBidiReactor<p4::v1::StreamMessageRequest, p4::v1::StreamMessageResponse>*
Service::StreamChannel(grpc::CallbackServerContext*) {
  return streams_.open();
}

}  // namespace turntable::p4runtime_server
