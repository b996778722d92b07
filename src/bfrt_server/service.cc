#include "bfrt_server/service.h"

#include <nlohmann/json.hpp>

#include "bfrt_server/attributes.h"
#include "bfrt_server/failure.h"
#include "bfrt_server/read_call.h"
#include "bfrt_server/write_call.h"

namespace turntable::bfrt_server {
namespace {

constexpr std::size_t kMostClients = 256;

// Whatever goes wrong is the call's status, not the server's end.
template <typename Body>
grpc::Status status_of(const Body& body) noexcept {
  try {
    return body();
  } catch (const Failure& failure) {
    return failure.status();
  } catch (const CommandError& error) {
    return from_switch("softswitch", error).status();
  } catch (const std::exception& error) {
    return internal(error.what()).status();
  }
}

}  // namespace

Service::Service(const SwitchOptions& options)
    : sessions_(kMostClients),
      streams_(sessions_),
      keeper_(options, [this](const std::string& why) { end_streams(not_ready(why).status()); }),
      notifier_(keeper_, sessions_, streams_) {}

void Service::end_streams(const grpc::Status& status) {
  streams_.each([&](ClientStream& stream) { stream.finish(status); });
}

nlohmann::json Service::stats() const {
  nlohmann::json clients = nlohmann::json::array();
  for (const Sessions::Client& client : sessions_.clients()) {
    nlohmann::json program;
    if (client.program) program = *client.program;
    clients.push_back({{"client_id", client.id}, {"program", program}});
  }
  nlohmann::json program;
  try {
    program = keeper_.current()->program();
  } catch (const Failure&) {  // none
  }
  return {{"program", program}, {"clients", clients}};
}

void Service::check_program(const RunningSwitch& running, ClientId client, const std::string& named,
                            const bfrt_proto::TargetDevice& target) const {
  const bool bound = named.empty() && sessions_.is_subscribed(client);
  const std::string program = bound ? sessions_.program_of(client) : named;
  if (target.device_id() != 0)
    throw invalid("there is no device " + std::to_string(target.device_id()) + ", only 0;");
  if (program == running.program()) return;
  throw not_found("Unable to obtain BF_RT info for (" + program + "): the switch runs " +
                  running.program() + ";");
}

grpc::Status Service::Write(Context* context, const bfrt_proto::WriteRequest* request,
                            bfrt_proto::WriteResponse* response) {
  return status_of([&] {
    const auto running = keeper_.current();
    check_program(*running, request->client_id(), request->p4_name(), request->target());
    WriteCall call(*running, notifier_, CallOptions::of(*context));
    return call.run(*request, *response);
  });
}

grpc::Status Service::Read(Context* context, const bfrt_proto::ReadRequest* request,
                           grpc::ServerWriter<bfrt_proto::ReadResponse>* writer) {
  return status_of([&] {
    const auto running = keeper_.current();
    check_program(*running, request->client_id(), request->p4_name(), request->target());
    ReadCall call(*running, notifier_, CallOptions::of(*context));
    bfrt_proto::ReadResponse response;
    grpc::Status status = call.run(*request, response);
    if (status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED) writer->Write(response);
    return status;
  });
}

grpc::Status Service::SetForwardingPipelineConfig(
    Context*, const bfrt_proto::SetForwardingPipelineConfigRequest* request,
    bfrt_proto::SetForwardingPipelineConfigResponse*) {
  using Request = bfrt_proto::SetForwardingPipelineConfigRequest;
  return status_of([&] {
    const auto running = keeper_.ask_current();
    if (request->device_id() != 0) throw not_found("there is no device but 0;");
    if (request->action() != Request::BIND) {
      throw not_supported(
          "clients can only BIND to the program that runs; to run another one, start softswitch "
          "with "
          "it, or set it by p4runtime-server;");
    }
    if (!sessions_.is_subscribed(request->client_id()))
      throw not_ready("Unknown client. Client_id:" + std::to_string(request->client_id()) +
                      ", subscribe first;");
    if (request->config_size() != 1) throw invalid("Exactly one config message required.");
    const std::string& program = request->config(0).p4_name();
    sessions_.bind(request->client_id(), program, program == running->program());
    return grpc::Status::OK;
  });
}

grpc::Status Service::GetForwardingPipelineConfig(
    Context*, const bfrt_proto::GetForwardingPipelineConfigRequest* request,
    bfrt_proto::GetForwardingPipelineConfigResponse* response) {
  return status_of([&] {
    const auto running = keeper_.ask_current();
    if (request->device_id() != 0) throw not_found("there is no device but 0;");
    auto* config = response->add_config();
    config->set_p4_name(running->program());
    config->set_bfruntime_info(running->program_schema());
    response->mutable_non_p4_config()->set_bfruntime_info(running->fixed_schema());
    return grpc::Status::OK;
  });
}

grpc::ServerBidiReactor<bfrt_proto::StreamMessageRequest, bfrt_proto::StreamMessageResponse>*
Service::StreamChannel(grpc::CallbackServerContext*) {
  return streams_.open();
}

}  // namespace turntable::bfrt_server
