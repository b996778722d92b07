#include "p4runtime_server/service.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "p4runtime_server/calls.h"
#include "p4runtime_server/pipeline_config.h"
#include "p4runtime_server/refusal.h"

namespace turntable::p4runtime_server {
namespace {

constexpr const char* kApiVersion = "1.4.1";

// Whatever goes wrong is the call's status, not the server's end.
template <typename Body>
grpc::Status status_of(const Body& body) noexcept {
  try {
    return body();
  } catch (const Refusal& refusal) {
    return refusal.status();
  } catch (const CommandError& error) {
    return from_switch(error).status();
  } catch (const std::exception& error) {
    return {grpc::StatusCode::INTERNAL, error.what()};
  }
}

void check_device(std::uint64_t id) {
  if (id != kDeviceId) {
    throw not_found("there is no device " + std::to_string(id) + ", only " +
                    std::to_string(kDeviceId));
  }
}

}  // namespace

Service::Service(const SwitchAddress& address)
    : address_(address),
      follower_(address.directory, address.name,
                {[this] { appeared(); }, [this] { ended(); },
                 [this](const std::string& why) {
                   std::fprintf(stderr, "p4runtime-server: no switch: %s\n", why.c_str());
                   const std::lock_guard lock(mutex_);
                   why_not_ = why;
                 }}) {}

void Service::appeared() {
  auto running = std::make_shared<RunningProgram>(address_);
  std::fprintf(stderr, "p4runtime-server: serves program %s\n", running->name().c_str());
  const std::lock_guard lock(mutex_);
  current_ = std::move(running);
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

nlohmann::json Service::stats() const {
  nlohmann::json program;
  try {
    program = current()->name();
  } catch (const Refusal&) {  // none
  }
  return {{"program", program}, {"clients", streams_.clients()}};
}

grpc::Status Service::Write(Context*, const p4::v1::WriteRequest* request, p4::v1::WriteResponse*) {
  return status_of([&] {
    check_device(request->device_id());
    grpc::Status status;
    streams_.as_primary(request->role(), request->election_id(),
                        [&] { status = write(*current(), *request); });
    return status;
  });
}

grpc::Status Service::Read(Context*, const p4::v1::ReadRequest* request,
                           grpc::ServerWriter<p4::v1::ReadResponse>* writer) {
  return status_of([&] {
    check_device(request->device_id());
    ReadAnswer answer;
    streams_.alone([&] { answer = read(*current(), *request); });
    for (const p4::v1::ReadResponse& response : answer.messages) writer->Write(response);
    return answer.status;
  });
}

grpc::Status Service::SetForwardingPipelineConfig(
    Context*, const p4::v1::SetForwardingPipelineConfigRequest* request,
    p4::v1::SetForwardingPipelineConfigResponse*) {
  return status_of([&] {
    check_device(request->device_id());
    streams_.as_primary(request->role(), request->election_id(),
                        [&] { set_pipeline_config(*current(), *request); });
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
