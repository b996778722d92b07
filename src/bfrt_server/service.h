// The service bfrt_proto.BfRuntime.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bfrt/bfruntime.grpc.pb.h"
#include "bfrt_server/call_options.h"
#include "bfrt_server/client_streams.h"
#include "bfrt_server/notifier.h"
#include "bfrt_server/sessions.h"
#include "bfrt_server/switch_keeper.h"

namespace turntable::bfrt_server {

class WriteBatch;

class Service final : public bfrt_proto::BfRuntime::WithCallbackMethod_StreamChannel<
                          bfrt_proto::BfRuntime::Service> {
 public:
  explicit Service(const SwitchOptions& options);

  // All streams end with this status.
  void end_streams(const grpc::Status& status);

  nlohmann::json stats() const;

 private:
  using Context = grpc::ServerContext;

  grpc::Status Write(Context* context, const bfrt_proto::WriteRequest* request,
                     bfrt_proto::WriteResponse* response) override;
  grpc::Status Read(Context* context, const bfrt_proto::ReadRequest* request,
                    grpc::ServerWriter<bfrt_proto::ReadResponse>* writer) override;
  grpc::Status SetForwardingPipelineConfig(
      Context* context, const bfrt_proto::SetForwardingPipelineConfigRequest* request,
      bfrt_proto::SetForwardingPipelineConfigResponse* response) override;
  grpc::Status GetForwardingPipelineConfig(
      Context* context, const bfrt_proto::GetForwardingPipelineConfigRequest* request,
      bfrt_proto::GetForwardingPipelineConfigResponse* response) override;
  grpc::ServerBidiReactor<bfrt_proto::StreamMessageRequest, bfrt_proto::StreamMessageResponse>*
  StreamChannel(grpc::CallbackServerContext* context) override;

  // That the call is about the program that runs: the one the client is bound to, or that it names.
  // Throws Failure.
  void check_program(const RunningSwitch& running, ClientId client, const std::string& named,
                     const bfrt_proto::TargetDevice& target) const;

  Sessions sessions_;
  ClientStreams streams_;
  SwitchKeeper keeper_;
  Notifier notifier_;
};

}  // namespace turntable::bfrt_server
