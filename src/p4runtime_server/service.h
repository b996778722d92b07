// The service p4.v1.P4Runtime.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "bfrt_server/switch_follower.h"
#include "p4/v1/p4runtime.grpc.pb.h"
#include "p4runtime_server/client_streams.h"
#include "p4runtime_server/cpu_port.h"
#include "p4runtime_server/notifications.h"
#include "p4runtime_server/pipeline_config.h"
#include "p4runtime_server/running_program.h"

namespace turntable::p4runtime_server {

class Service final
    : public p4::v1::P4Runtime::WithCallbackMethod_StreamChannel<p4::v1::P4Runtime::Service> {
 public:
  // `cpu_interface`: the control plane's end of the switch's CPU port; nothing: no packets come
  // from it and go to it. Throws std::runtime_error where there is no such interface. `programs`:
  // the directory of those that clients may set; empty: there are none.
  Service(const SwitchAddress& address, const std::optional<std::string>& cpu_interface,
          std::filesystem::path programs, SourceCompilerOptions compiler);

  // Calls and streams that are under way end.
  void end();

  nlohmann::json stats() const;

 private:
  using Context = grpc::ServerContext;

  grpc::Status Write(Context* context, const p4::v1::WriteRequest* request,
                     p4::v1::WriteResponse* response) override;
  grpc::Status Read(Context* context, const p4::v1::ReadRequest* request,
                    grpc::ServerWriter<p4::v1::ReadResponse>* writer) override;
  grpc::Status SetForwardingPipelineConfig(
      Context* context, const p4::v1::SetForwardingPipelineConfigRequest* request,
      p4::v1::SetForwardingPipelineConfigResponse* response) override;
  grpc::Status GetForwardingPipelineConfig(
      Context* context, const p4::v1::GetForwardingPipelineConfigRequest* request,
      p4::v1::GetForwardingPipelineConfigResponse* response) override;
  grpc::Status Capabilities(Context* context, const p4::v1::CapabilitiesRequest* request,
                            p4::v1::CapabilitiesResponse* response) override;
  grpc::ServerBidiReactor<p4::v1::StreamMessageRequest, p4::v1::StreamMessageResponse>*
  StreamChannel(grpc::CallbackServerContext* context) override;

  StreamHandlers stream_handlers();
  void packet_in(std::string_view frame);
  // Others read and write meanwhile. nullptr: the configuration has no P4 source, or none is
  // compiled here. Throws Refusal.
  std::unique_ptr<CompiledSource> compile_source(
      Context& context, const p4::v1::SetForwardingPipelineConfigRequest& request);
  // All streams end with this status.
  void end_streams(const grpc::Status& status) { streams_.finish_all(status); }

  // Throws Refusal UNAVAILABLE, which says why, where softswitch does not run.
  std::shared_ptr<RunningProgram> current() const;
  std::shared_ptr<RunningProgram> current_or_null() const;
  void appeared();
  // The one that softswitch runs now is current().
  std::shared_ptr<RunningProgram> take_program();
  // Whether softswitch was given another program, past this server.
  void go_on();
  void ended();

  SwitchAddress address_;
  ClientStreams streams_;
  PipelineConfig pipeline_config_;  // of whom streams_ lets write or read alone
  SourceCompiler compiler_;
  mutable std::mutex mutex_;
  std::shared_ptr<RunningProgram> current_;
  std::string why_not_ = "it was not looked for yet";
  std::atomic<int> reads_{0};    // calls under way
  std::atomic<int> answers_{0};  // to Read, that are being sent
  // Last: their threads use the others.
  Notifications notifications_;
  std::optional<CpuPort> cpu_port_;
  bfrt_server::SwitchFollower follower_;
};

}  // namespace turntable::p4runtime_server
